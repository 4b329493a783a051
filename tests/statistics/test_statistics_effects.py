"""What axes do: against sums of squares from ordinary least squares, statsmodels where it is installed, and known truths."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from harness.statistics.bootstrap import interval
from harness.statistics.effects import REST, effects, levels
from harness.statistics.resampling import Resampler


def grid(*sizes, names=("strategy", "size", "overlap")):
    return pd.DataFrame(list(itertools.product(*map(range, sizes))), columns=list(names[: len(sizes)]))


def exact(means, questions=40):
    """Cells whose every question has the mean: no chance at all."""
    return np.repeat(np.asarray(means, dtype=float)[:, None], questions, axis=1)


def alone(n, resamples=300):
    return Resampler((np.arange(n),), resamples, 1)


def residual(columns, means):
    fitted = columns @ np.linalg.lstsq(columns, means, rcond=None)[0]
    return float(((means - fitted) ** 2).sum())


def type_two(axes, means):
    """Shares by refitting with and without each term, indicators written out one by one."""
    single = {name: np.stack([axes[name] == value for value in axes[name].unique()], axis=1).astype(float) for name in axes}
    terms = {(name,): columns for name, columns in single.items()}
    for one, two in itertools.combinations(single, 2):
        terms[one, two] = np.stack([a * b for a in single[one].T for b in single[two].T], axis=1)
    whole, total = np.ones((len(axes), 1)), float(((means - means.mean()) ** 2).sum())
    shares = {}
    for term in terms:
        without = np.hstack([whole, *(columns for name, columns in terms.items() if not set(term) <= set(name))])
        shares[" x ".join(term)] = (residual(without, means) - residual(np.hstack([without, terms[term]]), means)) / total
    shares[REST] = residual(np.hstack([whole, *terms.values()]), means) / total
    return shares


@pytest.mark.parametrize("dropped", [[], [3, 7, 20]])
def test_shares_agree_with_refitted_least_squares(dropped):
    axes = grid(3, 4, 2).drop(dropped)
    means = np.random.default_rng(3).random(len(axes))
    found = effects(axes, exact(means), alone(40))
    assert {term.name: term.share for term in found.terms} == pytest.approx(type_two(axes, means))
    assert found.spread == pytest.approx(means.std())
    assert found.chance == pytest.approx(0)
    if not dropped:
        assert found.shared == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("dropped", [[], [3, 20]])
def test_shares_agree_with_statsmodels(dropped):
    formula = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is not installed")
    anova = pytest.importorskip("statsmodels.stats.anova")
    axes = grid(3, 4, 2).drop(dropped)
    means = np.random.default_rng(4).random(len(axes))
    table = anova.anova_lm(formula.ols("y ~ (C(strategy) + C(size) + C(overlap)) ** 2", axes.assign(y=means)).fit(), typ=2)
    theirs = (table["sum_sq"] / ((means - means.mean()) ** 2).sum()).to_numpy()
    assert [term.share for term in effects(axes, exact(means), alone(40)).terms] == pytest.approx(theirs)


def test_an_axis_that_does_everything_and_one_that_does_nothing():
    axes = grid(3, 4)
    found = {term.name: term for term in effects(axes, exact(0.1 * axes["size"]), alone(40)).terms}
    assert found["size"].share == pytest.approx(1)
    assert [found[name].share for name in ("strategy", "strategy x size")] == pytest.approx([0, 0])
    crossed = np.where(axes["strategy"].eq(0) & axes["size"].isin([0, 1]) | axes["strategy"].eq(1) & axes["size"].isin([2, 3]), 1.0, 0.0)
    crossed[axes["strategy"] == 2] = 0.5
    assert {term.name: round(term.share, 9) for term in effects(axes, exact(crossed), alone(40)).terms}["strategy x size"] == 1


def test_chance_is_not_credited_to_axes():
    """Size moves the mean, strategy does nothing: as seen, chance gives strategy a share; the estimate's median is far below it."""
    random, axes = np.random.default_rng(8), grid(4, 3)
    truth = 0.6 - 0.08 * axes["size"].to_numpy()
    shares, seen, chance, inside = [], [], [], []
    for _ in range(60):
        cells = (random.random((12, 150)) < truth[:, None]).astype(float)
        found = effects(axes, cells, alone(150))
        term = found.terms[1]
        assert term.name == "size"
        shares.append(term.share)
        inside.append(term.low <= 1 <= term.high)
        seen.append(type_two(axes, cells.mean(axis=1))["size"])
        chance.append(found.chance)
    assert np.mean(seen) < 0.8
    assert np.mean(shares) > 0.9
    assert np.mean(inside) > 0.9
    assert np.mean(chance) == pytest.approx(0.25, abs=0.1)


def test_where_all_may_be_chance_nothing_is_divided():
    cells = np.tile(np.random.default_rng(1).random(30), (6, 1))
    found = effects(grid(2, 3), cells, alone(30))
    assert np.isnan([term.share for term in found.terms]).all()
    assert found.spread == 0


def test_axes_that_vary_together_are_not_told_apart():
    axes = grid(2, 3).assign(embedder=lambda frame: frame["size"] * 10, unit="tokens")
    found = {term.name: term for term in effects(axes, exact(np.random.default_rng(2).random(6)), alone(40)).terms}
    assert np.isnan([found["size"].share, found["embedder"].share]).all()
    assert found["strategy"].share > 0
    assert not any("unit" in name for name in found)
    told = {each.axis: each.value for each in levels(axes, exact(np.ones(6)), alone(40))}
    assert np.isnan([told["size"], told["embedder"]]).all()
    assert told["strategy"] == pytest.approx(1)


def test_nothing_varied_nothing_said():
    same = pd.DataFrame({"size": [64, 64]})
    assert effects(same, np.ones((2, 9)), alone(9)).terms == ()
    assert levels(same, np.ones((2, 9)), alone(9)) == ()


def test_levels_of_a_full_grid_are_plain_means_with_their_intervals():
    axes = pd.DataFrame({"size": [64, 64, 128, 128, None, None], "overlap": ["0", "10%"] * 3})
    cells = np.random.default_rng(9).random((6, 50))
    found = {(each.axis, each.level): each for each in levels(axes, cells, alone(50))}
    small = cells[:2].mean(axis=0)
    assert [level for axis, level in found if axis == "size"] == ["64", "128", "none"]
    one = found["size", "64"]
    assert one.value == pytest.approx(small.mean())
    assert (one.low, one.high) == pytest.approx(interval(small, alone(50)))
    assert one.cells == 2
    assert found["overlap", "10%"].value == pytest.approx(cells[1::2].mean())
    assert len(found) == 5


def test_levels_with_missing_cells_are_not_mixed_up():
    """Strategy 1 was only run at the good sizes. Its plain mean flatters it; truly it is .1 worse."""
    axes = grid(2, 4).drop([4, 5])
    truth = 0.3 + 0.1 * axes["size"] - 0.1 * axes["strategy"]
    found = {(each.axis, each.level): each for each in levels(axes, exact(truth), alone(40))}
    assert truth[axes["strategy"] == 1].mean() > truth[axes["strategy"] == 0].mean()
    assert found["strategy", "0"].value - found["strategy", "1"].value == pytest.approx(0.1)
    assert found["size", "3"].value - found["size", "0"].value == pytest.approx(0.3)
