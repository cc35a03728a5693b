# One command each; CI calls the same ones. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help setup setup-run demo demo-kafka test test-fast check format bench fuzz generate kafka lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "make: Python 3.11 or newer is needed, PYTHON=$(PYTHON) is %d.%d; call make PYTHON=/path/to/python3.11" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)

# The stamps remember which pinned set is installed, so a second call costs nothing.
$(VENV)/.run-stamp: requirements/run.txt pyproject.toml ethogram/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e ethogram -e .
	@touch $@

$(VENV)/.dev-stamp: requirements/dev.txt $(VENV)/.run-stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

setup-run: $(VENV)/.run-stamp  ## install what running needs, pinned, into .venv

setup: $(VENV)/.dev-stamp  ## install everything, pinned, into .venv

demo: setup-run  ## the whole pipeline in one process on librdkafka's embedded cluster
	@$(BIN)/ethogram-relay demo $(ARGS)

demo-kafka: setup  ## the same on a local real Apache Kafka, started and stopped by the command
	@$(BIN)/python deploy/kafka/broker run --dir .kafka/demo -- $(BIN)/ethogram-relay demo --bootstrap-servers '{bootstrap}' $(ARGS)

test: setup  ## every test, on a real Apache Kafka that it finds or brings
	$(BIN)/python -m pytest $(ARGS)

test-fast: setup  ## unit, property and house tests alone: no broker, under a minute
	$(BIN)/python -m pytest -m 'not broker' $(ARGS)

check: setup  ## format, lint and strict types, tests included
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup  ## format and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## ratios of the relay and the kit against bare copies, on a real broker
	$(BIN)/python -m tests.benchmarks $(ARGS)

$(VENV)/.fuzz-stamp: requirements/fuzz.txt $(VENV)/.dev-stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/fuzz.txt
	@touch $@

fuzz: $(VENV)/.fuzz-stamp  ## coverage-guided fuzzing of the kit; MINUTES=10 by default
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10) $(ARGS)

generate: setup  ## write anew what comes from the vocabulary: payload classes, reference page
	$(BIN)/python -m tools.generate

kafka: setup  ## start a local Apache Kafka on port 9092 (deploy/kafka/broker stop ends it)
	$(BIN)/python deploy/kafka/broker start

lock: setup  ## pin anew within the bounds of pyproject.toml (needs uv: pip install uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package ethogram --no-header --no-annotate pyproject.toml -o requirements/run.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package ethogram --no-header --no-annotate --extra dev pyproject.toml -o requirements/dev.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package ethogram --no-header --no-annotate requirements/build.in -o requirements/build.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package ethogram --no-header --no-annotate requirements/fuzz.in -o requirements/fuzz.txt

clean:  ## remove the environment and what tools left
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .kafka
