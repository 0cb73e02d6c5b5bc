# `make demo` and `make test` need only Python 3.11 or newer, make and git.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PYTEST_ARGS ?=
VERSIONS ?= 3.11 3.12 3.13

# Installs into an environment: with pip or, many times as fast, with the program UV=/path/to/uv.
UV ?=
install_into = $(if $(UV),$(UV) pip install --quiet --python $(1)/bin/python,$(1)/bin/python -m pip install --quiet --disable-pip-version-check)

# WEFE's own test model: the tests beside WEFE's numbers run where it has been fetched.
ORACLE = $(CURDIR)/.oracle/wefe-model.npz
ifneq ($(wildcard $(ORACLE)),)
export BAYESBIAS_WEFE_MODEL ?= $(ORACLE)
endif

.PHONY: help demo install install-all test test-slow coverage mutants lint test-all test-lowest models oracle pages calibration docs links notebooks benchmarks benchmarks-short benchmarks-page vulnerabilities dist clean

help:
	@echo "make demo         install into $(VENV), and audit the demo embedding"
	@echo "make test         install into $(VENV) and run the tests"
	@echo "make test-slow    those that take longer: sampling, pages, notebooks, the browser"
	@echo "make coverage     branch coverage of five subpackages by their own tests"
	@echo "make mutants      change criteria, WEAT and the distance table, and see what tests notice"
	@echo "make lint         ruff and mypy"
	@echo "make test-all     the tests on every Python of pyenv that is supported"
	@echo "make test-lowest  the tests on the oldest supported versions of everything"
	@echo "make models       fit the demo studies again, and write their cards"
	@echo "make oracle       fetch WEFE's test model, for tests beside WEFE's numbers"
	@echo "make pages        run the code of the documentation, and write down what it prints"
	@echo "make calibration  check the coverage of all models (hours), and fill the page about it"
	@echo "make docs         build the documentation into site/; a warning is an error"
	@echo "make links        ask for every page on other sites that we link to (needs a network)"
	@echo "make notebooks    run the notebooks, and keep what they show"
	@echo "make dist         build wheel and source distribution into build/dist, and check them"
	@echo "make vulnerabilities  look the installed packages up in a database of known ones"
	@echo "make benchmarks   speed beside gensim, WEFE, PyMC, nutpie, Bambi, scikit-learn; fill the page"
	@echo "make benchmarks-short  the same with small sizes, to see that all run"
	@echo "make benchmarks-page   write the page from benchmarks/results.json"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "bayesbias needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(call install_into,$(VENV)) --editable .
	@touch $@

$(VENV)/.installed-test: $(BIN)/python pyproject.toml
	$(call install_into,$(VENV)) --editable '.[test]'
	@touch $(VENV)/.installed $@

demo: $(VENV)/.installed
	$(BIN)/bayesbias audit --out bayesbias-demo

# The tests start hundreds of processes, each of which would compile the package again.
test test-slow: export PYTHONDONTWRITEBYTECODE =

# One thread each: as many processes as cores run already.
test: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not slow" $(PYTEST_ARGS)

test-slow: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m slow $(PYTEST_ARGS)

# All tests, slow ones too: NUTS has no others. Fails where a room is covered by less than 95%.
COVERED ?= debias debias_effects distances metrics models
coverage: $(VENV)/.installed-test
	@for room in $(COVERED); do \
	  COVERAGE_FILE=.coverage-$$room OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -q \
	    --cov=bayesbias/$$room $(PYTEST_ARGS) tests/$$room bayesbias/$$room || exit 1; \
	done

mutants: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 $(BIN)/python scripts/mutate.py

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

install: $(VENV)/.installed-test

test-all: EACH = test
install-all: EACH = install
test-all install-all:
	@for version in $(VERSIONS); do \
	  python=$$(ls -d $$(pyenv root)/versions/$$version.*/bin/python 2>/dev/null | tail -n 1); \
	  if [ -z "$$python" ]; then echo "no Python $$version in pyenv: skipped"; continue; fi; \
	  $(MAKE) $(EACH) PYTHON=$$python VENV=.venv-$$version || exit 1; \
	done

test-lowest: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable .
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --editable '.[test]'
	.venv-lowest/bin/python -m pytest -n auto -W ignore::DeprecationWarning -W ignore::FutureWarning $(PYTEST_ARGS)

models: $(VENV)/.installed
	$(BIN)/python scripts/build_models.py

dist: $(VENV)/.installed-test
	rm -rf build/dist
	$(BIN)/python -m hatchling build -d build/dist
	$(BIN)/python -m twine check --strict build/dist/*

oracle: $(ORACLE)

$(ORACLE): $(VENV)/.installed
	@mkdir -p $(@D)
	$(BIN)/python scripts/export_wefe_model.py $@

pages: $(VENV)/.installed
	$(BIN)/python scripts/fill_pages.py README.md docs/*.md docs/*/*.md

calibration: $(VENV)/.installed
	$(call install_into,$(VENV)) --editable '.[glove]'
	OMP_NUM_THREADS=1 $(BIN)/python scripts/build_calibration.py --jobs -1

$(VENV)/.installed-docs: $(VENV)/.installed pyproject.toml
	$(call install_into,$(VENV)) --editable '.[docs]'
	@touch $@

docs: $(VENV)/.installed-docs
	$(BIN)/python scripts/build_docs.py

links: $(VENV)/.installed
	$(BIN)/python scripts/check_links.py

notebooks: $(VENV)/.installed-test
	$(BIN)/python scripts/run_notebooks.py

.venv-audit/.installed:
	$(PYTHON) -m venv .venv-audit
	$(call install_into,.venv-audit) pip-audit
	@touch $@

vulnerabilities: $(VENV)/.installed-test .venv-audit/.installed
	$(BIN)/python scripts/audit_dependencies.py .venv-audit/bin/pip-audit

.venv-wefe/.installed:
	$(PYTHON) -m venv .venv-wefe
	$(call install_into,.venv-wefe) wefe==1.0.1
	@touch $@

.venv-peers/.installed:
	$(PYTHON) -m venv .venv-peers
	$(call install_into,.venv-peers) bambi==0.17.2 'matplotlib<3.11'
	@touch $@

benchmarks: $(VENV)/.installed-test .venv-wefe/.installed .venv-peers/.installed $(ORACLE)
	$(BIN)/python benchmarks/run.py --json benchmarks/results.json
	$(MAKE) benchmarks-page

# Does everything run? With the peers that are there, and small sizes.
benchmarks-short: $(VENV)/.installed-test
	$(BIN)/python benchmarks/run.py --short

benchmarks-page: $(VENV)/.installed
	$(BIN)/python scripts/build_benchmarks_page.py

clean:
	rm -rf .venv .venv-* .oracle bayesbias-demo build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
