"""Where the two notes meet: bandwidth is temperature, depth is diffusion time.

D is the spacing of a grid, h a bandwidth, τ = h²/2 a diffusion time, p the
density of the tokens.
"""

from __future__ import annotations

from lowpass.claims.register.statement import REGISTER, Statement

REGISTER.enter(
    "K01",
    Statement(
        title="temperature is squared bandwidth, with key weights",
        says="softmax(q·k/T) is the Nadaraya–Watson estimator of a Gaussian kernel with h² = T and "
        "key weights exp(‖k‖²/(2T)), and any attention is one without key weights in one "
        "dimension more.",
        source="this paper",
    ),
)
REGISTER.enter(
    "K02",
    Statement(
        title="transfer function on a uniform ring",
        says="On a uniform ring the wrapped Gaussian smoother has the transfer function "
        "H(ω) = Σₘ exp(−h²(ω + 2πm/D)²/2) / Σₘ exp(−h²(2πm/D)²/2), which differs from "
        "exp(−h²ω²/2) by at most exp(−π²h²/(2D²)).",
        source="this paper",
    ),
)
REGISTER.enter(
    "K03",
    Statement(
        title="heat kernel of the ring against the smoother",
        says="The heat kernel of the ring Laplacian at τ = h²/2 is the Gaussian smoother of "
        "bandwidth h up to (2/(3e²))(D/h)² between symbols and (E|He₄|/4!)(D/h)² along a row.",
        source="this paper",
        condition="h is large against D.",
    ),
)
REGISTER.enter(
    "K04",
    Statement(
        title="depth is diffusion time",
        says="T smoothing layers of bandwidth h are one of bandwidth √T h, so that depth is the "
        "diffusion time T h²/2.",
        source="this paper",
        condition="h is at least twice the spacing D of an even grid.",
    ),
)
REGISTER.enter(
    "K05",
    Statement(
        title="I − τL is a one-layer filter",
        says="I − τL is the filter of one smoothing layer.",
        source="note 1 (2); this paper",
        condition="h = √(2τ) is whichever suits it best.",
        repaired="On a ring the symbol of I − τL turns negative for h > D/√2 and reaches −1 at "
        "h = D, where no smoother follows it; far below D a smoother sees nearest neighbours "
        "only, and is I − τL with D² times a neighbour's weight for τ, not h²/2.",
    ),
)
REGISTER.enter(
    "K06",
    Statement(
        title="density bends the generator",
        says="Where the density p is not uniform, row-softmax smoothing generates f″ + 2f′p′/p, "
        "and dividing the kernel by the degrees of both tokens first restores f″.",
        source="this paper; coifman2006",
        condition="The bandwidth tends to zero while tokens remain many within it.",
    ),
)
REGISTER.enter(
    "K07",
    Statement(
        title="a kernel is a low-pass filter",
        says="A kernel smoother is a low-pass filter.",
        source="note 1 (2); note 2",
        condition="The symbol of the kernel is non-negative, as for Gaussian, Laplace and "
        "triangle.",
        repaired="Boxcar, Epanechnikov and tricube kernels have negative lobes: they turn the sign "
        "of some frequencies and pass others again.",
    ),
)
REGISTER.enter(
    "K08",
    Statement(
        title="choosing β is choosing a bandwidth",
        says="Choosing β is choosing a bandwidth: the leave-one-out residuals are rᵢ/(1 − Aᵢᵢ), "
        "and generalised cross-validation and AICc follow from the trace of A.",
        source="this paper; stone1974; craven1978; hastie1990; hurvich1998",
        condition="No point is isolated, so that 1 − Aᵢᵢ keeps digits; otherwise it is left out by "
        "−∞ on the diagonal of the logits.",
    ),
)
REGISTER.enter(
    "K09",
    Statement(
        title="rates of the error, and the boundary",
        says="The mean integrated squared error of kernel regression is of order n^(−4/5) on a "
        "ring; on an interval the boundary costs Nadaraya–Watson that order, n^(−3/4), from a bias "
        "of (m₁/m₀) h f′ at the end, √(2/π) h f′ for a Gaussian, where mᵣ are moments of half the "
        "kernel; local linear regression keeps n^(−4/5), with (m₂² − m₁m₃)/(2(m₀m₂ − m₁²)) h² f″ "
        "at the end.",
        source="this paper; fan1992",
        condition="Inputs are evenly spaced, the bandwidth is optimal, and n grows.",
    ),
)
REGISTER.enter(
    "K10",
    Statement(
        title="fast attention speeds up smoothing",
        says="Fast attention speeds up kernel smoothing.",
        source="note 2; tay2022",
        condition="It is exact attention whose evaluation is tiled.",
        repaired="At attention's own bandwidth random and linear features lose to as many "
        "operations on some of the keys, or to the mean of all values, and in one or two "
        "dimensions gridding wins by far: the help flows the other way.",
    ),
)
REGISTER.enter(
    "K11",
    Statement(
        title="leaving out finds the temperature",
        says="The temperature that predicts each observation best from all others is the best one "
        "for new queries, to within a hundredth of their expected error.",
        source="this paper; stone1974; zhang2021",
        condition="The errors of observations are independent of each other.",
        repaired="Where the errors of near observations are alike, those near a point are left out "
        "with it.",
    ),
)
