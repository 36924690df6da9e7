"""Whether a run can send its jobs, said in one line where it cannot."""

from __future__ import annotations

import getpass
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from lowpass.registry import Refusal
from lowpass.remote.slurm import Silent, ask

# What a job has to be sent with: how messages call it, and the command that lists those there are.
NEEDED = {
    "slurm_account": ("account", "sacctmgr -nP show assoc user={user} format=account"),
    "slurm_partition": ("partition", "sinfo --noheader --format=%R"),
}


def sent_by_slurm(workflow: Any) -> bool:
    """Tell whether jobs are sent by Slurm; profiles/cluster-generic is adapted to others too."""
    command = getattr(workflow.executor_settings, "submit_cmd", None) or ""
    return workflow.executor_plugin.name == "slurm" or bool(re.search(r"\bsbatch\b", command))


def refuse_unready(executor: str, given: Mapping[str, Any]) -> None:
    """Refuse to send jobs without Slurm, or with an account or partition that there is not.

    Parameters
    ----------
    executor : str
        Snakemake's name of what sends them; ``profiles/`` has a folder of that name.
    given : mapping
        The default resources of every job, as texts.

    Raises
    ------
    Refusal
        At the first fault, with the line to add.
    """
    profile = f"profiles/{executor}/config.yaml"
    if not shutil.which("sbatch"):
        raise Refusal(
            f"{profile}: there is no sbatch on PATH, so no job can be sent to Slurm; start the "
            f"run on a machine that has it, or here without --profile (without PROFILE=)."
        )
    user = getpass.getuser()
    for resource, (called, command) in NEEDED.items():
        known = listed(command.format(user=user))
        if not (name := given.get(resource, "")):
            raise Refusal(
                f"{profile}: no {called} is given, so no job can be sent; add below "
                f"default-resources the line '  {resource}: {known[0] if known else 'NAME'}'"
                f"{among(known)}."
            )
        if known and name not in known:
            raise Refusal(
                f"{profile}: Slurm lists no {called} '{name}' for {user}; correct the line "
                f"'  {resource}: {name}'{among(known)}."
            )


def among(known: Sequence[str]) -> str:
    """List what there is to choose from, if Slurm tells."""
    return f" (there is {', '.join(known)})" if known else ""


def listed(command: str) -> list[str]:
    """List what Slurm knows; nothing where it keeps no such list."""
    try:
        return sorted({line.strip() for line in ask(command.split())} - {""})
    except Silent:
        return []


def given_to_all(workflow: Any) -> dict[str, str]:
    """Read the resources that a profile, or ``--default-resources``, gives to every job."""
    given = workflow.resource_settings.default_resources or {}
    # Snakemake keeps what was written beside what it makes of it.
    return {name: str(getattr(value, "raw", value)).strip("'\"") for name, value in given.items()}
