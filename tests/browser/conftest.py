"""A real browser without a window, and the toys of the report tests."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))

_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """Chromium under WebDriver. Skips where it is not installed; where HARNESS_REQUIRE_BROWSER is set, that is a failure."""
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    binary, driver = next((path for path in found if path), None), shutil.which("chromedriver")
    if binary is None or driver is None:
        reason = "no browser here: install the packages chromium and chromium-driver (Debian, Ubuntu)"
        if os.environ.get("HARNESS_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*_FLAGS, "--no-first-run", "--window-size=1400,1000", f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()
