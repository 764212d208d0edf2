# `make` lists the verbs. Each verb sets up what it needs: a fresh Debian machine has only make.

export PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
DJANGO := DJANGO_SETTINGS_MODULE=tests.dashboard.settings $(PY) manage.py
UV := UV_PYTHON_DOWNLOADS=never VIRTUAL_ENV=$(VENV) $(VENV)/bin/uv
JOBS ?= 2
# More than there are cores: the tests on clusters mostly wait.
TESTERS ?= 4
# What `make run` hands on as it stands, quotes and all.
export PORT ?= 8000
export NAMESRV ?=
export WRITABLE ?=
export CLUSTER ?=
WORDS := $(wildcard dashboard/locale/*/LC_MESSAGES/*.po)
# What the checks and tests start besides Python.
TOOLS := git java maven node postgres openssl chromium

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the verbs
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

# ---- the two commands of the README ----

.PHONY: run
run: install ## start Evenkeel with its demo, or over a cluster (NAMESRV=host:port;host:port, CLUSTER=name, PORT=, WRITABLE=yes)
	@case "$$WRITABLE" in yes) set -- --writable ;; no|'') ;; *) echo "WRITABLE=$$WRITABLE: needed is yes or no" >&2; exit 2 ;; esac; \
	if [ -n "$$CLUSTER" ]; then set -- --cluster "$$CLUSTER" "$$@"; fi; \
	exec $(PY) manage.py up --port "$$PORT" --namesrv "$$NAMESRV" "$$@"

.PHONY: test
test: debs check ## run the checks, then every test
	$(PY) tests/again.py -n $(TESTERS) --durations=40

.PHONY: test-all
test-all: debs check ## the same, with RocketMQ 5.3.3 besides 5.5.0 and 4.9.7
	EVENKEEL_TEST_ALL=1 $(PY) tests/again.py -n $(TESTERS)

.PHONY: rocketmq
rocketmq: debs install ## fetch the released RocketMQ servers and clients that tests start
	$(PY) -m tests.cluster fetch

# ---- setting up ----

.PHONY: install
install: $(VENV)/.installed $(VENV)/.words ## make the virtual environment from requirements.lock

$(VENV)/bin/python:
	@.ci/debs python
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else \
		"Evenkeel needs Python 3.11 to 3.13, and $(PYTHON) is %d.%d. Another one: make PYTHON=..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	@rm -f $(VENV)/.locked

# uv is twice as fast as pip, but reads no pip configuration: where it finds no registry, pip installs the same lock
$(VENV)/.locked: requirements.lock | $(VENV)/bin/python
	$(PY) -m pip install --quiet uv==0.13.8 || true
	$(UV) pip install --require-hashes -r $< || $(PY) -m pip install --require-hashes -r $<
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.locked
	$(UV) pip install --no-deps --no-build-isolation -e . || $(PY) -m pip install --no-deps --no-build-isolation -e .
	@touch $@

# what pages are read from in other languages: compiled here, so that nothing is when they run
$(VENV)/.words: $(WORDS) $(VENV)/.locked
	@$(PY) -m dashboard.common.catalogues
	@touch $@

.PHONY: debs
debs: ## install missing Debian packages (as root), or say what goes without them
	@.ci/debs $(TOOLS)

# ---- working on it ----

.PHONY: check
check: install ## check format, lint, types, import floors, templates and JavaScript
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo
	$(DJANGO) check --database default --fail-level WARNING
	$(DJANGO) makemigrations --check --dry-run
	$(PY) -m tests.house.check_templates
	$(PY) -m tests.house.check_javascript

.PHONY: fmt
fmt: install ## format the Python files, and mend what lint can mend
	$(VENV)/bin/ruff check --fix-only
	$(VENV)/bin/ruff format

.PHONY: test-fast
test-fast: install ## run the tests that need neither Java, Spark, a browser nor patience
	$(PY) -m pytest -n $(TESTERS) -m "not (java or spark or browser or slow)"

.PHONY: bench
bench: debs install ## measure speed side by side with RocketMQ's and Kafka's Java classes
	$(PY) -m tests.bench

.PHONY: fuzz
fuzz: install ## feed the wire protocol a million hostile frames and bodies (CASES=, FIRST=)
	$(PY) -m tests.rebalance_engine.remoting.fuzz --cases $(or $(CASES),1000000) --first $(or $(FIRST),0)

.PHONY: soak
soak: install ## run 10,000 simulated clusters with faults (SEEDS=, FIRST=)
	$(PY) -m rebalance_engine simulate --seeds $(or $(SEEDS),10000) --first $(or $(FIRST),0) --jobs $(JOBS)

.PHONY: messages
messages: install ## find new words of pages for dashboard/locale; says what is to be translated
	$(PY) -m tests.house.messages
	@$(MAKE) --no-print-directory install

.PHONY: lock
lock: install ## write requirements.lock anew from requirements.in
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		requirements.in --output-file requirements.lock

.PHONY: clean
clean: ## remove everything that make made, the virtual environment included
	rm -rf $(VENV) build $(WORDS:.po=.mo) *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
