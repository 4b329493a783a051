"""The wheel carries conf/ and datasets/ inside the package `harness`, so `chunk-sweep` works from any folder.

They stay at the top of the repository, where people look for them; only a built wheel has the copies.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py

CARRIED = ("conf", "datasets")


class BuildWithData(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for folder in CARRIED:
            shutil.copytree(folder, Path(self.build_lib) / "harness" / "_bundled" / folder, dirs_exist_ok=True)
