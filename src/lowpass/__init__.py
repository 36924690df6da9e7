"""Attention as a low-pass filter: a paper that recomputes itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


def open(experiment: str, config: str = "config/paper.yaml", *, folder: str = ".") -> xr.Dataset:
    """Open an experiment of the configuration, from whichever folder Python was started in.

    Parameters
    ----------
    experiment : str
        Its name in the configuration, as ``"dc-limit"``.
    config : str
        Path of the configuration, relative to the project's folder.
    folder : str
        Where the workflow ran, relative to the project's folder: ``"smoke"`` for what
        ``make smoke`` made of ``"config/smoke.yaml"``.

    Returns
    -------
    Dataset
        One variable for each measure, with its symbol, long name and units. Swept parameters
        come first and are labelled dimensions, so that ``.sel(beta=3)`` selects a run; parameters
        that were zipped are coordinates along their common dimension. The attributes are the
        record, as JSON, and the digest.

    Raises
    ------
    Refusal
        When no experiment has this name, it has not been run as it now stands, its file was
        edited, or it was computed by other code than is here. The versions of libraries may be
        others: reading needs not those that computed.
    """
    from lowpass.opening import dataset

    return dataset(experiment, config, folder)
