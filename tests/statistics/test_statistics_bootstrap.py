"""Intervals: against scipy where it has the same thing, and by how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.statistics.bootstrap import drawn_means, expanded_tail, interval, intervals
from harness.statistics.resampling import Resampler, resampler, resampler_of
from harness.types import Answer, Corpus, Document, Evidence, Question, Span


def alone(n, resamples=2000, seed=1):
    return Resampler((np.arange(n),), resamples, seed)


def test_unclustered_intervals_agree_with_scipy():
    values = np.random.default_rng(5).exponential(size=150)
    level = 1 - 2 * expanded_tail(150, 0.95)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, confidence_level=level, method="BCa", rng=np.random.default_rng(2))
    low, high = interval(values, alone(150, 20_000))
    error = theirs.standard_error
    assert low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * error)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * error)
    assert drawn_means(values[:, None], alone(150, 20_000)).std() == pytest.approx(error, rel=0.03)


def test_small_samples_get_wider_tails_and_large_ones_the_usual():
    assert expanded_tail(100_000, 0.95) == pytest.approx(0.025, abs=1e-4)
    assert expanded_tail(10, 0.95) < 0.01


@pytest.mark.parametrize("clusters", [25, 60])
def test_clustered_intervals_hold_the_truth_as_often_as_they_say(clusters):
    """Eight questions a document that mostly share their fate: the clustered interval covers, the naive one does not."""
    random = np.random.default_rng(8)
    group = np.repeat(np.arange(clusters), 8)
    runs = 300
    chance = random.beta(1, 1, (clusters, runs))
    values = (random.random((clusters * 8, runs)) < chance[group]).astype(float)

    def covered(sampler):
        found = intervals(values, sampler)
        return float(((found.low <= 0.5) & (found.high >= 0.5)).mean())

    assert 0.91 <= covered(Resampler((group,), 1000, 3)) <= 0.99
    assert covered(alone(clusters * 8, 1000)) < 0.85


def test_two_way_intervals_are_wider_than_either_and_hold_the_truth():
    random = np.random.default_rng(9)
    document, text, runs = np.repeat(np.arange(40), 17), np.tile(np.arange(17), 40), 200
    values = random.normal(size=(40, runs))[document] + random.normal(size=(17, runs))[text] + random.normal(size=(680, runs))
    found = {name: intervals(values, Resampler(groups, 600, 2)) for name, groups in
             (("both", (document, text)), ("document", (document,)), ("text", (text,)))}  # fmt: skip
    width = {name: (result.high - result.low).mean() for name, result in found.items()}
    assert width["both"] > max(width["document"], width["text"])
    assert 0.91 <= ((found["both"].low <= 0) & (found["both"].high >= 0)).mean() <= 0.985


def test_skewed_clusters_of_few_documents_are_held():
    """A mean of .9 whose documents are mostly all right or all wrong: plain percentiles miss it on one side."""
    random, group, runs = np.random.default_rng(10), np.repeat(np.arange(20), 6), 500
    chance = random.beta(1.8, 0.2, (20, runs))
    values = (random.random((120, runs)) < chance[group]).astype(float)
    held = {skewed: np.mean([(one.low <= 0.9) & (one.high >= 0.9)]) for skewed in (True, False)
            for one in [intervals(values, Resampler((group,), 600, 1), skewed=skewed)]}  # fmt: skip
    assert held[True] > held[False] + 0.02
    assert held[True] >= 0.89


def test_undefined_questions_are_left_out_column_by_column():
    values = np.array([[1.0, np.nan, np.nan], [0.0, 1.0, np.nan], [1.0, 0.0, 1.0], [0.0, np.nan, np.nan]] * 10)
    found = intervals(values, alone(40))
    assert found.n.tolist() == [40, 20, 10]
    assert found.mean.tolist() == [0.5, 0.5, 1.0]
    kept = values[~np.isnan(values[:, 1]), 1]
    assert found.low[1] == pytest.approx(interval(kept, alone(20))[0], abs=0.08)
    nothing = intervals(np.array([[np.nan], [3.0]]), alone(2))
    assert (nothing.n[0], nothing.mean[0]) == (1, 3.0)
    assert np.isnan([nothing.low[0], nothing.high[0]]).all()


def test_pooled_shares_weigh_questions_by_their_parts():
    values, parts = np.array([1.0, 0.0, 0.5] * 20)[:, None], np.array([1.0, 1.0, 8.0] * 20)[:, None]
    found = intervals(values, alone(60), weights=parts)
    assert found.mean[0] == pytest.approx(0.5)
    assert found.low[0] < 0.5 < found.high[0]
    assert found.high[0] - found.low[0] < np.subtract(*interval(values[:, 0], alone(60))[::-1])


def test_the_same_draws_every_time_whatever_the_block(monkeypatch: pytest.MonkeyPatch):
    sampler = Resampler((np.repeat(np.arange(30), 4), np.arange(120) % 7), 50, 11)
    once, again = (np.concatenate(list(sampler.weights())) for _ in range(2))
    assert np.array_equal(once, again)
    assert len(sampler) == 120
    assert sampler.clusters == 7
    monkeypatch.setattr("harness.statistics.resampling._BLOCK", 500)
    blocks = list(sampler.weights())
    assert max(map(len, blocks)) == 4
    assert sum(map(len, blocks)) == 50
    one_way = Resampler((np.repeat(np.arange(30), 4),), 50, 11)
    assert all((block.sum(axis=1) == 120).all() for block in one_way.weights())


def test_which_clusters_a_corpus_gets():
    few = resampler([0, 1, 2] * 10, [f"question {number}" for number in range(30)])
    assert len(few.groups) == 1
    assert few.clusters == 30
    assert few.warning is not None
    assert "3 documents" in few.warning
    own = resampler([*range(20), None, None], [f"question {number}" for number in range(22)])
    assert (len(own.groups), own.clusters, own.warning) == (1, 22, None)
    asked = resampler([doc for doc in range(25) for _ in range(3)], ["may it be shared?", "how long?", "who signs?"] * 25)
    assert len(asked.groups) == 2
    assert asked.clusters == 3
    within = resampler([doc for doc in range(25) for _ in range(3)], [f"the same, of {doc}" for doc in range(25) for _ in range(3)])
    assert len(within.groups) == 1


def test_documents_of_questions_come_from_labels_or_filters():
    documents = tuple(Document(f"d{number}", "some text") for number in range(24))
    questions = [Question(f"q{n}", f"t{n}", (Answer((Evidence(Span(n, 0, 4)),)),)) for n in range(24)]
    questions += [Question("u0", "u0", (), {"doc": "d3"}), Question("u1", "u1", ())]
    found = resampler_of(Corpus("toy", documents, tuple(questions), "", ""))
    assert found.groups[0][24] == found.groups[0][3]
    assert found.clusters == 25


def test_no_questions_give_no_interval():
    found = intervals(np.zeros((0, 2)), alone(0))
    assert np.isnan([found.mean, found.low, found.high]).all()


def test_a_column_that_is_defined_nowhere_says_nothing_on_two_ways_of_clusters():
    """pytest makes an error of the warning that NumPy used to give here."""
    values = np.random.default_rng(5).random((60, 2))
    values[:, 1] = np.nan
    found = intervals(values, Resampler((np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)), 200))
    assert found.low[0] < found.mean[0] < found.high[0]
    assert np.isnan([found.low[1], found.high[1], found.mean[1]]).all()
