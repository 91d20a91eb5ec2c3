# `make` alone runs all a merge needs.
SHELL := bash
.DEFAULT_GOAL := all

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
STAMP := $(VENV)/.installed
GEN_STAMP := .venv-gen/.installed

.PHONY: all setup demo check lint format types imports protos drift test faults browser gen bench fuzz long docs lock clean help

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

all: check test ## All that a merge needs.

$(STAMP): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(UV) || $(BIN)/pip install --quiet --disable-pip-version-check uv==0.13.9
	$(UV) pip install --quiet --require-hashes -r requirements.lock --python $(BIN)/python
	$(UV) pip install --quiet --no-deps -e . --python $(BIN)/python
	touch $@

$(GEN_STAMP): requirements-gen.lock | $(STAMP)
	test -x .venv-gen/bin/python || $(UV) venv --quiet --python $(BIN)/python .venv-gen
	$(UV) pip install --quiet --require-hashes -r requirements-gen.lock --python .venv-gen/bin/python
	touch $@

setup: $(STAMP) ## The environment only.

demo: $(STAMP) ## Start both services on sample runs, print a plan, serve the page (ONCE=1 stops after the plan).
	$(BIN)/tonnage demo $(if $(filter 1,$(ONCE)),--once)

check: lint types imports protos drift ## Everything that reads the code without running it.

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## Put the code in form.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/buf format -w

types: $(STAMP)
	$(BIN)/mypy services/tonnage ui/tonnage_ui tests tools

imports: $(STAMP)
	$(BIN)/lint-imports

protos: $(STAMP)
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code
	$(BIN)/buf breaking --against protos/released.binpb

drift: $(GEN_STAMP)
	tools/drift.sh

gen: $(GEN_STAMP) ## Redo stubs and reference pages.
	tools/gen.sh
	$(BIN)/python tools/reference.py

test: $(STAMP) ## All tests but the long ones; the browser's where Chromium is installed.
	$(BIN)/pytest -n 2 --dist loadfile tests/unit tests/property tests/contract
	$(BIN)/pytest tests/e2e tests/faults tests/browser

long: $(STAMP) ## Tests of minutes: queues whose answer is known, within one percent.
	$(BIN)/pytest tests/long

faults: $(STAMP) ## What goes wrong around a shared store, many rounds of it; needs PostgreSQL, and root for namespaces.
	TONNAGE_FAULTS=long $(BIN)/pytest tests/faults

browser: $(STAMP) ## The browser tests alone.
	$(BIN)/pytest tests/browser

bench: $(STAMP) ## Ratios against bare limits (QUICK=1 ends within a minute; CHECK=1 fails when one fell).
	PYTHONPATH=tests $(BIN)/python -m bench $(if $(filter 1,$(QUICK)),--quick) $(if $(filter 1,$(CHECK)),--check)

fuzz: $(STAMP) ## A million made-up files through every reader (QUICK=1 ends within a minute).
	PYTHONPATH=tests $(BIN)/python -m fuzz --from ../shared/samples $(if $(filter 1,$(QUICK)),--seconds 50)

lock: $(STAMP) ## Resolve the pinned set again.
	$(UV) pip compile pyproject.toml --extra all --extra scale-out --group dev --universal --generate-hashes --no-annotate --no-header -q -o requirements.lock
	$(UV) pip compile pyproject.toml --extra all --extra scale-out --universal --generate-hashes --no-annotate --no-header -q -o requirements-image.lock
	$(UV) pip compile --group gen --generate-hashes --no-annotate --no-header -q -o requirements-gen.lock

clean: ## Remove environments and caches.
	rm -rf $(VENV) .venv-gen .demo .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
