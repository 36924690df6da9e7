"""Who answers the rules' questions: the plan of this run, or that of the run that sent this job."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from lowpass.registry import Refusal
from lowpass.remote.handing import VARIABLE, Handed

if TYPE_CHECKING:
    from lowpass.rules import Rules


def answers(workflow: Any) -> Rules | Handed:
    """Plan, or read the plan of a job; a refusal ends the reading of the Snakefile with one line.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    """
    if workflow.remote_exec:
        try:
            return Handed.read(os.environ.get(VARIABLE, ""))
        except Refusal as refusal:
            sys.exit(f"lowpass: {' '.join(str(refusal).splitlines())}")
    # Here, so that a job on another machine does without what only planning needs.
    from lowpass.rules import Rules

    os.environ[VARIABLE] = ""
    return Rules.of(workflow)
