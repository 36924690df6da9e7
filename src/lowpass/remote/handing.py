"""The plan as a run hands it to the jobs that it sends to other machines.

There each job starts Snakemake anew. Were it to plan anew, it would take the
configuration of that moment for the one it was sent with, and as long as the
whole plan takes, once for every job. So a run writes its answers to the rules'
questions into one file, and its jobs read them there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lowpass.ending import refuse
from lowpass.records import canonical, sha256
from lowpass.registry import Refusal
from lowpass.writing import put

# A run tells its jobs the path of its plan in this variable of the environment.
VARIABLE = "LOWPASS_PLAN"
FOLDER = Path(".snakemake/lowpass-plans")


def hand_over(answers: Mapping[str, Any], config: Path, *, alone: bool) -> Path:
    """Write the plan of a run for its jobs.

    Parameters
    ----------
    answers : mapping
        ``rows``: of every product, by stage and name, the inputs, recipe, fingerprint and
        resources; ``published``: the fixed names.
    config : Path
        The configuration file they come from.
    alone : bool
        Whether no other run is at work here, so that nobody reads older plans any more.

    Returns
    -------
    Path
        The file, named after its content.
    """
    mark = [str(config), sha256(config.read_bytes())]
    content = canonical({**answers, "config": mark}).encode()
    path = FOLDER / f"{sha256(content)[:12]}.json"
    for other in FOLDER.glob("*.json") if alone else ():
        other.unlink(missing_ok=True)
    put({path: content})
    return path


class Handed:
    """Answer the rules' questions in a job, from the plan of the run that sent it.

    Parameters
    ----------
    rows : mapping
        For every product, by stage and name, its inputs, recipe, fingerprint and resources.
    published : sequence of str
        The fixed names.
    """

    # Names for a person to ask for; nobody asks a job.
    experiments: Sequence[str] = ()

    def __init__(self, rows: Mapping[str, Mapping[str, Any]], published: Sequence[str]) -> None:
        self._rows = rows
        self._published = published

    @classmethod
    def read(cls, path: str) -> Handed:
        """Read a plan, unless its configuration is no longer the one that was planned.

        Raises
        ------
        Refusal
            When no plan was handed over, or its configuration has changed since.
        """
        if not path:
            raise Refusal(
                f"this job was not told its plan, which the run that sent it names in {VARIABLE}; "
                f"let the scheduler hand the environment on (sbatch --export=ALL, qsub -V)."
            )
        try:
            held = json.loads(Path(path).read_bytes())
        except OSError as fault:
            raise Refusal(
                f"{path}: the plan that this job was sent with cannot be read ({fault.strerror}); "
                f"a later run took its place. Run again."
            ) from None
        config, mark = held["config"]
        now = sha256(Path(config).read_bytes()) if os.path.exists(config) else "no file"
        if now != mark:
            raise Refusal(
                f"{os.path.relpath(config)}: it was edited after this job was planned (sha256 "
                f"{mark[:12]} was planned, {now[:12]} is there), so the job was not run. Run again."
            )
        return cls(held["rows"], held["published"])

    def _row(self, stage: str, name: str) -> Mapping[str, Any]:
        row = self._rows.get(f"{stage}/{name}")
        if row is None:
            refuse(f"results/{stage}/{name}: it is not in this job's plan. Run again.")
        return row

    def parents(self, stage: str, name: str) -> list[str]:
        """List the files a job reads."""
        return self._row(stage, name)["parents"]

    def recipe(self, stage: str, name: str) -> str:
        """Give what is asked of a job, as canonical JSON."""
        return self._row(stage, name)["recipe"]

    def code(self, stage: str, name: str) -> str:
        """Give the fingerprint of the code that was planned."""
        return self._row(stage, name)["code"]

    def memory(self, stage: str, name: str, attempt: int) -> int:
        """Estimate a job's memory in MB, more on every attempt."""
        return self._row(stage, name)["memory"] * attempt

    def minutes(self, stage: str, name: str) -> int:
        """Bound a job's run time in minutes."""
        return self._row(stage, name)["minutes"]

    def published(self) -> list[str]:
        """List the fixed names."""
        return [*self._published]

    # What only the run itself asks.

    def targets(self, what: str) -> list[str]:
        """List nothing; a job's target is its product."""
        return []

    def gathered(self) -> list[str]:
        """List nothing; the fixed names are made where the run is."""
        return []

    def publication(self) -> str:
        """Name nothing; the fixed names are made where the run is."""
        return ""

    def section(self, name: str) -> str:
        """Name no section; the report is made where the run is."""
        return ""

    def labels(self, name: str) -> dict[str, str]:
        """Label nothing; the report is made where the run is."""
        return {}
