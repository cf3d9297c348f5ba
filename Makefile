# One command each for what one does here. A fresh machine needs Python 3.12 or 3.11 with venv (of Debian the package
# python3-venv) and make, no more; GnuPG and Node let the tests with other OpenPGP programs run as well; AWS's own engine
# and the model need Java 17 and Maven.

# The functions run on 3.12, so it is the first choice. Each candidate is tried, since a name may be there that
# runs nothing: pyenv's, while another version is chosen. `make python` fetches the third one.
FETCHED := .python/org/bytedeco/cpython/linux-x86_64/bin/python3.12
PYTHON := $(shell for python in python3.12 $(wildcard $(PYENV_ROOT)/versions/3.12.*/bin/python3.12) \
	$(wildcard $(CURDIR)/$(FETCHED)) python3.11 python3 python; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' \
	2>/dev/null && echo $$python && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
ENGINE ?= moto
PROVE ?= few
SHARE ?= 1
ARGS ?=

# Compiled files are kept, also where the environment says otherwise: each of the processes that tests start would
# compile all of them again.
export PYTHONDONTWRITEBYTECODE :=

# Only `make test` leaves out tests, never `make prove`.
unexport SHARE

# What is imported is compiled then; most is never imported, and compiling it is a third of the work of installing.
INSTALL := install --quiet --disable-pip-version-check --no-compile

SERVING := $(VENV)/serving.stamp
DEVELOPING := $(VENV)/developing.stamp
CLOUD := .venv-cloud/stamp
BROWSER := .venv-browser/stamp
CHECKOV := .venv-checkov/stamp
AXE := tests/browser/node_modules/axe-core/axe.min.js
EXTENSION := .extension/stamp
DYNAMODB := .dynamodb-local/stamp
MODEL := .model/stamp
# One of the clients needs Python 3.12; its tests are skipped where that does not run.
NEWER := $(if $(filter 3.12.%,$(shell $(PYTHON) --version 2>/dev/null)),,tests/clients/edwh-passbolt-plugin.txt)
CLIENTS := $(patsubst tests/clients/%.txt,.venv-clients/%/stamp,$(filter-out $(NEWER),$(wildcard tests/clients/*.txt)))

PROVED := tests/services tests/properties tests/crypto/test_mutants.py tests/api/test_warm.py tests/model_schedules
ifeq ($(ENGINE),dynamodb-local)
# It listens to every network there is: the tests get one of their own, with nothing but a loopback.
ALONE := unshare --map-root-user --net sh -c 'ip link set lo up && exec "$$@"' alone env
PROVED := @tests/dynamodb_local/sample.txt tests/services/groups/test_groups.py tests/services/deletion/test_group_deletion.py tests/api
PREPARED := $(DYNAMODB)
endif

define NEEDS_PYTHON
test -n "$(PYTHON)" || { echo "Keyhaven needs Python 3.12 or 3.11, and none of them runs on this machine."; exit 1; }
endef

.DEFAULT_GOAL := help
.PHONY: help setup python version serve quick test prove check bench format openapi docs hashes build test-cloud test-dynamodb test-browser model checkov

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(DEVELOPING) $(CLIENTS) ## install what developing and testing need, in .venv and .venv-clients

python: $(FETCHED) ## fetch Python 3.12 for a machine that has none: Linux on x86_64, with Java and Maven

version: # of the Python that is used
	@$(NEEDS_PYTHON)
	@$(PYTHON) --version

serve: $(SERVING) ## serve on this machine; PORT= DATA= DIALECT= ADMIN= FIRST_NAME= LAST_NAME=, see README.md
	@$(BIN)/python -m infra.local_server

quick: $(DEVELOPING) ## run the tests of parts and of a few endpoints, in a minute; PYTHON=, VENV= for another Python
	ENGINE=embedded $(BIN)/python -m pytest @tests/quick.txt $(ARGS)

test: setup $(PREPARED) ## run the tests; ENGINE=moto, embedded or dynamodb-local, PROVE=some for more, SHARE=4 for a quarter, ARGS= for pytest
	$(ALONE) PROVE=$(PROVE) SHARE=$(SHARE) ENGINE=$(ENGINE) $(BIN)/python -m pytest $(ARGS)

prove: setup $(PREPARED) ## the sweeps, races and models, at full length; ENGINE=, ARGS= as for test
	$(ALONE) PROVE=all ENGINE=$(ENGINE) $(BIN)/python -m pytest $(PROVED) $(ARGS)

test-dynamodb: ## run a sample on AWS's own engine; ARGS= for pytest
	$(MAKE) --no-print-directory test ENGINE=dynamodb-local ARGS="@tests/dynamodb_local/sample.txt $(ARGS)"

model: $(DEVELOPING) $(if $(shell command -v java),$(MODEL)) ## check the model of changes of many rows, and each of its conditions
	@$(BIN)/python -m infra.model

test-cloud: setup $(CLOUD) ## deploy to a mock, and create whole stacks in a local cloud; ARGS= for pytest
	$(BIN)/python -m pytest tests/cloud -m cloud -n 0 $(ARGS)
	$(BIN)/python -m pytest tests/infra_cloud -m cloud $(ARGS)

test-browser: $(BROWSER) $(if $(shell command -v npm),$(AXE) $(EXTENSION)) ## open pages in Debian's Chromium, and the browser extension; pictures are in build/pictures; ARGS= for pytest
	.venv-browser/bin/python -m pytest tests/browser -m browser -n 0 $(ARGS)

check: $(DEVELOPING) ## format, lint, types, imports, templates; changes nothing
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m infra check

checkov: $(DEVELOPING) $(CHECKOV) ## hold the templates against the rules of checkov, some minutes
	$(BIN)/python -m infra check --into .venv-checkov/templates
	.venv-checkov/bin/checkov --config-file infra/checks/checkov.yaml --directory .venv-checkov/templates

bench: $(DEVELOPING) ## measure the service on this machine
	$(BIN)/python -m bench

format: $(DEVELOPING) ## format the code
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

openapi: $(DEVELOPING) ## write the description of the API from the code, for programs and for people
	$(BIN)/python -m infra.describe.openapi
	$(BIN)/python -m infra.describe.readable

docs: $(DEVELOPING) ## write docs/endpoints.md, tables.md, modules.md, iam.md, quotas.md, costs.md and log-events.schema.json, and the shapes of templates, from the code
	$(BIN)/python -m infra.describe.docs
	$(BIN)/python -m infra.describe.shapes

hashes: $(DEVELOPING) ## after a change of requirements.txt: write down what the layer is made from
	$(BIN)/python -m infra.bundle.hashes

build: $(DEVELOPING) ## write code, layer and templates for the cloud into build/
	$(BIN)/python -m infra build

$(SERVING): requirements-serve.txt requirements.txt | $(BIN)/keyhaven
	$(BIN)/pip $(INSTALL) -r $<
	@touch $@

$(DEVELOPING): requirements-dev.txt requirements-serve.txt requirements.txt | $(BIN)/keyhaven
	$(BIN)/pip $(INSTALL) -r $<
	@touch $@ $(SERVING)

# A link to this folder, so that the command works from any other and runs what stands here.
$(BIN)/keyhaven: pyproject.toml | $(BIN)/pip
	$(BIN)/pip $(INSTALL) --no-deps --editable .
	@touch $@

$(BIN)/pip:
	@$(NEEDS_PYTHON)
	$(PYTHON) -m venv $(VENV)

$(CLOUD): requirements-cloud.txt infra/bundle/runtime.py
	@$(NEEDS_PYTHON)
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip $(INSTALL) -r $<
	@touch $@

$(BROWSER): requirements-browser.txt requirements-dev.txt requirements-serve.txt requirements.txt
	@$(NEEDS_PYTHON)
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip $(INSTALL) -r $<
	@touch $@

$(CHECKOV): requirements-checkov.txt
	@$(NEEDS_PYTHON)
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip $(INSTALL) -r $<
	@touch $@

$(AXE): tests/browser/package.json tests/browser/package-lock.json
	npm ci --prefix tests/browser --silent --no-audit --no-fund
	@touch $@

$(EXTENSION): $(addprefix tests/browser/extension/,build.sh package.json package-lock.json)
	tests/browser/extension/build.sh $(@D) >$(@D).log 2>&1 || { cat $(@D).log; exit 1; }
	@touch $@

$(FETCHED): infra/python/pom.xml
	@command -v mvn >/dev/null || { echo "Python 3.12 is fetched by Maven, which is not on this machine."; exit 1; }
	mvn --quiet --batch-mode --file $< dependency:unpack-dependencies -Dfolder=$(CURDIR)/.python
	@chmod +x $@ && ln -sf ../../libffi.so.7 $(@D)/../lib/python3.12/ && touch $@

$(DYNAMODB): tests/dynamodb_local/pom.xml
	@command -v mvn >/dev/null || { echo "DynamoDB Local is fetched by Maven, which is not on this machine."; exit 1; }
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -Djars=$(CURDIR)/$(@D)
	@touch $@

$(MODEL): infra/model/pom.xml
	@command -v mvn >/dev/null || { echo "TLC is fetched by Maven, which is not on this machine."; exit 1; }
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -Djars=$(CURDIR)/$(@D)
	@touch $@

.venv-clients/%/stamp: tests/clients/%.txt
	@$(NEEDS_PYTHON)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip $(INSTALL) -r $<
	@touch $@
