"""A trajectory: what is known at once, and an iterator over its layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

Layer = Mapping[str, tuple[tuple[str, ...], np.ndarray]]


class Trajectory(NamedTuple):
    """Hold a result that is written as it is computed.

    ``header`` has every coordinate, those of the layers too, and every variable
    without a layer dimension. ``layers`` yields, for layer 0, 1, 2, ..., the
    dimensions and values of each variable that has one (the layer dimension
    itself left out); a variable of recorded layers is absent from the others.
    """

    header: xr.Dataset
    layers: Iterator[Layer]
