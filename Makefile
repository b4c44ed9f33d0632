# Every path here is relative: the folder's own path may hold spaces.
PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python

.PHONY: demo test test-slow check format bench docs clean
.DELETE_ON_ERROR:

# One environment for everything; remade only when what it is made from changes.
.venv/.installed: pyproject.toml constraints.txt
	@test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

# The main job on bundled real data: fits, prints the gaps, writes the results to demo/.
demo: .venv/.installed
	$(PY) -m maskedadv demo --output demo

test: .venv/.installed
	$(PY) -m pytest -n 2 tests

test-slow: .venv/.installed
	$(PY) -m pytest -m slow tests

check: .venv/.installed
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy

format: .venv/.installed
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

# Speed and memory beside peers; writes docs/benchmarks.md. Needs the "bench" extra, which it installs.
bench: .venv/.installed
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,bench]'
	$(PY) -m tests.benchmarks

# API pages from the docstrings, into build/api.
docs: .venv/.installed
	$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,docs]'
	$(PY) -m pdoc --docformat numpy --output-directory build/api maskedadv

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis demo build dist
