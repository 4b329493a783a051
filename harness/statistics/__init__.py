"""How sure: bootstrap intervals, paired comparison with tie groups, sizing of the question set. Everything is seeded."""
