"""Remedies against smoothing, and the limits of large attention.

Every remedy is a function of the attention matrix A, and its gains are that
function of the eigenvalues λ of A.
"""

from __future__ import annotations

from lowpass.claims.register.statement import REGISTER, Statement

REGISTER.enter(
    "R01",
    Statement(
        title="AttnScale multiplies every other mode",
        says="AttnScale, J + (1 + ω)(A − J), multiplies every non-constant eigenvalue of A by "
        "1 + ω.",
        source="wang2022; this paper",
    ),
)
REGISTER.enter(
    "R02",
    Statement(
        title="FeatScale has the rate of AttnScale",
        says="FeatScale, which weights the HC part by 1 + t after attention and keeps the DC part "
        "as it is, has the rate of AttnScale with ω = t.",
        source="wang2022; this paper",
    ),
)
REGISTER.enter(
    "R03",
    Statement(
        title="GFSA and its bound",
        says="GFSA, w₀I + w₁A + wₖ(A + (K − 1)(A² − A)), has the gains "
        "w₀ + w₁λ + wₖ(λ + (K − 1)(λ² − λ)), and in the maximal row sum its last term differs from "
        "the power K of A by at most 2K, and indeed by at most 2K − 2.",
        source="choi2024; this paper",
    ),
)
REGISTER.enter(
    "R04",
    Statement(
        title="NeuTRENO's fixed point and stability",
        says="NeuTRENO, AV + λ̃(V⁰ − V), converges to λ̃((1 + λ̃)I − A)⁻¹V⁰ and so keeps the "
        "tokens apart.",
        source="nguyen2023; this paper",
        condition="|λₖ − λ̃| < 1 for every eigenvalue λₖ of A.",
        repaired="The fixed point is stable exactly when |λₖ − λ̃| < 1 for every k; otherwise the "
        "iteration diverges.",
    ),
)
REGISTER.enter(
    "R05",
    Statement(
        title="Sinkhorn attention never enlarges HC",
        says="Sinkhorn attention, which is doubly stochastic, keeps the DC part exactly and never "
        "enlarges the HC part, from any start.",
        source="sander2022; this paper",
    ),
)
REGISTER.enter(
    "R06",
    Statement(
        title="residual, AttInv and I − A",
        says="The residual layer I + A, the inverted filter 2I − A and the high-pass I − A have "
        "the gains 1 + λ, 2 − λ and 1 − λ.",
        source="this paper",
    ),
)
REGISTER.enter(
    "R07",
    Statement(
        title="doubly exponential loss of rank",
        says="Without skip connections L attention layers take the distance r of X from equal rows "
        "to at most (4b/√d)^((3ᴸ − 1)/2) r^(3ᴸ) in the composite norm, where b is the largest "
        "‖W_QK‖‖W_V‖ of a layer.",
        source="dong2021",
    ),
)
REGISTER.enter(
    "R08",
    Statement(
        title="|λ₂| of Gaussian tokens",
        says="For Gaussian tokens and untied projections |λ₂| is (β/√d) ρ(W_K W_Qᵀ).",
        source="this paper",
        condition="n is large against exp(β²).",
    ),
)
REGISTER.enter(
    "R09",
    Statement(
        title="|λ₂| of independent logits",
        says="For independent Gaussian logits of standard deviation β, |λ₂| is √((exp(β²) − 1)/n).",
        source="this paper",
        condition="β ≤ 1 and n is large.",
    ),
)
REGISTER.enter(
    "R10",
    Statement(
        title="mixing of reversible attention",
        says="For reversible attention the total-variation distance d(t) from the stationary "
        "distribution obeys |λ₂|ᵗ/2 ≤ d(t) ≤ |λ₂|ᵗ/(2√p), where p is the smallest entry of π.",
        source="diaconis1991; this paper",
    ),
)
REGISTER.enter(
    "R11",
    Statement(
        title="the Bessel spectrum of a circle",
        says="For tokens on a circle with logits β cos(θᵢ − θⱼ) the eigenvalues of attention are "
        "Iₖ(β)/I₀(β), which tend to exp(−k²/(2β)) as β grows.",
        source="this paper",
        condition="k is well below n/2, where the grid of tokens aliases.",
    ),
)
REGISTER.enter(
    "R12",
    Statement(
        title="the HC/DC ratio and what sharpens",
        says="The HC/DC ratio changes at the rate of the transient ratio, whatever a remedy makes "
        "of attention.",
        source="this paper",
        condition="The transient ratio falls.",
        repaired="Where a layer sharpens, the transient ratio grows for ever, and HC/DC tends to "
        "‖Cv‖/‖Jv‖, where v is the mode of largest gain.",
    ),
)
