"""From measured distances to verdicts, by arithmetic alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lowpass.claims.names import CLAIMS, Measured
from lowpass.claims.register import REGISTER

if TYPE_CHECKING:
    import xarray as xr

# Below this a distance is exact to every printed digit, so that decades stay finite.
LEAST = 1e-300


def judge(
    recipe: Mapping[str, Any], experiments: Mapping[str, xr.Dataset]
) -> dict[str, dict[str, Any]]:
    """Judge every claim of a recipe, and list the others as not examined.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the ids of the ``register``, and the judge of each that is ``judged``.
    experiments : mapping of str to Dataset
        Those the judges name.

    Returns
    -------
    dict
        By claim id: what it says, its source and condition, verdict, numbers and witness.
    """
    judges = recipe["params"]["judged"]
    verdicts = {}
    for claim in recipe["params"]["register"]:
        entry = asdict(REGISTER[claim])
        measured = CLAIMS[judges[claim]](experiments) if claim in judges else None
        if measured is None:
            verdicts[claim] = {**entry, "verdict": "not examined"}
            continue
        facts = CLAIMS.facts(judges[claim])
        verdicts[claim] = {
            **entry,
            **asdict(measured),
            **verdict(measured, facts["tolerance"], facts.get("trend_tolerance")),
            "experiments": list(facts["experiments"]),
        }
    return verdicts


def verdict(
    measured: Measured, tolerance: float, trend_tolerance: float | None = None
) -> dict[str, Any]:
    """Decide a claim.

    Parameters
    ----------
    measured : Measured
        Distances; the first that lies within its tolerance decides.
    tolerance : float
        For the distances as written, under the condition, and of the repaired statement.
    trend_tolerance : float, optional
        For the distance of a slope from its predicted exponent.

    Returns
    -------
    dict
        ``verdict`` is ``holds``, ``conditional``, ``asymptotic`` or ``refuted``;
        ``margin_decades`` says by how many decades the deciding distance is inside its
        tolerance, or outside for a refuted claim (then negative).

    Raises
    ------
    ValueError
        When a distance is not a finite number, or negative.
    """
    rows = [
        ("holds", measured.as_written, tolerance),
        ("conditional", measured.under_condition, tolerance),
        ("asymptotic", measured.trend, trend_tolerance),
    ]
    given = [row for row in rows if row[1] is not None]
    for distance in (*(row[1] for row in given), measured.repaired_distance):
        if distance is not None and not 0 <= distance < math.inf:
            raise ValueError(f"a distance must be finite and not negative, not {distance}")
    name, distance, limit = next(
        (row for row in given if row[1] <= row[2]), ("refuted", *given[0][1:])
    )
    result = {
        "verdict": name,
        "tolerance": tolerance,
        "trend_tolerance": trend_tolerance,
        "margin_decades": math.log10(limit / max(distance, LEAST)),
    }
    if measured.repaired_distance is not None:
        result["repaired_holds"] = measured.repaired_distance <= tolerance
    return result
