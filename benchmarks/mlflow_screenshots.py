"""Remakes the pictures of docs/mlflow.md from MLflow's real page on a store that holds the quickstart sweep as its newest.

    chunk-sweep run experiment=quickstart
    python benchmarks/mlflow_screenshots.py [--outputs outputs]

Needs Chromium and its driver (Debian: chromium, chromium-driver). Look at the pictures before they are committed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mlflow.tracking import MlflowClient
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
WIDE, HIGH = 1400, 1100
PATIENCE = 60.0
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--outputs", type=Path, default=ROOT / "outputs")
    store = f"sqlite:///{words.parse_args().outputs.resolve()}/mlflow.db"
    client = MlflowClient(store)
    experiment = client.get_experiment_by_name("handbook")
    if experiment is None:
        sys.exit(f"{store} has no experiment handbook; run the quickstart first")
    sweep = client.search_runs([experiment.experiment_id], "tags.`chunk_sweep.cells` = '12'", order_by=["attributes.start_time DESC"])[0]
    ours = f"tags.`mlflow.parentRunId` = '{sweep.info.run_id}' and tags.tied_with_winner = 'true'"
    cell = client.search_runs([experiment.experiment_id], ours, order_by=["metrics.complete_within_2048 DESC"])[0]
    with served(store) as address, browser() as chrome:
        page = f"{address}/#/experiments/{experiment.experiment_id}"
        settle(chrome, page)
        shot(chrome, f"{page}/runs/{sweep.info.run_id}", "mlflow_sweep", until="Best by")
        shot(chrome, f"{page}/runs/{sweep.info.run_id}/model-metrics", "mlflow_curves", search="complete_within_2048/")
        asked = {"searchFilter": "tags.tied_with_winner = 'true'", "orderByKey": "metrics.`complete_within_2048`", "orderByAsc": "false"}
        shot(chrome, f"{page}/runs?{urllib.parse.urlencode(asked)}", "mlflow_runs", until="recursive")
        shot(chrome, f"{page}/runs/{cell.info.run_id}", "mlflow_cell", until="chunk-sweep run")


def settle(chrome: Any, page: str) -> None:
    """The page as it is for model training, without the assistant; both are remembered by the browser."""
    chrome.get(page)
    wait_for(lambda: press(chrome, "//*[text()='Model training']"))
    time.sleep(2)
    press(chrome, "//*[contains(text(), 'MLflow Assistant')]/following::button[@aria-label='Close' or contains(@class, 'lose')][1]")
    press(chrome, "(//*[contains(text(), 'MLflow Assistant')]/following::button)[3]")
    time.sleep(1)


def press(chrome: Any, path: str) -> bool:
    for found in chrome.find_elements(By.XPATH, path)[:1]:
        chrome.execute_script("arguments[0].click()", found)
        return True
    return False


def shot(chrome: Any, address: str, name: str, *, until: str = "", search: str = "") -> None:
    """The page at `address`, once it shows `until`; `search` is typed into its field for metrics."""
    chrome.get("about:blank")
    chrome.get(address)
    wait_for(lambda: until in chrome.find_element(By.TAG_NAME, "body").text if until else chrome.find_elements(By.CSS_SELECTOR, "input"))
    time.sleep(4)  # charts and tables go on drawing after their text is there
    if search:
        field = next(item for item in chrome.find_elements(By.CSS_SELECTOR, "input") if "metric" in (item.get_attribute("placeholder") or "").lower())
        field.send_keys(search, Keys.ENTER)
        time.sleep(5)
    path = IMAGES / f"{name}.png"
    chrome.save_screenshot(str(path))
    with Image.open(path) as picture:
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)
    sys.stdout.write(f"{path.name}\n")


def wait_for(happens: Any) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if happens():
            return
        time.sleep(0.5)
    sys.exit("the page did not come up")


@contextmanager
def served(store: str) -> Iterator[str]:
    """MLflow's page on `store`, in a process group of its own: it leaves children behind unless the group is ended."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    known = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", store, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    process = subprocess.Popen(command, env=known, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers(f"{address}/health"))
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except OSError:
        return False


@contextmanager
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--window-size={WIDE},{HIGH}", f"--user-data-dir={tempfile.mkdtemp()}"):
        options.add_argument(flag)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield chrome
    finally:
        chrome.quit()


if __name__ == "__main__":
    main()
