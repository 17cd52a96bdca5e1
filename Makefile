# One command each for what a contributor does; `.ci/run` calls the same. `make help` lists them.

VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
PYTEST = $(BIN)/python -P -m pytest -q
WORKERS ?= 2
KAFKA_LIBS ?= $(VENV)/kafka-4.1.2

.PHONY: help setup test thorough fast clients servers lint types imports check docs serve

help: ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/'

setup: $(BIN)/.ready ## a virtual environment with everything for development

$(BIN)/.ready: pyproject.toml requirements.lock
	[ -x $(BIN)/pip ] || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -c requirements.lock -e '.[spark,dev,docs,wire-tests]'
	touch $@

# One worker more than cores: some tests wait, for a JVM, a process or the next frame.
test: setup ## all tests but those of real clients and servers (Spark's need Java 17)
	$(PYTEST) -n $$((1 + $(WORKERS))) --dist loadgroup

thorough: setup ## all tests, with what is otherwise checked only after a change
	TIDEGAUGE_THOROUGH=1 $(PYTEST) -n $$((1 + $(WORKERS))) --dist loadgroup -m ''

fast: setup ## the tests of the language, the emulator's rules and the formats: about a minute
	$(PYTEST) -n $(WORKERS) -m 'not spark' tests/commands/language tests/commands/test_statements.py \
	  tests/sessions/grammar tests/sessions/format tests/emulator/replication tests/emulator/releases \
	  tests/emulator/controller tests/emulator/storage tests/test_tidy.py

# Twice the workers: clients and clusters mostly wait for each other.
clients: setup $(KAFKA_LIBS) ## real client libraries and Kafka's own tools against emulated clusters, through every fault
	KAFKA_LIBS=$(KAFKA_LIBS) $(PYTEST) tests/wire -m clients -n $$((2 * $(WORKERS)))

servers: setup ## analyses, campaigns and searches on Spark's own servers, which are killed, too
	$(PYTEST) -n $(WORKERS) -m servers tests/sessions

$(VENV)/kafka-4.1.2: tests/wire/kafka-4.1.2.sha256
	$(BIN)/python -m tests.wire.kafka_jars $@
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports --no-logo

check: lint types imports ## what the gate checks besides the tests

export NO_MKDOCS_2_WARNING = 1 # a notice about its successor

docs: setup ## build the documentation into site/, and check its links
	$(BIN)/mkdocs build --strict

serve: setup ## show the documentation at http://127.0.0.1:8000
	$(BIN)/mkdocs serve
