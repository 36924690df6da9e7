"""Where the code of each rule begins, and which libraries compute there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

NUMERICAL = ("numpy", "scipy", "xarray", "netCDF4")
# How parents are read and products are written.
FILES = ("lowpass.store:read", "lowpass.store:write")


class Roots(NamedTuple):
    """Name the definitions a fingerprint starts from, and the distributions beside them."""

    definitions: tuple[str, ...]
    distributions: tuple[str, ...]


def roots_of(recipe: Mapping[str, Any]) -> Roots:
    """Give the roots of a recipe's fingerprint.

    An experiment only gathers, but the cards of the variables it writes are those that
    its last stage writes; so that stage is a root too.
    """
    stage = recipe["stage"]
    if stage == "figures":
        definitions = ("lowpass.figures.render:render", *FILES[:1])
        return Roots(definitions, (*NUMERICAL, "matplotlib", "pillow"))
    if stage == "claims":
        return Roots(("lowpass.claims.judge:judge", *FILES[:1]), NUMERICAL)
    if stage == "paper":
        return Roots(("lowpass.paper:typeset",), ("typst",))
    stages = [stage]
    if stage == "experiment":
        stages += ["spectra" if "attention" in recipe["params"]["section"] else "smoothing"]
    definitions = tuple(f"lowpass.stages.{each}:{each}" for each in stages)
    return Roots((*definitions, *FILES), NUMERICAL)
