"""Note 1, part two: attention as a heat kernel.

S are logits and S̃ their symmetric part; L = D − S̃ is the note's Laplacian, D
the diagonal of the row sums of S̃; μ are eigenvalues of W_V.
"""

from __future__ import annotations

from lowpass.claims.register.statement import REGISTER, Statement

REGISTER.enter(
    "B01",
    Statement(
        title="S may be replaced by its symmetric part",
        says="The logits S may be replaced by their symmetric part S̃ = (S + Sᵀ)/2.",
        source="note 1 (2)",
        repaired="Softmax does not see a row shift S + c1ᵀ, and S̃ does, so symmetrising changes "
        "attention unless S is symmetric; S̃ defines a different, reversible attention.",
    ),
)
REGISTER.enter(
    "B02",
    Statement(
        title="the spectral form of exp(S̃)",
        says="exp(S̃) = U exp(Λ) Uᵀ with the eigenvectors U and the eigenvalues Λ of S̃.",
        source="note 1 (2)",
        condition="exp is the exponential of the matrix; that of softmax is taken entry by entry.",
    ),
)
REGISTER.enter(
    "B03",
    Statement(
        title="L has the modes of S̃",
        says="exp(−τL) = U exp(−τΛ) Uᵀ with the same U and Λ, those of S̃.",
        source="note 1 (2)",
        repaired="exp(−τL) = V exp(−τM) Vᵀ with the modes V and eigenvalues M of L. The "
        "eigenvectors of S̃ are those of L only where tokens that are connected have "
        "equal degrees c, and the eigenvalues are then c − λ: a large eigenvalue of S̃ is a low "
        "frequency.",
    ),
)
REGISTER.enter(
    "B04",
    Statement(
        title="large eigenvalues of L are damped",
        says="The heat kernel exp(−τL) damps the modes of L by exp(−τλ), those with large "
        "eigenvalues most.",
        source="note 1 (2)",
        condition="L is positive semidefinite, for which off-diagonal entries S̃ᵢⱼ ≥ 0 suffice.",
        repaired="With logits of both signs L can be indefinite, and its modes with λ < 0 grow.",
    ),
)
REGISTER.enter(
    "B05",
    Statement(
        title="the row normalisation of the heat kernel",
        says="The heat kernel exp(−τL) has to be divided by its row sums to become stochastic.",
        source="note 1 (2)",
        repaired="L1 = 0 whatever the signs of S̃, so the rows of exp(−τL) sum to one already; what "
        "can fail is its sign, and it is non-negative for every τ exactly when S̃ᵢⱼ ≥ 0 off the "
        "diagonal. Dividing matters for the symmetrically normalised Laplacian, which needs "
        "positive degrees.",
    ),
)
REGISTER.enter(
    "B06",
    Statement(
        title="attention is a heat kernel",
        says="Attention is approximately the row-normalised heat kernel exp(−τL) of L = D − S̃.",
        source="note 1 (2)",
        repaired="exp(−τL) has unit column sums and tends to I as the logits vanish, whereas "
        "attention tends to J and has uneven column sums: ‖A − exp(−τL)‖ ≥ ‖Aᵀ1 − 1‖/√n for "
        "every τ.",
    ),
)
REGISTER.enter(
    "B06b",
    Statement(
        title="the heat kernel is a function of attention",
        says="The heat kernel exp(−τL) is a function of the attention matrix.",
        source="note 1 (2)",
        repaired="Row shifts S + c1ᵀ leave attention alone and change L, so one attention matrix "
        "has heat kernels from amplifying ones to J itself; in no gauge is one nearer than the "
        "heat kernel of the best graph there is.",
    ),
)
REGISTER.enter(
    "B07",
    Statement(
        title="attention is a random-walk step",
        says="Attention of symmetric logits S̃ is exactly I − L for the random-walk Laplacian "
        "L = I − D⁻¹W of the affinity W = exp(S̃), taken entry by entry, with its degrees D; it is "
        "reversible, its spectrum is real and lies in (−1, 1], and in [0, 1] where queries are "
        "keys.",
        source="this paper; chung1997",
    ),
)
REGISTER.enter(
    "B08",
    Statement(
        title="the heat kernel is I − τL to first order",
        says="exp(−τL) = I − τL + O(τ²).",
        source="note 1 (2)",
        condition="τ tends to zero.",
    ),
)
REGISTER.enter(
    "B09",
    Statement(
        title="a layer is a pass-through plus a low-pass",
        says="One layer acts as V − τLV, a pass-through plus mixing, and is a low-pass filter.",
        source="note 1 (2)",
        condition="0 < τλ ≤ 1 for the largest eigenvalue λ of L, and L has no negative one.",
        repaired="The gain 1 − τλ falls from one to zero up to τλ = 1; beyond, it changes sign, "
        "and above τλ = 2 it amplifies.",
    ),
)
REGISTER.enter(
    "B10",
    Statement(
        title="the transfer function (2I − τL)W_V",
        says="The residual layer X + (I − τL)XW_V has the transfer function (2I − τL)W_V.",
        source="note 1 (2)",
        condition="W_V = I.",
        repaired="The skip is not multiplied by W_V: the operator is I ⊗ I + (I − τL) ⊗ W_Vᵀ with "
        "the modes 1 + μⱼ(1 − τλᵢ).",
    ),
)
REGISTER.enter(
    "B11",
    Statement(
        title="a residual is a bypass beside a low-pass",
        says="A residual connection is a bypass beside the low-pass filter, and slows the loss of "
        "the high-frequency component.",
        source="note 1 (2)",
        condition="The eigenvalues μ of W_V are positive, and so is λ₂.",
        repaired="Per layer the transient ratio changes by the largest |1 + μⱼλᵢ(A)| of a "
        "transient mode i over the largest |1 + μⱼ|. For W_V = μI and real λ it falls for every "
        "positive μ, grows for −2/(1 + λ) < μ < 0 with the least eigenvalue λ, without bound at "
        "μ = −1, and falls again below.",
    ),
)
REGISTER.enter(
    "B12",
    Statement(
        title="residual layers integrate −τLXW_V",
        says="With residual connection and layer norm, depth is the time of ∂X/∂t = −τLXW_V.",
        source="note 1 (2)",
        condition="The layer adds h(A − I)XW_V in place of hAXW_V, without layer norm; or A stays "
        "as it is, W_V = μI, and only the ratio of HC to DC is asked for.",
        repaired="X + hAXW_V is an Euler step of dX/dt = XW_V − LXW_V with L = I − A: the reaction "
        "term XW_V is missing from the note's equation.",
    ),
)
REGISTER.enter(
    "B13",
    Statement(
        title="the error of the limit is O(h²)",
        says="The difference quotient of two layers equals the right-hand side of the equation "
        "up to O(h²), where h is the step.",
        source="note 1 (2)",
        condition="O(h²) is read as the error of one step, before it is divided by h.",
        repaired="The error of one step is O(h²); divided by h, and likewise after a fixed time, "
        "it is O(h).",
    ),
)
REGISTER.enter(
    "B14",
    Statement(
        title="steps to zero give a partial differential equation",
        says="As the step h between layers tends to zero, the stack becomes a partial differential "
        "equation.",
        source="note 1 (2)",
        condition="The number of tokens grows and the bandwidth vanishes as well.",
        repaired="h → 0 gives an ordinary differential equation on n tokens, a diffusion on a "
        "graph that changes with depth. On a circle it tends, as n and β grow, to the heat "
        "equation where attention is frozen, and to curve shortening where it is recomputed.",
    ),
)
REGISTER.enter(
    "B15",
    Statement(
        title="the continuum limit is the heat equation",
        says="The limiting partial differential equation is the heat equation.",
        source="note 1 (2); sander2022; coifman2006",
        condition="The density p of the tokens is uniform.",
        repaired="For a bandwidth h, and up to the factor h²/2, row-softmax generates "
        "Δf + 2∇log p·∇f, Sinkhorn attention Δf + ∇log p·∇f, and the density-corrected kernel Δf.",
    ),
)
REGISTER.enter(
    "B16",
    Statement(
        title="when an Euler step is stable",
        says="An Euler step h is stable for a mode λ of L and an eigenvalue μ of W_V exactly when "
        "|1 − hτλμ| ≤ 1.",
        source="this paper",
    ),
)
REGISTER.enter(
    "B17",
    Statement(
        title="the sign of W_V does not matter",
        says="The flow is a diffusion whatever the sign of W_V.",
        source="note 1 (2), tacitly",
        condition="Re μ > 0 for every eigenvalue μ of W_V.",
        repaired="If L has real eigenvalues, dX/dt = −LXW_V damps every mode exactly when Re μ > 0 "
        "for all μ. A μ with Re μ < 0 makes it the backward heat equation, whose growth in a unit "
        "of time has no bound in the continuum limit.",
    ),
)
REGISTER.enter(
    "B18",
    Statement(
        title="layer norm may be ignored",
        says="Layer norm may be ignored.",
        source="note 1 (2), tacitly; wu2024",
        condition="The tokens agree already: layer norm maps equal rows to equal rows.",
        repaired="Layer norm keeps a consensus but rescales what is left of HC, so its place in "
        "the block and the sign of W_V decide whether the ratio falls, stalls or rises.",
    ),
)
REGISTER.enter(
    "B19",
    Statement(
        title="attention decays with distance",
        says="Attention decays with the distance of query and key.",
        source="note 1 (2)",
        condition="All keys have the same norm.",
        repaired="At equal norms attention is a Gaussian function of distance; otherwise a key "
        "counts the more the farther it lies along the query, at any distance, and moving all "
        "keys alike changes every distance and no weight.",
    ),
)
REGISTER.enter(
    "B20",
    Statement(
        title="a causal mask keeps the mean limit",
        says="Under a causal mask iterated attention still leaves the mean of the tokens.",
        source="note 1 (1), tacitly; wu2024",
        repaired="Under a causal mask the spectrum is the diagonal of A, so that uniform attention "
        "has the eigenvalues 1/i and λ₂ is one half whatever n is, the stationary distribution is "
        "the first token alone, and iteration leaves that token.",
    ),
)
