"""Attention as a low-pass filter: a paper that recomputes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


def open(experiment: str, config: str = "config/paper.yaml") -> xr.Dataset:
    """Open an experiment of the configuration, after checking that it is whole.

    Parameters
    ----------
    experiment : str
        Its name in the configuration, as ``"dc-limit"``.
    config : str
        Path of the configuration, relative to the project's folder.

    Returns
    -------
    Dataset
        One variable for each measure; swept parameters are labelled dimensions. Its record
        and digest are attributes.

    Raises
    ------
    Refusal
        When no experiment has this name, it has not been run, or its file was edited.
    """
    from lowpass import store
    from lowpass.plan import Plan, load
    from lowpass.project import ROOT
    from lowpass.provenance import parent_of
    from lowpass.registry import Refusal, did_you_mean

    read = load(ROOT / config, config)
    if experiment not in read.experiments:
        raise Refusal(
            f"{config}: no experiment is called '{experiment}'"
            f"{did_you_mean(experiment, read.experiments)} Known: {', '.join(read.experiments)}."
        )
    section = read.experiments[experiment].model_dump()
    plan = Plan(read.seed, {experiment: section}, f"{config}: experiments", ROOT)
    path = ROOT / plan.experiments[experiment].path
    parent_of(str(path))
    return store.read(path)
