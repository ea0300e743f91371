# patchlint: set up, try, test, measure.  `make demo` needs Python 3.11 and git, nothing else.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
TREE   ?= ../ktree
CORPUS ?= ../shared/corpus
SCORE  ?= ../shared/score
JOBS   ?= auto

.PHONY: help setup demo test lint corpus bench docs clean

help:           ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

setup: $(READY) ## make the virtual environment and install patchlint with its tools

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "patchlint needs Python 3.11 or newer (PYTHON=python3.12 make ...)" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m compileall -q patchlint  # where PYTHONDONTWRITEBYTECODE is set nothing else would
	touch $@

demo: $(READY)  ## review a fixture series against a small tree; it has findings, which is the point
	@$(BIN)/patchlint mbox --tree fixtures/demo/tree fixtures/demo/series.mbox; \
	status=$$?; test $$status -eq 1 || { echo "expected findings (exit 1), got $$status" >&2; exit 1; }

test: $(READY)  ## run the tests
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(READY)  ## ruff, mypy --strict and the import contracts
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

corpus: $(READY) ## review the seeds and score the labelled patches (needs CORPUS and TREE)
	$(BIN)/python bench/seeds.py $(CORPUS)/../seeds
	@for part in planted real clean series verdicts; do \
	  echo "== $$part"; $(SCORE) $(CORPUS)/$$part --tree $(TREE) --patchlint $(BIN)/patchlint || exit 1; \
	done

bench: $(READY) ## latency of the whole command beside checkpatch (needs CORPUS and TREE)
	$(BIN)/python bench/latency.py --tree $(TREE) --corpus $(CORPUS)

docs: $(READY)  ## write docs/rules from the rules
	$(BIN)/python docs/make_rules.py

clean:          ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
