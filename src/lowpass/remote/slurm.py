"""Questions to Slurm's own commands."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

# Seconds; Slurm's commands give up by themselves after some ten when its controller is away.
PATIENCE = 60


class Silent(Exception):
    """Say in Slurm's own words why it gave no answer."""


def ask(command: Sequence[str]) -> list[str]:
    """Ask Slurm.

    Parameters
    ----------
    command : sequence of str
        One of its commands, with its arguments.

    Returns
    -------
    list of str
        The lines of its answer.

    Raises
    ------
    Silent
        When the command is not there, fails, or does not end.
    """
    try:
        said = subprocess.run(
            [*command], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise Silent(f"there is no {command[0]} on PATH") from None
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise Silent(str(fault)) from None
    if said.returncode != 0:
        raise Silent(" ".join(said.stderr.split()) or f"{command[0]} failed")
    return said.stdout.splitlines()
