"""Where the code of each rule begins, by which names it goes on, and which libraries compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lowpass.fingerprint import names_in

NUMERICAL = ("numpy", "scipy", "xarray", "netCDF4")
# What only smoothers compute with.
SMOOTHING = ("finufft",)
READ, WRITE = "lowpass.store:read", "lowpass.store:write"
# What a product carries so that it answers alone when it is mailed; its code asks for none of it.
# An experiment may be called like a figure, and be shown in others.
CARRIED = {
    "claims": {"experiments"},
    "figures": {"experiments"},
    "paper": {"experiments", "why"},
}


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
        definitions = ("lowpass.figures.render:render", READ)
        return Roots(definitions, (*NUMERICAL, "matplotlib", "pillow"))
    if stage == "claims":
        return Roots(("lowpass.claims.judge:judge", READ), NUMERICAL)
    if stage == "paper":
        return Roots(("lowpass.paper:typeset",), ("typst",))
    definitions, last = (f"lowpass.stages.{stage}:{stage}",), stage
    if stage == "experiment":
        last = "spectra" if "spectra" in recipe["params"]["section"] else "smoothing"
        definitions += ("lowpass.stages.experiment:place_of", f"lowpass.stages.{last}:{last}")
    more = SMOOTHING if last == "smoothing" else ()
    return Roots((*definitions, READ, WRITE), (*NUMERICAL, *more))


def names_of(stage: str, parameters: Mapping[str, Any]) -> frozenset[str]:
    """Collect every text by which a stage's code may look something up in a registry."""
    carried = CARRIED.get(stage, set())
    return names_in([stage, {name: parameters[name] for name in parameters if name not in carried}])
