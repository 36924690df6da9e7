"""Judge of the choice of a bandwidth: leaving one out, and what traces are good for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.claims.names import CLAIMS, Measured, Number

if TYPE_CHECKING:
    import xarray as xr

# A weight of itself that leaves the difference from one all of its digits but two.
ISOLATED = 0.99


def exactly(number: xr.DataArray | float) -> Number:
    """Hold a number that nothing random went into."""
    return Number(*[float(number)] * 3)


@CLAIMS.add("judge of K08", claim="K08", experiments=("nile",), tolerance=1e-12)
def temperature_is_bandwidth(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare leaving one out with as many fits, by the shortcut as written and by a logit.

    A point that the shortcut does not predict counts as the range of the data. What follows
    from the trace is compared with the sum of the other weights, which does not cancel.
    """
    nile = experiments["nile"]
    lost, own = nile["shortcut_lost"], nile["own_weight"]
    errors = abs(nile["shortcut_error"]).where(lost == 0, 1.0)
    traces = nile["trace_error"]
    together = own < ISOLATED
    narrow = nile["probe_bandwidth"].where(lost > 0).max()
    chosen = nile["bandwidth_by_criterion"]
    numbers = {
        **{str(each["bandwidth_criterion"].item()): exactly(each) for each in chosen},
        "valleys": exactly(nile["valleys_by_criterion"].max()),
        "left_out": exactly(nile["left_out_error"].max()),
        "lost": exactly(lost.max()),
    }
    if bool((lost > 0).any()):
        numbers["narrow"] = exactly(narrow)
    return Measured(
        as_written=float(max(errors.max(), traces.max())),
        under_condition=float(
            max(
                nile["left_out_error"].max(),
                *(each.where(together).max() for each in (errors, traces)),
            )
        ),
        witness=f"nile: shortcut_lost at bandwidth {float(narrow):g}",
        numbers=numbers,
    )
