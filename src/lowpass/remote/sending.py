"""What a run does once, before it sends its first job to another machine."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from lowpass.remote.handing import VARIABLE, hand_over
from lowpass.remote.readiness import given_to_all, refuse_unready, sent_by_slurm

# What the jobs of one run are called in the queue, where the profile does not name them itself.
RUN = "LOWPASS_RUN"


def prepare(
    workflow: Any,
    environment: MutableMapping[str, str],
    answers: Callable[[], Mapping[str, Any]],
    config: Path,
    *,
    alone: bool,
) -> None:
    """Make sure that a run can send its jobs, and tell these their plan; a local run has none.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    environment : mutable mapping
        Variables that the jobs will see.
    answers : callable
        Gives what the jobs have to know, see `lowpass.remote.handing.hand_over`.
    config : Path
        The configuration file that was planned.
    alone : bool
        Whether no other run is at work here.

    Raises
    ------
    Refusal
        When jobs are sent by Slurm, and it is not there or has no such account or partition.
    """
    if workflow.local_exec:
        return
    if sent_by_slurm(workflow):
        refuse_unready(workflow.executor_plugin.name, given_to_all(workflow))
    environment[RUN] = f"lowpass_{uuid.uuid4()}"
    environment[VARIABLE] = str(hand_over(answers(), config, alone=alone))
