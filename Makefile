# Each target does all of its own set-up and is safe to repeat.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: demo test lint bench clean

# Tests use exactly the locked versions; the package itself is installed in place, with its C extension.
$(STAMP): requirements/test.txt pyproject.toml setup.py $(wildcard src/tdbg/native/*.c src/tdbg/native/*.h)
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "tdbg needs Python 3.11 or newer: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/test.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(STAMP)
	$(BIN)/tdbg demo

test: $(STAMP) lint
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests benchmarks setup.py
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python benchmarks/kernel.py
	$(BIN)/python benchmarks/recorder.py
	$(BIN)/python benchmarks/store.py --rows 10000000
	$(BIN)/python benchmarks/debug_events.py
	$(BIN)/python benchmarks/why.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/overhead.py --every-mode --programs transformer-128 --rounds 3

clean:
	rm -rf $(VENV) build src/tdbg.egg-info src/tdbg/native/*.so
