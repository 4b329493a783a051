"""How sure: bootstrap intervals, paired comparison with tie groups, the winner corrected, effects of axes, sizing. Everything is seeded."""
