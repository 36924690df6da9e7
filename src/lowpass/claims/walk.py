"""The judge of attention as a step of a random walk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.claims.circle import exactly
from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

EXACT = 1e-12
DEFECTS = ("walk_defect", "walk_balance_defect", "walk_spectrum_defect", "walk_energy_defect")


@CLAIMS.add("judge of B07", claim="B07", experiments=("random-walk",), tolerance=EXACT)
def attention_is_a_step_of_a_walk(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the largest of four defects, and of what eigenvalues exceed their interval by.

    The interval of attention is open at −1, where a walk would swing for ever: an eigenvalue of L
    that is two or more is a distance of one. Only symmetric logits are judged, tied ones among
    them; what other logits give is quoted.
    """
    runs = experiments["random-walk"]
    symmetric, untied = runs.sel(weights=["symmetric", "tied"]), runs.sel(weights="untied")
    value, tied = symmetric["walk_eigenvalue"], symmetric["walk_eigenvalue"].sel(weights="tied")
    found = [(name, symmetric[name]) for name in DEFECTS]
    found += [("walk_eigenvalue", (-value).clip(min=0)), ("walk_eigenvalue", tied - 1)]
    found += [("walk_eigenvalue", (value >= 2) * 1.0)]
    name, worst = max(found, key=lambda pair: float(pair[1].max()))
    return Measured(
        as_written=float(worst.max()),
        witness=f"random-walk: {name} at {place_of_largest(worst)}",
        numbers={
            **{name: exactly(float(symmetric[name].max())) for name in DEFECTS},
            **{
                f"untied_{name}": median_interval(untied[name].isel(beta=-1).values)
                for name in DEFECTS
            },
            "largest_symmetric": exactly(float(value.sel(weights="symmetric").max())),
            "above_minus_one": exactly(float((2 - value).min())),
            "largest_tied": exactly(float(tied.max())),
            "runs": exactly(float(symmetric[DEFECTS[0]].size)),
        },
    )
