"""Comparison of cells: sign flips against every flip there is, Holm by hand, tie groups, and the sizing of a question set."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from harness.statistics.paired import paired, sign_flip, tie_group
from harness.statistics.resampling import Resampler
from harness.statistics.sizing import sizing


def alone(n):
    return Resampler((np.arange(n),), 2000, 1)


def test_sign_flips_agree_with_all_flips_and_with_scipy():
    differences = np.array([0.4, -0.1, 0.3, 0.2, 0.5, -0.2, 0.1, 0.3])
    every = [abs(np.dot(signs, differences)) for signs in itertools.product([1, -1], repeat=8)]
    exact = np.mean(np.array(every) >= abs(differences.sum()) - 1e-12)
    theirs = stats.permutation_test((differences, np.zeros(8)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf)
    assert theirs.pvalue == pytest.approx(exact)
    assert paired(differences, np.zeros(8), alone(8), flips=40_000).p == pytest.approx(exact, abs=0.01)


def test_clusters_flip_whole():
    """Two clusters can only agree or disagree, however many questions they have."""
    group = np.repeat([0, 1], 50)
    p = sign_flip(np.ones((100, 1)), Resampler((group,), 10, 1))
    assert p[0] == pytest.approx(0.5, abs=0.03)
    assert sign_flip(np.ones((100, 1)), alone(100))[0] < 0.001
    both = sign_flip(np.ones((100, 1)), Resampler((np.arange(100) % 50, group), 10, 1))
    assert both[0] == pytest.approx(0.5, abs=0.03)


def test_sign_flips_are_wrong_as_rarely_as_they_say():
    random = np.random.default_rng(4)
    group = np.repeat(np.arange(30), 6)
    differences = random.normal(size=(30, 400))[group] + random.normal(size=(180, 400))
    rejected = (sign_flip(differences, Resampler((group,), 10, 1), flips=1000) <= 0.05).mean()
    assert 0.02 <= rejected <= 0.08
    assert (sign_flip(differences, alone(180), flips=1000) <= 0.05).mean() > 0.2


def test_a_paired_difference_leaves_out_what_either_lacks():
    first, second = np.array([1, 1, 0, np.nan, 1.0]), np.array([0, 1, 0, 1, np.nan])
    found = paired(first, second, alone(5))
    assert (found.n, found.difference) == (3, pytest.approx(1 / 3))
    assert found.low <= found.difference <= found.high


def test_equal_cells_have_p_one():
    values = np.random.default_rng(0).random(50)
    found = paired(values, values.copy(), alone(50))
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)
    group = tie_group(np.stack([values, values, values]), alone(50))
    assert group.best == 0
    assert group.members.all()
    assert group.p.tolist() == [1, 1, 1]


def test_the_tie_group_holds_what_cannot_be_told_from_the_best():
    random = np.random.default_rng(6)
    best = (random.random(400) < 0.7).astype(float)
    near, far = best.copy(), best.copy()
    near[np.flatnonzero(best == 1)[:6]], near[np.flatnonzero(best == 0)[:4]] = 0, 1
    far[:120] = 0
    cells = np.stack([far, best, near])
    found = tie_group(cells, alone(400))
    assert found.best == 1
    assert found.members.tolist() == [False, True, True]
    assert found.difference[1] == 0
    assert (found.difference <= 0).all()
    assert found.low[0] <= found.difference[0] <= found.high[0] < 0
    assert found.p[0] < 0.001 < found.p[2]
    alone_in_the_sweep = tie_group(cells[:1], alone(400))
    assert (alone_in_the_sweep.best, alone_in_the_sweep.members.tolist()) == (0, [True])


def test_equal_cells_rarely_lose_one():
    """Twelve equal cells of clustered questions: the best is picked by looking, and still few sweeps declare a loser."""
    random, group = np.random.default_rng(21), np.repeat(np.arange(25), 4)
    lost = 0
    for _ in range(80):
        cells = random.normal(size=(12, 100)) + random.normal(size=(12, 25))[:, group]
        lost += not tie_group(cells, Resampler((group,), 20, 1), flips=400).members.all()
    assert lost <= 9


def test_two_cells_are_a_paired_comparison():
    random, group = np.random.default_rng(22), np.repeat(np.arange(40), 3)
    cells = random.random((2, 120)) + np.array([[0.08], [0]])
    for sampler in (alone(120), Resampler((group,), 500, 1), Resampler((group, np.tile(np.arange(3), 40)), 500, 1)):
        one, two = tie_group(cells, sampler), paired(cells[0], cells[1], sampler)
        assert one.p[1] == pytest.approx(two.p, abs=0.002)
        assert (-one.high[1], -one.low[1]) == pytest.approx((two.low, two.high), abs=0.003)


def test_only_questions_that_all_cells_have_are_compared():
    cells = np.random.default_rng(23).random((3, 60))
    holed = np.concatenate([cells, [[5.0] * 4, [np.nan] * 4, [0.0] * 4]], axis=1)
    found, plain = tie_group(holed, alone(64)), tie_group(cells, alone(60))
    assert found.n.tolist() == [60, 60, 60]
    assert (found.best, found.p.tolist()) == (plain.best, plain.p.tolist())
    nothing = tie_group(np.array([[1.0, np.nan], [np.nan, 1.0]]), alone(2))
    assert nothing.members.all()


def test_two_ways_of_chance_are_both_counted():
    """A cell that is better for some texts and some documents: flips of one kind alone take the other for a difference."""
    random, wrong = np.random.default_rng(24), {}
    document, text = np.repeat(np.arange(30), 8), np.tile(np.arange(8), 30)
    differences = random.normal(size=(8, 200))[text] + 2.5 * random.normal(size=(30, 200))[document] + random.normal(size=(240, 200))
    for name, groups in (("both", (document, text)), ("document", (document,)), ("text", (text,))):
        wrong[name] = (sign_flip(differences, Resampler(groups, 10, 1), flips=1000) <= 0.05).mean()
    assert wrong["both"] <= 0.09
    assert min(wrong["document"], wrong["text"]) > 0.12


def test_many_cells_can_still_be_told_apart():
    cells = np.zeros((300, 200))
    cells[0] = 1
    found = tie_group(cells, alone(200))
    assert found.members.sum() == 1


def test_the_smallest_difference_that_can_be_seen():
    differences = np.random.default_rng(2).choice([-1.0, 0, 0, 0, 1], 500)
    found = sizing(differences, alone(500))
    assert found.smallest == pytest.approx((1.960 + 0.8416) * differences.std() / np.sqrt(500), rel=0.05)
    assert found.needed == pytest.approx(500 * (found.smallest / 0.05) ** 2, abs=1)
    wide = sizing(differences, Resampler((np.repeat(np.arange(50), 10),), 2000, 1))
    assert wide.n == 500
    clustered = sizing(np.repeat(differences[:50], 10), Resampler((np.repeat(np.arange(50), 10),), 2000, 1))
    assert clustered.smallest > 2 * found.smallest
    same = sizing(np.zeros(10), alone(10))
    assert np.isnan(same.smallest)
    assert same.needed is None


def test_a_sweep_needs_more_than_a_pair():
    cells = np.random.default_rng(25).random((20, 300))
    pair, many = tie_group(cells[:2], alone(300)), tie_group(cells, alone(300))
    assert pair.separation == pytest.approx(1.97 + 0.84, abs=0.06)
    assert many.separation > pair.separation + 0.8
    differences = cells[0] - cells[1]
    assert sizing(differences, alone(300), separation=many.separation).smallest > 1.2 * sizing(differences, alone(300)).smallest
    hopeless = sizing(differences, alone(300), separation=tie_group(np.eye(2)[:, [0] * 5], alone(5)).separation)
    assert (hopeless.smallest, hopeless.needed) == (np.inf, None)


def test_the_smallest_difference_is_found_four_times_in_five():
    random = np.random.default_rng(12)
    noise = random.normal(size=(120, 400))
    smallest = sizing(noise[:, 0] / noise[:, 0].std(), alone(120)).smallest
    assert (sign_flip(noise + smallest, alone(120), flips=1000) <= 0.05).mean() == pytest.approx(0.8, abs=0.07)
