"""Every YAML under conf/ composes, every named sweep runs in miniature, people's own YAMLs come in, and a wheel carries conf/ and datasets/."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from front_cases import QUICK, ROOT, call, write_corpus
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.utils import get_class, get_method
from omegaconf import DictConfig, OmegaConf

from harness.cli.main import help_text
from harness.hydra_front import launcher, schema

CONF = ROOT / "conf"
GROUPS = ("dataset", "strategy", "embedder", "retriever", "select", "tracking", "screen", "preset", "experiment", "hydra")
PARTS = sorted(path.relative_to(CONF) for group in (*GROUPS[:4], "tracking") for path in (CONF / group).glob("*.yaml"))
PRESETS = sorted((CONF / "preset").glob("*.yaml"))
EXPERIMENTS = sorted((CONF / "experiment").glob("*.yaml"))


def composed(*overrides: str) -> DictConfig:
    schema.register()
    launcher.register(lambda configs: [0.0 for _ in configs])
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=list(overrides), return_hydra_config=True)


def test_the_groups_are_the_folders() -> None:
    assert {path.name for path in CONF.iterdir() if path.is_dir()} == set(GROUPS)
    defaults = OmegaConf.load(CONF / "config.yaml").defaults
    named = {key for entry in defaults if isinstance(entry, DictConfig) or hasattr(entry, "keys") for key in entry}
    assert set(GROUPS) <= named
    assert {path.suffix for path in CONF.rglob("*") if path.is_file()} == {".yaml"}


@pytest.mark.parametrize("path", PARTS, ids=str)
def test_every_part_composes_and_its_target_is_there(path: Path) -> None:
    group, name = path.parent.name, path.stem
    config = composed(f"{group}={name}")
    target = config[group]["_target_"]
    try:
        get_class(target)
    except ValueError:
        get_method(target)
    first = (CONF / path).read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# "), "the first line says in words what it is"


@pytest.mark.parametrize("path", sorted((CONF / "select").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_way_to_select_composes(path: Path) -> None:
    assert composed(f"select={path.stem}").select.metric


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_every_preset_composes_and_gives_way_to_what_is_typed(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# @package _global_", "Hydra wants its header first"
    assert shlex.split(lines[1]) == ["#", "chunk-sweep", "run", f"preset={path.stem}"]
    assert lines[2].startswith("# ")
    typed = composed(f"preset={path.stem}", "returned=section", "size=77", "overlap=7")
    assert (typed.returned, typed.size, typed.overlap) == ("section", 77, "7")


def test_a_preset_changes_the_values_of_the_root(capsys: pytest.CaptureFixture[str]) -> None:
    """They stand in config.yaml itself, so its own values must come before the preset's."""
    assert composed().returned == composed("preset=none").returned == "chunk"
    assert composed("preset=parent_child").returned == "parent:512"
    assert composed("preset=sentence_window").strategy.sentences_per_chunk == 1
    assert composed("preset=parent_child", "strategy=fixed").strategy._target_.endswith("FixedChunker")
    for stem in (path.stem for path in PRESETS):
        assert stem in call(capsys, "run", "--help").out


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_named_sweep_tells_its_command(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# @package _global_", "Hydra wants its header first"
    assert shlex.split(lines[1]) == ["#", "chunk-sweep", "run", f"experiment={path.stem}"]
    assert lines[2].startswith("# ")
    assert str(composed(f"experiment={path.stem}").hydra.mode) == "RunMode.MULTIRUN"


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_named_sweep_runs_in_miniature(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first and the last value of each of its axes, on one document."""
    small = ["tracking=files", "scoring.resamples=20", "dataset.documents=1", "dataset.questions=4", "embedder=hashing"]
    cells = 1
    for axis, typed in composed(f"experiment={path.stem}").hydra.sweeper.params.items():
        values = str(typed).split(",")
        ends = list(dict.fromkeys([values[0], values[-1]]))
        small.append(f"{axis}={','.join(ends)}")
        cells *= len(ends)
    said = call(capsys, "run", f"experiment={path.stem}", *small, f"outputs={tmp_path}")
    assert said.status == 0, said.err
    record = json.loads(next(tmp_path.glob("sweeps/*/sweep.json")).read_text(encoding="utf-8"))
    assert len(record["cells"]) + len(record["impossible"]) + len(record["twins"]) == cells
    assert record["status"] == "finished"


OWN_STRATEGY = '''
from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces
from harness.units.base import Ruler


@dataclass(frozen=True)
class Halves:
    """Two pieces a document."""

    share: float = 0.5

    def split(self, text: str, ruler: Ruler) -> Pieces:
        middle = int(len(text) * self.share)
        return Pieces(np.array([0, middle], dtype=np.int64), np.array([middle, len(text)], dtype=np.int64))
'''


def own_folder(folder: Path) -> Path:
    """A strategy and a sweep of a person's own."""
    (folder / "own yamls" / "strategy").mkdir(parents=True)
    (folder / "own yamls" / "experiment").mkdir()
    (folder / "own yamls" / "strategy" / "halves.yaml").write_text("_target_: halves_of_mine.Halves\nshare: 0.4\n")
    (folder / "own yamls" / "experiment" / "mine.yaml").write_text(
        "# @package _global_\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      strategy: halves,fixed\n      size: 12,24\n"
    )
    (folder / "halves_of_mine.py").write_text(OWN_STRATEGY)
    return folder / "own yamls"


def test_a_persons_own_yaml(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    own, corpus = own_folder(tmp_path), write_corpus(tmp_path / "harbour", documents=2)
    monkeypatch.syspath_prepend(str(tmp_path))
    data = ("dataset=folder", f"dataset.path={corpus}", f"outputs={tmp_path}/outputs")
    said = call(capsys, "run", *QUICK, *data, "--config-dir", str(own), "strategy=halves", "strategy.share=0.3")
    assert said.status == 0, said.err
    assert "halves hashing" in said.out
    said = call(capsys, "run", "--config-dir", str(own), *QUICK[:-2], "unit=words", *data, "experiment=mine")
    assert said.status == 0, said.err
    assert "3 ran, 1 twins of others" in said.out
    said = call(capsys, "run", "--config-dir", str(own), *QUICK, *data, "strategy=thirds")
    assert (said.status, len(said.lines)) == (2, 1)
    assert "halves" in said.err


def test_a_mistake_in_a_persons_own_sweep_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = own_folder(tmp_path)
    for old, new, told in (("halves,fixed", "halfs,fixed", "strategy=halfs"), ("12,24", "12,many", "size=many")):
        path = own / "experiment" / "wrong.yaml"
        path.write_text((own / "experiment" / "mine.yaml").read_text().replace(old, new))
        said = call(capsys, "run", "--config-dir", str(own), *QUICK[:-2], f"outputs={tmp_path}/outputs", "experiment=wrong")
        assert (said.status, len(said.lines)) == (2, 1), said.err
        assert told in said.err
    assert not list(tmp_path.glob("outputs/cells/*"))


def test_help_needs_no_network_and_names_every_choice(capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", "--help")
    assert said.status == 0
    for path in PARTS:
        assert path.stem in said.out
    for path in EXPERIMENTS:
        assert path.stem in said.out


def test_the_verbs_are_named_in_the_general_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys).out == call(capsys, "--help").out == help_text()
    for verb in ("data", "report", "gate"):
        assert verb in help_text()
        said = call(capsys, verb, "--help")
        assert (said.status, said.err) == (0, "")
        assert f"chunk-sweep {verb}" in said.out
    assert call(capsys, "--version").out.startswith("chunk-sweep ")


def test_options_may_stand_between_overrides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", QUICK[0], "--multirun", *QUICK[1:-2], "dataset.documents=1", "size=30,60", "-m", "unit=words", f"outputs={tmp_path}")
    assert said.status == 0, said.err
    assert "2 ran" in said.out
    command = json.loads(next(tmp_path.glob("sweeps/*/sweep.json")).read_text(encoding="utf-8"))["command"]
    again = call(capsys, *shlex.split(command)[1:])
    assert "2 reused" in again.out


def test_a_recorded_command_survives_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_corpus(tmp_path / "my harbour", documents=2)
    words = ("run", *QUICK, "dataset=folder", f'dataset.path="{tmp_path}/my harbour"', f'outputs="{tmp_path}/my outputs"')
    assert call(capsys, *words).status == 0
    record = json.loads(next(tmp_path.glob("my outputs/sweeps/*/sweep.json")).read_text(encoding="utf-8"))
    assert shlex.split(record["command"]) == ["chunk-sweep", *words]


def test_home_is_understood(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "harbour", documents=1)
    said = call(capsys, "run", *QUICK, "dataset=folder", 'dataset.path="~/harbour"', 'outputs="~/outputs"')
    assert said.status == 0, said.err
    assert list(tmp_path.glob("outputs/cells/*"))
    assert not (tmp_path / "~").exists()


def test_the_wheel_carries_conf_and_datasets(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77", reason="building a wheel without a network needs the build tools here")
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".venv", ".git", "outputs", "__pycache__", ".*_cache", ".hypothesis"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path / "wheels"), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=200)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("conf", "datasets"):
        wanted = {f"harness/_bundled/{path.relative_to(ROOT)}" for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert wanted
        assert wanted <= names, sorted(wanted - names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"harness", "chunk_sweep"}, "nothing else at the top level"
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    program = "import sys; sys.path.insert(0, sys.argv[1]); from harness.bundled import bundled_folder; print(bundled_folder('conf'))"
    told = subprocess.run([sys.executable, "-c", program, str(tmp_path / "installed")], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(tmp_path / "installed" / "harness" / "_bundled" / "conf")
