"""Only what pyproject.toml can't say: the build step that puts conf/ and datasets/ into the wheel."""

import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).parent))
from packaging_steps import BuildWithData

setup(cmdclass={"build_py": BuildWithData})
