"""From the parameters that were given to all of them: defaults filled in, all validated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lowpass.plan.sweep import STAGES, one_of
from lowpass.spec.inside import swept_along

# What stands beside a stage's own parameters in a recipe.
BESIDE = ("inside", "sha256")


def complete(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Give all parameters of a recipe.

    Parameters
    ----------
    recipe : mapping
        With ``stage`` and ``params``, those that differ from their defaults.

    Returns
    -------
    dict
        Every parameter of the stage; swept ones stay under ``inside``.

    Raises
    ------
    Refusal
        When the recipe asks for something the specification does not know.
    """
    stage, params = recipe["stage"], dict(recipe["params"])
    if stage not in STAGES:
        return params
    beside = {name: params.pop(name) for name in BESIDE if name in params}
    axes = beside.get("inside", {})
    full = STAGES[stage](one_of(params, axes), "recipe").model_dump()
    swept = swept_along(axes)
    return {**{name: value for name, value in full.items() if name not in swept}, **beside}
