# make demo: the main job; make test: every test. Each sets up its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SLOW := NUMBA_DISABLE_JIT=1

.PHONY: demo test test-jit test-bounds test-python lint bench clean

demo: $(VENV)/.demo
	$(BIN)/python -m fastdyn.demo demo

test: test-jit test-bounds test-python

# compiled, as users run it
test-jit: $(VENV)/.dev
	$(BIN)/python -m pytest

# compiled with a check of every index: kernels believe their arguments, so this must find nothing
test-bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest tests -m bounds

# in plain Python, where coverage can look into the kernels
test-python: $(VENV)/.dev
	$(SLOW) $(BIN)/python -m coverage run -m pytest tests -m bounds
	$(BIN)/python -m coverage report

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# this project and its peers in one run
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.peers

clean:
	rm -rf $(VENV) demo build dist *.egg-info .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[plots]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.demo
