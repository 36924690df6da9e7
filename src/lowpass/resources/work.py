"""What a job holds and does: the currency of all estimates."""

from __future__ import annotations

from typing import NamedTuple

from lowpass.resources.sizes import Size


class Work(NamedTuple):
    """Hold what one job takes, beyond starting it.

    Parameters
    ----------
    held : float
        Most bytes of arrays that it holds at once.
    operations : float
        Of the kind that numpy does with every entry of an array; a multiply-add within a product
        of matrices counts as a fifth of one.
    stored : float
        Bytes of what it writes, which whoever reads it holds.
    size : Size
        Of the data at the beginning, with as many replicates as the job has.
    runs : int
        Parameter sets that it computes within.
    layers : int
        Of its trajectory, the first one included; none where it is no trajectory.
    recorded : int
        Layers that are stored with their tensors.
    matrices : int
        Between tokens that are stored for each run.
    """

    held: float
    operations: float
    stored: float
    size: Size = Size()
    runs: int = 1
    layers: int = 0
    recorded: int = 0
    matrices: int = 0
