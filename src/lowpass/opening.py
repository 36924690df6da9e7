"""From an experiment's name to its dataset, which is refused where it would mislead."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lowpass.fingerprint import Code
from lowpass.plan import Plan, Point, load
from lowpass.plan.code import code_of, inventory_of
from lowpass.project import CONFIG, ROOT
from lowpass.provenance import history, mismatch, parent_of
from lowpass.registry import Refusal, did_you_mean

if TYPE_CHECKING:
    import xarray as xr

HERE = "."


def dataset(experiment: str, config: str, folder: str) -> xr.Dataset:
    """Read an experiment, after checking that it is what the configuration and the code ask for.

    Raises
    ------
    Refusal
        See :func:`lowpass.open`.
    """
    from lowpass import store

    base = ROOT / folder
    point = planned(experiment, config)
    again = f"type '{command(experiment, config, folder)}' in {ROOT}"
    if not (base / point.path).exists():
        raise Refusal(f"{config}: experiments.{experiment}: {absence(point, base)}; {again}.")
    path = str(base / point.path)
    parent_of(path)
    if why := outdated(point.path, base):
        raise Refusal(
            f"{path}: {why}, so its numbers may not be what this code computes; {again}, or read "
            f"the file as it is with xarray.open_dataset."
        )
    return store.read(base / point.path)


def planned(experiment: str, config: str) -> Point:
    """Plan one experiment of a configuration."""
    read = load(ROOT / config, config)
    if experiment not in read.experiments:
        raise Refusal(
            f"{config}: no experiment is called '{experiment}'"
            f"{did_you_mean(experiment, read.experiments)} Known: {', '.join(read.experiments)}."
        )
    section = read.experiments[experiment].model_dump()
    plan = Plan(read.seed, {experiment: section}, f"{config}: experiments", ROOT)
    return plan.experiments[experiment]


def command(experiment: str, config: str, folder: str) -> str:
    """Write the command that makes an experiment."""
    chosen = [] if config == CONFIG else ["--configfile", config]
    where = [] if folder == HERE else ["--directory", folder]
    # Snakemake takes every word that follows --configfile for a file.
    return shlex.join([".venv/bin/snakemake", experiment, *where, *chosen])


def absence(point: Point, base: Path) -> str:
    """Say that an experiment has not been run, or only with other parameters."""
    others = sorted((base / point.path).parent.glob(f"{point.slug}~*.nc"))
    if others:
        return f"has not been run as it now stands ({others[0]} has other parameters)"
    return f"has not been run ({base / point.path} is not there)"


def outdated(path: str, base: Path) -> str:
    """Say what on the way to a product was made by other code or is not what it was made from.

    Nothing is digested again, and what is no longer there is passed over: that is for a trace.
    """
    code = code_of(ROOT)
    known = history(path, base)
    for each, (record, _) in known.items():
        if is_of_other_code(record, code):
            return f"{each} was made by other code than is here"
    return mismatch(known)


def is_of_other_code(record: Mapping[str, Any], code: Code) -> bool:
    """Say whether the code here differs from what made a product.

    A notebook may run on other libraries than the workflow; they are no reason not to read.
    Another minor version of Python reads code in another way, so nothing can be said there.
    """
    made = record["versions"]
    if made["python"].split(".")[:2] != [str(part) for part in sys.version_info[:2]]:
        return False
    try:
        now = inventory_of(code, record["recipe"], installed=made).fingerprint
    except (Refusal, KeyError):  # It asks for what is not here, or was made without what is.
        return True
    return now != record["code"]
