"""Who answers the rules' questions: the plan of this run, or that of the run that sent this job."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from lowpass.ending import refuse
from lowpass.registry import Refusal
from lowpass.remote.handing import VARIABLE, Handed

if TYPE_CHECKING:
    from lowpass.rules import Rules


def answers(workflow: Any, environment: MutableMapping[str, str]) -> Rules | Handed:
    """Plan, or read the plan of a job; a refusal ends the reading of the Snakefile with one line.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    environment : mutable mapping
        Variables that jobs on other machines see as this process does, such as ``os.environ``.
    """
    if workflow.remote_exec:
        try:
            return Handed.read(environment.get(VARIABLE, ""))
        except Refusal as refusal:
            refuse(refusal)
    # Here, so that a job on another machine does without what only planning needs.
    from lowpass.rules import Rules

    environment[VARIABLE] = ""
    return Rules.of(workflow, environment)
