"""The winner's corrected value and the race between cells."""

from __future__ import annotations

import numpy as np
import pytest

from harness.statistics.resampling import Resampler
from harness.statistics.selection import corrected_best, ranks


def by_document(documents, each=4):
    return Resampler((np.repeat(np.arange(documents), each),), 400, 3)


def noise(seed, cells, documents, each=4):
    random = np.random.default_rng(seed)
    return (random.random((cells, documents * each)) < 0.6).astype(float)


def test_the_best_of_many_equal_cells_gets_back_to_what_it_is_worth():
    found = [corrected_best(noise(seed, 30, 25), by_document(25), splits=100) for seed in range(60)]
    assert np.mean([each.apparent for each in found]) > 0.67
    assert np.mean([each.value for each in found]) == pytest.approx(0.6, abs=0.02)
    assert np.mean([each.low <= 0.6 <= each.high for each in found]) >= 0.9


def test_a_clear_winner_keeps_its_value():
    cells = noise(1, 4, 30)
    cells[2, :110] = 1
    found = corrected_best(cells, by_document(30))
    assert found.best == 2
    assert found.apparent == pytest.approx(cells[2].mean())
    assert found.value == pytest.approx(found.apparent, abs=1e-3)
    assert found.low < found.value < found.high <= 1


def test_one_cell_was_not_picked_and_is_not_corrected():
    cells = noise(2, 1, 12)
    found = corrected_best(cells, by_document(12))
    assert found.optimism == pytest.approx(0, abs=0.01)
    assert found.value == pytest.approx(cells.mean(), abs=0.01)


def test_a_pick_that_fails_everywhere_else_is_worth_nothing():
    """Four cells, each right on one cluster alone: on one half of the clusters some cell looks good, on the other that cell is always wrong."""
    cells = np.repeat(np.eye(4), 5, axis=1)
    found = corrected_best(cells, Resampler((np.repeat(np.arange(4), 5),), 200, 1))
    assert found.apparent == 0.25
    assert found.value == pytest.approx(0)
    assert found.low == 0


def test_two_ways_are_held_out_in_both():
    """Each cell is right on one text alone. Held out by document only, the winner's text would be seen again on the other side."""
    document, text = np.repeat(np.arange(20), 4), np.tile(np.arange(4), 20)
    cells = (text == np.arange(4)[:, None]).astype(float)
    assert corrected_best(cells, Resampler((document,), 200, 1)).value == pytest.approx(0.25, abs=0.01)
    assert corrected_best(cells, Resampler((document, text), 200, 1)).value == pytest.approx(0)


def test_what_cannot_be_split_or_valued_is_not_a_number():
    assert np.isnan(corrected_best(np.ones((2, 6)), Resampler((np.zeros(6, dtype=np.int64),), 50, 1)).value)
    nothing = np.array([[1.0, np.nan], [np.nan, 1.0]])
    assert np.isnan(corrected_best(nothing, Resampler((np.arange(2),), 50, 1)).value)
    assert np.isnan(ranks(nothing, Resampler((np.arange(2),), 50, 1))).all()


def test_only_questions_that_all_cells_have_count():
    cells = noise(5, 3, 20)
    holed = np.concatenate([cells, np.ones((3, 4))], axis=1)
    holed[1, -4:] = np.nan
    sampler = by_document(21)
    assert corrected_best(holed, sampler) == corrected_best(cells, by_document(20))
    assert ranks(holed, sampler) == pytest.approx(ranks(cells, by_document(20)))


def test_ranks_share_out_the_resamples():
    cells = noise(6, 3, 40)
    twin = np.concatenate([cells, cells[:1]])
    found = ranks(twin, by_document(40))
    assert found.sum() == pytest.approx(1)
    assert found[0] == pytest.approx(found[3])
    far = cells.copy()
    far[1] = 1
    assert ranks(far, by_document(40)).tolist() == [0, 1, 0]
