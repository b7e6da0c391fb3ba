# Each target makes the virtual environment that it needs, and again when pyproject.toml has changed.

# Any Python from 3.11 to 3.13: make demo PYTHON=python3.12
PYTHON ?= python3
export TF_CPP_MIN_LOG_LEVEL ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# The project is installed as users do it, so that a change in it means to install it again.
SOURCES := pyproject.toml README.md $(shell find zoo -type f -not -name '*.pyc')

# One peer at one piece of work: make bench PEERS=hf WORK=tiny-greedy ROUNDS=1 SAVE=runs/bench.json
PEERS ?= torch hf ct2 kerashub
WORK ?=
ROUNDS ?= 3
SAVE ?=
# How long the server stays under load: make bench-serving MINUTES=1
MINUTES ?=
PACKAGES_torch := torch==2.13.0 transformers
PACKAGES_ct2 := ctranslate2
PACKAGES_kerashub := keras-hub tensorflow
# What HuggingFace offers runs on PyTorch, in the same environment.
BENCH_ENVIRONMENTS = $(patsubst %,.venv-bench-%/installed,$(sort $(patsubst hf,torch,$(PEERS))))

# The browser that make test-browser starts.
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

COMPATIBLE := tensorflow==2.20.* tensorflow-text==2.20.* tensorflow-serving-api==2.20.*

.DEFAULT_GOAL := help
.PHONY: help demo test test-learning test-served test-compat test-docker test-gpu test-browser check format bench bench-serving clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*##  */\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "make %-13s  %s\n", $$1, $$2}'

demo: .venv/installed  ## Train on dates, export, verify, serve and ask; all from nothing
	.venv/bin/zoo demo

test: .venv-test/installed  ## Run all tests
	.venv-test/bin/python -m pytest --numprocesses=auto --dist=loadfile

test-learning: .venv-test/installed  ## Train every row of the table of learners, and print what each learned
	LEARN=all .venv-test/bin/python -m pytest -s tests/models/test_learning.py

test-served: .venv-test/installed  ## Export and serve every model of the contract tables, and ask each
	SERVE=all .venv-test/bin/python -m pytest tests/system/test_every_model.py

test-compat: .venv-test/installed .venv-compat/installed  ## Check exports under TensorFlow 2.20, which serves them
	rm -rf build/compat
	.venv-test/bin/python tests/compat/make_export.py build/compat
	set -e; for export in build/compat/tiny/1 $(wildcard saved_models/dates/[0-9]*); do \
		.venv-compat/bin/python -m zoo.verify $$export; \
	done

test-docker: .venv-test/installed  ## Ask TensorFlow Serving in a container; needs a Docker engine
	.venv-test/bin/python -m pytest tests/docker/container.py tests/docker/client_suite.py

test-gpu: .venv-gpu/installed  ## Check training on a GPU, through cuDNN; needs an NVIDIA GPU, and fails without
	.venv-gpu/bin/python -m pytest tests/gpu/cudnn.py

test-browser: .venv-browser/installed  ## Click through the studio; needs Chromium, whose path CHROMIUM= tells
	CHROMIUM="$(CHROMIUM)" .venv-browser/bin/python -m pytest tests/browser/clicks.py tests/browser/troubles.py

check: .venv-check/installed  ## Check style, format and types
	.venv-check/bin/ruff check
	.venv-check/bin/ruff format --check
	.venv-check/bin/mypy

format: .venv-check/installed  ## Bring the code into form
	.venv-check/bin/ruff check --fix
	.venv-check/bin/ruff format

bench: .venv/installed $(BENCH_ENVIRONMENTS)  ## Time the zoo beside its peers; PEERS= and WORK= choose some
	.venv/bin/python -m benchmarks.bench --peers $(PEERS) --work $(WORK) --rounds $(ROUNDS) $(addprefix --save ,$(SAVE))

bench-serving: .venv/installed  ## Time the embedded server, load it, break it; writes docs/serving.md
	.venv/bin/python -m benchmarks.serving $(addprefix --minutes ,$(MINUTES))

clean:  ## Remove environments and build outputs; trained and exported models stay
	rm -rf .venv .venv-test .venv-check .venv-compat .venv-gpu .venv-browser .venv-bench-* build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

.venv/installed: $(SOURCES)
	$(call make_environment,.venv)
	.venv/bin/python -m pip install .
	@touch $@

.venv-test/installed: pyproject.toml
	$(call make_environment,.venv-test)
	.venv-test/bin/python -m pip install --quiet --editable '.[test]'
	@touch $@

.venv-browser/installed: pyproject.toml
	@test -x "$(CHROMIUM)" || { echo "make: there is no Chromium here, so the studio was not clicked through." \
		"Install one (on Debian: apt-get install chromium)," \
		"or name it with: make test-browser CHROMIUM=/path/to/chrome" >&2; exit 1; }
	$(call make_environment,.venv-browser)
	.venv-browser/bin/python -m pip install --quiet --editable '.[browser]'
	@touch $@

.venv-check/installed: pyproject.toml
	$(call make_environment,.venv-check)
	.venv-check/bin/python -m pip install --quiet --editable '.[check]'
	@touch $@

.venv-compat/installed: $(SOURCES) Makefile
	$(call make_environment,.venv-compat)
	.venv-compat/bin/python -m pip install --quiet $(COMPATIBLE)
	.venv-compat/bin/python -m pip install --quiet --no-deps .
	@touch $@

# The libraries of CUDA are large: they are fetched only where they can be used.
.venv-gpu/installed: pyproject.toml
	@nvidia-smi --list-gpus || { echo "make: nvidia-smi lists no GPU on this machine, so nothing was checked:" \
		"neither that cuDNN and our own loop are equal, nor mixed precision, nor a recipe trained on a GPU." \
		"This needs an NVIDIA GPU and its driver." >&2; exit 1; }
	$(call make_environment,.venv-gpu)
	.venv-gpu/bin/python -m pip install --quiet --editable '.[test,gpu]'
	@touch $@

.venv-bench-%/installed: Makefile
	$(call make_environment,.venv-bench-$*)
	.venv-bench-$*/bin/python -m pip install --quiet $(PACKAGES_$*)
	@touch $@

# setuptools packs what an earlier build left in build/lib, even what the sources no longer have.
define make_environment
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
		echo "make: $(PYTHON) must be Python 3.11 to 3.13 with the modules venv and ensurepip" \
			"(on Debian and Ubuntu: apt-get install python3-venv)." \
			"Name another one with: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 1; }
	@rm -rf build/lib
	$(PYTHON) -m venv $(1)
endef
