"""The cards of what a ring's waves are asked.

It owns the names of gains, symbols and distances over the waves of a ring, and what
rounding does to them; it computes nothing.
"""

from __future__ import annotations

from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.rounding import ROUNDING, Remainder

WAVES = ("bandwidth", "ring_wave")
EACH = ("smoothing_kernel", "bandwidth")
# A gain adds weights, or values, that are one together.
GAIN = Remainder()
# One step of heat adds up to some thousands where the bandwidth is wide.
STEP = Remainder(magnitude=1e4)

DIMENSIONS.enter("ring_wave", Card("k", "periods around the ring"))
DIMENSIONS.enter("smoothing_kernel", Card("K", "smoothing kernel"))
DIMENSIONS.enter("smoothing_layers", Card("T", "layers of smoothing"))
VARIABLES.enter("relative_bandwidth", Card("h/D", "relative bandwidth", dims=("bandwidth",)))
VARIABLES.enter("scaled_frequency", Card(r"h\omega", "scaled frequency", dims=WAVES))
VARIABLES.enter(
    "smoothed_value", Card("Av", "smoothed values", dims=("smoothing_kernel", "bandwidth", "query"))
)
ROUNDING.enter("smoothed_value", GAIN)
VARIABLES.enter(
    "filter_defect",
    Card(
        r"\|A-\mathcal{C}(A)\|_F^2/\|A\|_F^2",
        "share of a smoother that turns waves into others",
        dims=EACH,
    ),
)
ROUNDING.enter("filter_defect", GAIN)
VARIABLES.enter("smoother_gain", Card(r"g(\omega)", "gain of a wave", dims=(*EACH, "ring_wave")))
ROUNDING.enter("smoother_gain", GAIN)
VARIABLES.enter(
    "kernel_symbol",
    Card(r"\hat K(h\omega)", "transform of a kernel on a line", dims=(*EACH, "ring_wave")),
)
ROUNDING.enter("kernel_symbol", GAIN)
VARIABLES.enter("lowest_gain", Card(r"g_{\min}", "lowest gain", dims=EACH))
ROUNDING.enter("lowest_gain", GAIN)
VARIABLES.enter(
    "lowest_symbol",
    Card(
        r"\min_x\hat K(x)", "lowest value of the transform of a kernel", dims=("smoothing_kernel",)
    ),
)
ROUNDING.enter("lowest_symbol", GAIN)
VARIABLES.enter(
    "first_zero",
    Card(
        r"h\omega_0",
        "scaled frequency where the gain turns negative",
        dims=EACH,
        infinite="the gain is nowhere negative",
    ),
)
VARIABLES.enter(
    "symbol_zero",
    Card(
        "x_0",
        "scaled frequency where the transform of a kernel turns negative",
        dims=("smoothing_kernel",),
        infinite="the transform is nowhere negative",
    ),
)
VARIABLES.enter("ring_symbol", Card(r"H(\omega)", "transfer function on the ring", dims=WAVES))
ROUNDING.enter("ring_symbol", GAIN)
VARIABLES.enter("heat_gain", Card(r"\hat E(\omega)", "gain of heat on the ring", dims=WAVES))
ROUNDING.enter("heat_gain", GAIN)
VARIABLES.enter(
    "heat_symbol", Card(r"e^{-\tau\lambda(\omega)}", "symbol of heat on the ring", dims=WAVES)
)
ROUNDING.enter("heat_symbol", GAIN)
VARIABLES.enter("step_gain", Card(r"\hat S(\omega)", "gain of one step of heat", dims=WAVES))
ROUNDING.enter("step_gain", STEP)
VARIABLES.enter(
    "step_symbol", Card(r"1-\tau\lambda(\omega)", "symbol of one step of heat", dims=WAVES)
)
ROUNDING.enter("step_symbol", STEP)
VARIABLES.enter(
    "neighbour_symbol",
    Card(r"1-A_{i,i+1}D^2\lambda(\omega)", "symbol of a smoother's nearest neighbours", dims=WAVES),
)
ROUNDING.enter("neighbour_symbol", GAIN)
VARIABLES.enter(
    "heat_distance",
    Card(
        r"\delta",
        "largest difference of gains",
        dims=("bandwidth",),
    ),
)
ROUNDING.enter("heat_distance", GAIN)
VARIABLES.enter(
    "heat_limit",
    Card(
        "2D^2/3e^2h^2", "leading term of the difference of heat and smoother", dims=("bandwidth",)
    ),
)
VARIABLES.enter(
    "heat_row_distance",
    Card(
        r"\|E_i-A_i\|_1",
        "sum of the differences of a row of heat and smoother",
        dims=("bandwidth",),
    ),
)
ROUNDING.enter("heat_row_distance", GAIN)
VARIABLES.enter(
    "heat_row_limit",
    Card(
        r"E|\mathrm{He}_4|D^2/24h^2",
        "leading term of the difference of their rows",
        dims=("bandwidth",),
    ),
)
VARIABLES.enter(
    "step_distance",
    Card(
        r"\max_\omega|\hat S-\hat A|",
        "largest difference of the gains of one step and smoother",
        dims=("bandwidth",),
    ),
)
ROUNDING.enter("step_distance", STEP)
VARIABLES.enter(
    "grid_distance",
    Card(
        r"\max_\omega|\hat A-e^{-h^2\omega^2/2}|",
        "largest difference of gain and transform of a Gaussian",
        dims=("bandwidth",),
    ),
)
ROUNDING.enter("grid_distance", GAIN)
VARIABLES.enter(
    "grid_bound", Card(r"e^{-\pi^2h^2/2D^2}", "bound on that difference", dims=("bandwidth",))
)
ROUNDING.enter("grid_bound", GAIN)
VARIABLES.enter(
    "half_power",
    Card(
        r"\omega_{1/2}",
        "frequency of which half the power passes",
        dims=("bandwidth",),
        infinite="more than half of every wave's power passes",
    ),
)
VARIABLES.enter(
    "layers_distance",
    Card(
        r"\max_\omega|\hat A_h^T-\hat A_{\sqrt{T}h}|",
        "largest difference of the gains of layers and of one as wide",
        dims=("smoothing_layers", "bandwidth"),
    ),
)
ROUNDING.enter("layers_distance", GAIN)
VARIABLES.enter(
    "layers_limit",
    Card(
        r"Te^{-2\pi^2(1-1/T)h^2/D^2}",
        "leading term of the difference of layers and one as wide",
        dims=("smoothing_layers", "bandwidth"),
    ),
)
ROUNDING.enter("layers_limit", GAIN)
