# From a configuration to a paper. What is asked stands in config/, how it is computed in
# src/lowpass; here stand only the order of the work and the environment it runs in.
import gc
import os
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27.1")

# Jobs run the interpreter, the code and the libraries that read this file, on one thread each.
SOURCE = str(Path(workflow.basedir).resolve() / "src")
sys.path.insert(0, SOURCE)
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
os.environ["PYTHONPATH"] = SOURCE
# Nothing is compiled beside the source.
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

# What is planned are many objects and hardly any garbage to look for among them.
gc.set_threshold(100_000)

from lowpass.loading import import_from_source

import_from_source()

from lowpass.answering import answers

plan = answers(workflow, os.environ)

if workflow.is_main_process:
    from lowpass.remote.failures import Failures
    from lowpass.report import Forgetting

    # What the pages of the report ask, through the one name that Snakemake hands them.
    config["plan"] = plan
    failures = Failures()
    logger.addFilter(Forgetting())
    logger.addFilter(failures)


# Where a job on another machine finds the plan of the run that sent it.
envvars:
    "LOWPASS_PLAN",


# On this machine the log of a job says it, and is shown.
onerror:
    if not workflow.local_exec:
        failures.tell()


report: "workflow/report/workflow.rst"


localrules:
    all,
    figure,
    judge,
    typeset,
    publish,


wildcard_constraints:
    name=r"[^/]+~[0-9a-f]{12}",


rule all:
    default_target: True
    input:
        plan.published(),


for stage in ("data", "attention", "diffusion", "smoothing", "spectra", "experiment"):

    include: f"workflow/rules/{stage}.smk"


for product in ("figures", "claims", "paper", "publish"):

    include: f"workflow/rules/{product}.smk"


include: "workflow/rules/targets.smk"
