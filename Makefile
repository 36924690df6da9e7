# Two commands matter: `make paper` and `make test`. Everything runs in .venv, which is built
# from the hashed locks when it is missing, and again when a lock has changed.

PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
# Through the interpreter: the scripts in .venv/bin stop working when the folder is moved.
RUN := .venv/bin/python -m
# PROFILE=slurm sends jobs to a cluster, which counts cores by itself.
PROFILE ?=
# A line for each job; what made it run is the answer to another question.
SNAKEMAKE = $(RUN) snakemake --quiet host reason \
  $(if $(PROFILE),--profile profiles/$(PROFILE),--cores $(CORES)) $(ARGS)
# A stamp is named after what the locks say, so touching or checking them out installs nothing.
LOCKED := .venv/locked-$(shell cksum < requirements.txt | cut -d ' ' -f 1)
TESTED := .venv/tested-$(shell cat requirements.txt requirements-test.txt | cksum | cut -d ' ' -f 1)
CLUSTERED := .venv/cluster-$(shell cat requirements.txt requirements-cluster.txt | cksum | cut -d ' ' -f 1)
READY = $(if $(PROFILE),$(CLUSTERED),$(LOCKED))

# Compiled files are matched by whole second and size, so an import could miss an edit that
# the fingerprint sees.
export PYTHONDONTWRITEBYTECODE := 1
export PYTHONPATH := $(CURDIR)/src
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# One thread per process: the cores go to jobs, and sums keep one order.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: help paper smoke report explain trace verify gc resources describe test test-workflow test-cluster soak bench lint lock clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' Makefile

paper: $(READY)  ## recompute what changed and typeset the paper; PROFILE=slurm on a cluster
	$(SNAKEMAKE) -- paper
	$(if $(ARGS),,$(RUN) lowpass verify || true)

smoke: $(READY)  ## run the whole workflow on a configuration of seconds
	$(SNAKEMAKE) --directory smoke --configfile config/smoke.yaml

report: paper  ## write report/report.html, the results for a browser
	mkdir -p report
	$(SNAKEMAKE) --report "$(CURDIR)/report/report.html" \
	  --report-stylesheet "$(CURDIR)/workflow/report/report.css"

explain: $(LOCKED)  ## say what make paper would run, and why; ARGS=--all names every product
	$(RUN) lowpass explain $(ARGS)

trace: $(LOCKED)  ## tell where a result comes from: KEY=3f9a2c1b07de or FILE=path
	$(if $(KEY)$(FILE),,$(error lowpass: trace needs a result; name it with KEY= or FILE=))
	$(RUN) lowpass trace "$(or $(KEY),$(FILE))" $(ARGS)

verify: $(LOCKED)  ## compare results with the expected ones; ARGS=--accept expects what is there
	$(RUN) lowpass verify $(ARGS)

describe: $(LOCKED)  ## write what a configuration may say: its schema, and config/README.md
	$(RUN) lowpass describe

gc: $(LOCKED)  ## list results that no configuration plans; ARGS=--paths for xargs rm
	$(RUN) lowpass gc $(ARGS)

resources: $(LOCKED)  ## say what jobs are estimated to need, and what they used; ARGS=--json: each
	$(RUN) lowpass resources $(ARGS)

test: $(TESTED)  ## run the tests; ARGS="-k softmax" chooses some
	$(RUN) pytest -q -n 2 --dist loadscope --ignore tests/workflow --ignore tests/cluster $(ARGS)

test-workflow: $(TESTED)  ## run the tests that compute whole papers: edit, kill, fill disks
	$(RUN) pytest -q -n 2 --dist loadscope tests/workflow $(ARGS)

test-cluster: $(TESTED) $(CLUSTERED)  ## run the tests that need a Slurm, on one that they start
	$(RUN) pytest -q tests/cluster $(ARGS)

soak: $(TESTED)  ## kill twenty runs at random moments, and edit every definition that results reach
	LOWPASS_KILLS=$(or $(KILLS),20) $(RUN) pytest -q -n 2 tests/workflow/test_kills.py $(ARGS)
	FINGERPRINT_MUTANTS=all $(RUN) pytest -q tests/fingerprint/test_real.py $(ARGS)

bench: $(LOCKED)  ## measure against alternatives; ARGS="layers --long" chooses a topic, and all sizes
	$(RUN) tests.benchmarks $(ARGS)

lint: $(TESTED)  ## check style, layout and types
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) pyright
	$(RUN) snakefmt --check $(wildcard Snakefile workflow/rules/*.smk)

lock: $(LOCKED)  ## pin requirements*.in anew; ARGS=--upgrade takes newer releases
	$(LOCK) requirements.in --output-file requirements.txt
	$(LOCK) requirements-test.in --output-file requirements-test.txt
	$(LOCK) requirements-cluster.in --output-file requirements-cluster.txt

clean:  ## remove results and logs, never .venv
	rm -rf results smoke report logs bench .snakemake .pytest_cache .ruff_cache .hypothesis

# One version of each package for every Python and platform, and the name of no host.
LOCK = $(RUN) uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
  --generate-hashes --no-emit-index-url --no-emit-find-links \
  --custom-compile-command "make lock" $(ARGS)

$(LOCKED): | .venv/bin/python
	rm -f .venv/locked-* .venv/tested-* .venv/cluster-*
	$(call install,requirements.txt)
	echo ../../../../src > "$$(.venv/bin/python -c $(PURELIB))/lowpass.pth"
	touch $@

$(TESTED): $(LOCKED)
	rm -f .venv/tested-* .venv/cluster-*
	$(call install,requirements.txt requirements-test.txt)
	touch $@

# Only added: who computes on one machine is spared the second that each plugin takes to load.
$(CLUSTERED): $(LOCKED)
	rm -f .venv/cluster-*
	$(RUN) pip install --quiet --require-hashes --only-binary :all: -r requirements-cluster.txt
	touch $@

# One line there lets .venv/bin/python import lowpass; it is relative, so the folder may move.
PURELIB = 'import sysconfig; print(sysconfig.get_path("purelib"))'

# Make .venv hold exactly what the locks name: by uv, or by pip where uv has no wheel or fails.
# Packages are compiled here, once, since nothing is compiled later.
UV_SYNC = uv pip sync --system-certs --require-hashes --compile-bytecode --python .venv
define install
	$(RUN) ensurepip > .venv/ensurepip.log
	sed -n '/^uv==/,/[^\\]$$/p' requirements.txt > .venv/uv.txt
	$(RUN) pip install --quiet --require-hashes --only-binary :all: -r .venv/uv.txt && \
	$(RUN) $(UV_SYNC) $(1) || $(RUN) pip install --require-hashes $(addprefix -r ,$(1))
endef

.venv/bin/python:
	$(call needs,import sys,$(ABSENT))
	$(call needs,import sys; sys.exit(sys.hexversion < 0x030b0000),$(OLD))
	$(call needs,import venv,$(call lacks,venv))
	$(call needs,import ensurepip,$(call lacks,ensurepip))
	$(PYTHON) -m venv --clear --without-pip .venv

# Stop with one line, before anything is written, unless $(PYTHON) runs the statement $(1).
needs = $(if $(shell $(PYTHON) -c '$(1)' 2> /dev/null && echo yes),,\
  $(error lowpass: $(PYTHON) $(2)))
ABSENT = does not run. Install it (Debian: apt-get install python3 python3-venv) \
  or name another: make PYTHON=python3.12
OLD = is $(shell $(PYTHON) -V); make needs 3.11 or newer to build .venv. \
  Name one: make PYTHON=python3.12
lacks = has no module '$(1)'; make needs it to build .venv. \
  Install it (Debian: apt-get install python3-venv)
