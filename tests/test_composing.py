"""Composing many jobs at the price of one gives what Hydra gives for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from harness.bundled import bundled_folder
from harness.hydra_front import launcher, schema
from harness.hydra_front.composing import Composer


def by_hydra(words: list[str]) -> DictConfig:
    return compose("config", overrides=words, return_hydra_config=True)


@pytest.fixture
def composer() -> Iterator[Composer]:
    schema.register()
    launcher.register(lambda configs: [])
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(bundled_folder("conf")), job_name="test", version_base="1.3"):
        yield Composer(GlobalHydra.instance().config_loader(), "config", by_hydra)
    GlobalHydra.instance().clear()


def as_written(config: Any) -> str:
    return OmegaConf.to_yaml(config, resolve=False)


WORDS = [
    ["strategy=fixed", "size=64", "overlap=0"],
    ["strategy=recursive", "size=128", "overlap=10%"],
    ["size=128", "strategy=recursive", "overlap=20", "size=96"],
    ["strategy=recursive", "size=${scoring.seed}", "filter={status: current}"],
    ["experiment=quickstart", "budget.sizes=[512]", "size=300"],
    ["preset=none", "select.metric=recall_at_5", "hydra.sweeper.max_batch_size=3"],
    ["+strategy.extra=3", "~cache_gigabytes", "++size=9"],
    ["retriever=hybrid", "retriever.inner=[]", "embedder=hashing", "embedder.dim=7"],
    ["scoring={ks: [3]}", "scoring.seed=2", "scoring.ks=[4]"],
    ["screen=static", "tracking=files", "outputs='a b=c'"],
    ["hydra={job:{env_copy:[HOME]}}", "size=5"],
    [],
]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_it_equals_what_hydra_makes(composer: Composer, words: list[str]) -> None:
    outcome = []
    for make in (composer.compose, by_hydra, composer.compose):
        try:
            outcome.append(as_written(make(list(words))))
        except (HydraException, OmegaConfBaseException) as error:
            outcome.append(f"{type(error).__name__}: {error}")
    assert outcome[0] == outcome[1] == outcome[2]


def test_a_job_leaves_no_trace_in_the_next(composer: Composer) -> None:
    first = composer.compose(["size=64", "budget.sizes=[512]"])
    first.budget.sizes.append(7)
    first.hydra.job.num = 3
    assert as_written(composer.compose(["size=65"])) == as_written(by_hydra(["size=65"]))


def test_choices_are_composed_once(composer: Composer) -> None:
    made: list[list[str]] = []

    def whole(words: list[str]) -> DictConfig:
        made.append(words)
        return by_hydra(words)

    counted = Composer(GlobalHydra.instance().config_loader(), "config", whole)
    for size in range(10, 20):
        for strategy in ("fixed", "sentence"):
            counted.compose([f"strategy={strategy}", f"size={size}"])
    assert made == [["strategy=fixed"], ["strategy=sentence"]]


def test_folders_of_ones_own_hold_choices(composer: Composer, tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "ours.yaml").write_text("# @package _global_\nsize: 77\n")
    words = [f"hydra.searchpath=['file://{tmp_path}']", "+team=ours", "overlap=3"]
    found = composer.compose(words)
    assert (found.size, found.overlap) == (77, "3")
    assert as_written(found) == as_written(by_hydra(words))


def test_a_wrong_value_is_told_as_hydra_tells_it(composer: Composer) -> None:
    for words in (["size=many"], ["sizes=3"], ["strategy.nothing=1"], ["strategy=none_such"], ["select@other=default"], ["~nothing"]):
        with pytest.raises((HydraException, OmegaConfBaseException)) as ours:
            composer.compose(words)
        with pytest.raises((HydraException, OmegaConfBaseException)) as theirs:
            by_hydra(words)
        assert (type(ours.value), str(ours.value)) == (type(theirs.value), str(theirs.value))


def test_words_for_hydra_itself_stay_as_they_were_typed(composer: Composer) -> None:
    words = ["hydra.sweep.dir=outputs/${size}", "hydra.sweep.subdir=${hydra.job.num}", "hydra.job.name=${strategy._target_}"]
    loader = GlobalHydra.instance().config_loader()
    master = loader.load_configuration("config", [*words, "size=3,4"], RunMode.MULTIRUN)
    launching = launcher.SweepLauncher()
    launching.setup(hydra_context=SimpleNamespace(config_loader=loader), task_function=lambda _: None, config=master)
    found = launching.composed([["strategy=fixed", "size=3"], ["strategy=sentence", "size=4"]], 0)
    for number, config in enumerate(found):
        alone = loader.load_sweep_config(master, [f"strategy={('fixed', 'sentence')[number]}", f"size={number + 3}"])
        with open_dict(alone):
            alone.hydra.job.id = alone.hydra.job.num = number
        assert as_written(config) == as_written(alone)
