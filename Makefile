# Nothing but Python 3.11+ and make is needed: everything else is installed into .venv first.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test formal bench clients matrix lint types

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

# The main job: streams judged by the table, the table checked, the machines walked at random, and the guard at work.
demo: $(READY)
	@echo '== Five streams, judged by the table (synthetic: made to show one rule each) =='
	@$(BIN)/wholecall replay tests/samples/* || test $$? -eq 1
	@echo '== The table itself =='
	@$(BIN)/wholecall check
	@echo '== Random walks over every machine, and over whole responses =='
	@$(BIN)/pytest -q --no-header -p no:cacheprovider generated/wholecall_generated/test_machines.py
	@echo
	@echo '== An agent on the guard: one task over HTTP, done twice and refused once =='
	@$(BIN)/python tests/demo.py
	@echo
	@echo 'Why each stream was judged so: open diagrams/identity.svg, then diagrams/overview.svg.'
	@echo 'Every row with its reason and source: generated/reference.md'

# Many tests wait for a process of their own: three at a time keep two cores busy.
test: $(READY)
	$(BIN)/pytest -q --numprocesses 3 --dist worksteal --cov --cov-report=term

# A second opinion: TLC counts the states of generated/wholecall.tla, beside the explorer. It needs Java 11+.
# FORMAL=3 leaves out the two largest of five scopes, which take TLC two minutes.
formal: $(READY)
	@command -v java >/dev/null || { echo 'make formal runs TLC, which needs java (11 or later) on the PATH' >&2; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[formal]'
	$(BIN)/python tests/formal.py $(FORMAL)

# Real clients, in environments of their own: what `wholecall matrix` drives. Node's needs npm, and is left out without.
clients: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[clients]'
	$(BIN)/python -c 'from wholecall.clients.install import main; main()'

# CASES='FILE...' asks what these hold besides.
matrix: $(READY)
	$(BIN)/wholecall matrix $(CASES)

bench: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench,formal]'
	$(BIN)/python tests/bench/reading.py
	@echo
	$(BIN)/python tests/bench/ledger.py
	@echo
	PYTHONPATH=tests $(BIN)/python tests/bench/exploring.py
	@echo
	$(BIN)/python tests/bench/fuzzing.py

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)
	$(BIN)/mypy
