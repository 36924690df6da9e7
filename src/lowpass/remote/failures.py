"""Why a job failed, said in one line.

Snakemake reports a failed job with its command and its files, and on a cluster
with a state of Slurm's. This module finds the cause in what Slurm and the two
logs of the job say of it.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lowpass.remote.slurm import Silent, ask

# Characters at the end of a log in which a cause is looked for.
SEARCHED = 4000
# What the log of a job of ours says when it refuses; other lines of ours are no sentences.
REFUSED = re.compile(r"^lowpass: (.+)\.$", re.MULTILINE)
# What sbatch says of a job that it does not take; Snakemake quotes it.
REJECTED = re.compile(r"^.*?sbatch: error: (.+?)\.?'?\.?$", re.MULTILINE)
# The error of a program; that it failed is what Snakemake says after it.
ERROR = re.compile(
    r"^(?!WorkflowError|RuleException|CalledProcessError)"
    r"(\w[\w.]*(?:Error|Exception|Interrupt|Exit)\b.*)$",
    re.MULTILINE,
)
ASKED = "State,NodeList,ReqMem,Timelimit"


class State(NamedTuple):
    """Hold what Slurm says of a job, as texts; all empty for a job that was not sent to it."""

    state: str = ""
    node: str = ""
    memory: str = ""
    limit: str = ""


# Causes by what betrays them: Slurm's state, or a text in a log of Slurm's or of the job.
STATES = {
    "OUT_OF_MEMORY": "memory",
    "TIMEOUT": "time",
    "NODE_FAIL": "node",
    "BOOT_FAIL": "node",
    "CANCELLED": "cancelled",
    "PREEMPTED": "cancelled",
}
TEXTS = {
    r"oom.kill|[Ee]xceeded .*memory limit|MemoryError|[Cc]annot allocate memory": "memory",
    r"DUE TO TIME LIMIT": "time",
    r"DUE TO NODE FAILURE|Task launch .* failed on node": "node",
    r"DUE TO PREEMPTION|CANCELLED AT": "cancelled",
    r"Unable to contact slurm controller": "away",
}


def cause_of(state: State, said: str) -> str:
    """Find why a job failed.

    Parameters
    ----------
    state : State
        What Slurm says of it.
    said : str
        What Snakemake says of it, and the ends of its logs, Slurm's and its own.

    Returns
    -------
    str
        One sentence without its end.
    """
    kind = STATES.get(state.state.split(" ")[0])
    kind = kind or next((TEXTS[text] for text in TEXTS if re.search(text, said)), None)
    refused, error = REFUSED.findall(said), ERROR.findall(said)
    if kind == "memory":
        return f"out of memory, with {state.memory or 'what there was'}{on(state.node)}"
    if kind == "time":
        return f"out of time, after {state.limit or 'its limit'}{on(state.node)}"
    if kind == "node":
        return f"its node failed{on(state.node)}"
    if kind == "away":
        return f"Slurm's controller did not answer{on(state.node)}"
    if rejected := REJECTED.findall(said):
        return f"Slurm did not take it: {'; '.join(rejected)}"
    if refused:
        return f"it refused: {refused[-1]}"
    if kind == "cancelled":
        return "somebody or the scheduler cancelled it"
    if error:
        return f"an error of the program: {error[-1]}"
    return "its program ended without a word, as it does when it is killed"


def on(node: str) -> str:
    """Name a node, if there is one."""
    return f" on {node}" if node and node != "None assigned" else ""


def state_of(number: str | None) -> State:
    """Ask Slurm for the state of a job; it may keep no accounts."""
    if not number:
        return State()
    command = ["sacct", "--jobs", number, "-X", "--noheader", "--parsable2", "--format", ASKED]
    try:
        lines = ask(command)
    except Silent:
        return State()
    return State(*lines[0].split("|")) if lines else State()


class Failed(NamedTuple):
    """Hold a product that is not there: the rule that makes it, how often it failed, and why."""

    rule: str
    times: int
    cause: str

    def told(self) -> str:
        """Say why, and what to do about it."""
        often = f" ({self.times} times)" if self.times > 1 else ""
        return f"{self.cause}{often}. {self.advice()}"

    def advice(self) -> str:
        """Say what to do about the cause."""
        if self.cause.startswith("out of memory"):
            return f"Give it more, and run again: --set-resources {self.rule}:mem_mb=MEGABYTES."
        if self.cause.startswith("out of time"):
            return f"Give it more, and run again: --set-resources {self.rule}:runtime=MINUTES."
        if self.cause.startswith("Slurm did not take it"):
            return (
                f"Ask for what its nodes have, and run again: --set-resources "
                f"{self.rule}:mem_mb=MEGABYTES {self.rule}:runtime=MINUTES."
            )
        if self.cause.startswith("it refused"):
            return "What was finished is kept."
        return "What was finished is kept; run again once the cause is mended."


class Failures(logging.Filter):
    """Add its cause to what Snakemake reports of each failed job, and sum all up at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._failed: dict[str, Failed] = {}
        # What a group's members share: its number in the queue, and Slurm's log of it.
        self._group: tuple[str | None, Sequence[str]] = (None, ())

    def filter(self, record: Any) -> bool:
        """Let every record through; that of a failed job says why it failed."""
        event = str(getattr(record, "event", ""))
        if event == "group_error":
            self._group = getattr(record, "external_jobid", None), record.aux_logs or ()
        if event == "job_error" and record.output:
            self._explain(record)
        return True

    def _explain(self, record: Any) -> None:
        number, logs = record.aux.get("external_jobid"), record.log or []
        if record.indent:
            number, shared = self._group
            logs = [*logs, *shared]
        product = record.output[0]
        before = self._failed.get(product)
        said = "\n".join([record.rule_msg or "", *map(end_of, logs)])
        # A job that refuses names its product, as the line does anyway.
        cause = cause_of(state_of(number), said).replace(f" {product}: ", " ")
        self._failed[product] = Failed(record.rule_name, (before.times if before else 0) + 1, cause)
        record.rule_msg = f"lowpass: {product}: {cause}. {record.rule_msg or ''}".strip()

    def tell(self) -> None:
        """Say at the end of a run which products are not there, and why."""
        for product, failed in self._failed.items():
            if not Path(product).exists():
                sys.stderr.write(f"lowpass: {product}: {failed.told()}\n")


def end_of(log: str) -> str:
    """Read the end of a log; nothing where there is none."""
    try:
        return Path(log).read_text(encoding="utf-8", errors="replace")[-SEARCHED:]
    except OSError:
        return ""
