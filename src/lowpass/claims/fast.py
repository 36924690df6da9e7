"""Judges of fast attention: what its features err by, and what as many operations buy without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from lowpass.claims.intervals import median_interval, ranked
from lowpass.claims.names import CLAIMS, Measured, Number

if TYPE_CHECKING:
    import xarray as xr

# Where draws are expected to scatter by more than this, they cannot tell a tenth.
TELLING = 0.03
FEATURES = ("independent features", "orthogonal features", "trigonometric features", "elu + 1")


@CLAIMS.add("judge of N10", claim="N10", experiments=("random-features",), tolerance=0.1)
def features_err_as_foretold(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the mean squared error of positive features with its closed form.

    Only pairs are asked whose error so many draws can tell: the mean is over all of them, and
    a fourth moment says how far it scatters.
    """
    drawn = experiments["random-features"]
    off = abs(ranked(drawn["feature_error"]).mean("replicate") / foretold(drawn) - 1)
    telling = off.sel(squared_norm=told(drawn))
    worst = telling.sel(random_feature="orthogonal")
    place = {name: at.item() for name, at in worst.argmax(("squared_norm", "n_terms")).items()}
    norm, terms = (worst[name].values[at] for name, at in place.items())
    return Measured(
        as_written=float(telling.sel(random_feature=["independent", "orthogonal"]).max()),
        under_condition=float(telling.sel(random_feature="independent").max()),
        witness="random-features: feature_error of orthogonal directions at squared norm "
        f"{norm:g} and {terms} terms",
        numbers=numbers_of_features(drawn),
    )


def foretold(drawn: xr.Dataset) -> xr.DataArray:
    """Give the closed forms, which are the same for every replicate."""
    return drawn["feature_error_predicted"].isel(replicate=0)


def told(drawn: xr.Dataset) -> list[float]:
    """List the squared norms at which a mean over all draws can tell."""
    scatter = drawn["feature_error_scatter"].isel(replicate=0).max("n_terms")
    enough = scatter / np.sqrt(drawn.sizes["replicate"]) <= TELLING
    return drawn["squared_norm"].values[enough.values].tolist()


def numbers_of_features(drawn: xr.Dataset) -> dict[str, Number]:
    """Gather what the paper says about features."""
    ratio = drawn["feature_error"] / foretold(drawn)
    longest = ratio.isel(squared_norm=-1, n_terms=-1).sel(random_feature="independent")
    mean = ranked(ratio).mean("replicate").sel(squared_norm=told(drawn))
    signed = drawn["negative_estimates"].sel(random_feature="trigonometric").isel(squared_norm=-1)
    return {
        "slope": slope(drawn["feature_error"].sel(random_feature="independent")),
        "longest": exactly(drawn["squared_norm"].values[-1]),
        "longest_seen": median_interval(longest.values),
        "told": exactly(told(drawn)[-1]),
        "orthogonal_least": exactly(mean.sel(random_feature="orthogonal").min()),
        "trigonometric_off": exactly(abs(mean.sel(random_feature="trigonometric") - 1).max()),
        "negative": median_interval(signed.isel(n_terms=0).values),
        "negative_many": median_interval(signed.isel(n_terms=-1).values),
        **{name: exactly(drawn[name].max()) for name in ("linear_defect", "rank_defect")},
    }


def exactly(value: SupportsFloat) -> Number:
    """Quote a number that no interval belongs to."""
    return Number(*[float(value)] * 3)


def slope(error: xr.DataArray) -> Number:
    """Fit the power of the number of terms with which an error falls, for the shortest pair."""
    short = error.isel(squared_norm=0).transpose("replicate", "n_terms")
    log_terms = np.log(short["n_terms"].values)
    return median_interval(np.polyfit(log_terms, np.log(short.values).T, 1)[0])


@CLAIMS.add("judge of K10", claim="K10", experiments=("fast-attention",), tolerance=0.02)
def features_speed_nothing_up(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Ask what features lose against as many operations on some of the keys.

    Errors are in units of that of the mean of all values, which costs next to nothing: the
    better of both is the rival. Of each width the kind counts that loses least, at the largest
    number of terms and for the most keys.
    """
    raced = experiments["fast-attention"].isel(n_terms=-1, n_keys=-1)
    error = 10 ** raced["log10_relative_error"]
    rival = np.minimum(10 ** raced["log10_rival_error"], 1)
    loss = (error - rival).median("replicate").sel(approximation=list(FEATURES))
    silent = loss.sel(value_noise=0)
    least = silent.min("approximation")
    place = {name: int(at) for name, at in least.argmax(["n_features"]).items()}
    d = int(least["n_features"][place["n_features"]])
    kind = str(loss["approximation"][int(silent.sel(n_features=d).argmin("approximation"))].values)
    return Measured(
        as_written=max(float(least.max()), 0.0),
        under_condition=float(raced["tile_error"].max()),
        witness=f"fast-attention: log10_relative_error of {kind} of keys of {d} feature"
        + "s" * (d > 1),
        repaired_distance=max(-float(silent.min()), shortfall_of_series(raced), 0.0),
        numbers=numbers_of_race(raced)
        | {"noisy_win": exactly(max(-float(loss.sel(value_noise=1).min()), 0.0))},
    )


def gain_of_series(raced: xr.Dataset) -> xr.DataArray:
    """Give the decades of operations that Fourier sums save, where there are few features."""
    gain = raced["log10_exact_operations"] - raced["log10_series_operations"]
    return gain.where(np.isfinite(gain), drop=True)


def shortfall_of_series(raced: xr.Dataset) -> float:
    """Ask by how much Fourier sums fail to be exact for a tenth of the operations."""
    error = raced["log10_series_error"].where(np.isfinite(raced["log10_series_operations"]))
    return max(float((10**error).max()), 1 - float(gain_of_series(raced).min()))


def numbers_of_race(raced: xr.Dataset) -> dict[str, Number]:
    """Gather what the paper says about errors at equal operations."""
    wide = raced.sel(value_noise=0).isel(n_features=-1)
    error, rival = 10 ** wide["log10_relative_error"], 10 ** wide["log10_rival_error"]
    low = raced.sel(value_noise=0).isel(n_features=0)
    own = "independent features"
    return {
        "positive": median_interval(error.sel(approximation=own).values),
        "rival": median_interval(rival.sel(approximation=own).values),
        "linear": median_interval(error.sel(approximation="elu + 1").values),
        "landmarks": median_interval(error.sel(approximation="landmarks").values),
        "series_gain": exactly(10 ** gain_of_series(raced).min()),
        "series_error": exactly((10 ** low["log10_series_error"]).max()),
        "landmarks_low": median_interval(
            10 ** low["log10_relative_error"].sel(approximation="landmarks").values
        ),
        "unusable": median_interval(
            wide["unusable_share"].sel(approximation="trigonometric features").values
        ),
    }
