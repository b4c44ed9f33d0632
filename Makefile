# Every path here is relative: the folder's own path may hold spaces.
PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python
# Two workers; a file's tests stay with one of them, so that what a file prepares is made once.
PYTEST := -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-core test-scoring test-slow test-review test-label-studio check format audit kill-matrix fuzz bench bench-gpu docs gallery readme release-check clean
.DELETE_ON_ERROR:

# One environment, remade only when what it is made from changes: the core alone for the demo, the tests'
# packages (torch among them) on top of it. A second one, without torch, tests what the core promises.
INSTALL := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.venv/.core: pyproject.toml constraints.txt
	@test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) $(INSTALL) .
	@touch $@

.venv/.installed: .venv/.core
	$(PY) $(INSTALL) '.[test]'
	@touch $@

.venv-core/.installed: pyproject.toml constraints.txt
	@test -x .venv-core/bin/python || $(PYTHON) -m venv .venv-core
	.venv-core/bin/python $(INSTALL) '.[test-core]'
	@touch $@

# The main job on bundled real data: fits, prints the gaps, writes the result and a page of it to demo/.
demo: .venv/.core
	$(PY) -m maskedadv demo --output demo

# Everything; its halves are test-core and test-scoring.
test: .venv/.installed
	$(PY) $(PYTEST) tests

test-core: .venv-core/.installed
	.venv-core/bin/python $(PYTEST) tests --ignore=tests/scoring

test-scoring: .venv/.installed
	$(PY) $(PYTEST) tests/scoring

test-slow: .venv/.installed
	$(PY) -m pytest -m slow tests

# A review by three people in a real Label Studio, which is installed into the user's cache the first time, with
# its page in Chromium where that is installed; and in Argilla, where redis-server is. Some minutes.
test-review: .venv/.installed
	$(PY) -m pytest -m slow tests/scoring/item_sets/review

test-label-studio: .venv/.installed
	$(PY) -m pytest -m slow tests/scoring/item_sets/review/test_label_studio.py

check: .venv/.installed
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(PY) -m tests.audit

# Known holes in what the core installs, a step of check: a hole is a failure; where the package index's
# service cannot be asked, it says so.
audit: .venv/.installed
	$(PY) -m tests.audit

# Fifty kills of every stage (docs/reference/faults.md); make test has three of each.
kill-matrix: .venv/.installed
	$(PY) -m pytest -s -m slow tests/faults

# Importers, mappings, items, build files, reviews and the reading of answers under Atheris, SECONDS each; findings lie in build/fuzz.
SECONDS ?= 60
fuzz: .venv/.installed
	$(PY) $(INSTALL) '.[test,fuzz]'
	$(PY) -m tests.fuzzing --seconds $(SECONDS)

format: .venv/.installed
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

# Speed and memory beside peers; writes docs/reference/benchmarks.md. Needs the "bench" extra, which it installs.
# An hour and a half; BENCH="end_to_end nuts" makes these sections anew.
bench: .venv/.installed
	$(PY) $(INSTALL) '.[test,bench]'
	$(PY) -m tests.benchmarks $(BENCH)

# Scoring on a GPU beside lm-evaluation-harness, under six minutes on one H200; BENCH_GPU=--tiny tries it on a CPU.
bench-gpu: .venv/.installed
	$(PY) -m tests.benchmarks.gpu $(BENCH_GPU)

# The documentation as a site, with Python and the command line: build/site/index.html. A warning is an error.
docs: .venv/.installed
	$(PY) $(INSTALL) '.[test,docs]'
	$(PY) -m sphinx -q -W --keep-going -b html -c docs . build/site
	@echo "build/site/index.html"

# Every number and the figure of README.md made anew: prints what differs, and fails if something does.
# README=--write puts it in place.
readme: .venv/.installed
	$(PY) -m tests.readme $(README)

# Wheel and sdist built, installed by themselves in new environments of every Python that is here, and run.
release-check: .venv-core/.installed
	.venv-core/bin/python -m tests.release_check

# The numbers, figures and pages of docs/gallery. VERITASQA=file makes the page on VeritasQA anew, too.
gallery: .venv/.installed
	$(PY) docs/gallery/pages.py

clean:
	rm -rf .venv .venv-core .pytest_cache .mypy_cache .ruff_cache .hypothesis demo build dist
