"""Note 1, part one: attention as a stochastic matrix.

J = 11ᵀ/n averages tokens and C = I − J removes the average; P are logits, A is
attention, π its stationary distribution.
"""

from __future__ import annotations

from lowpass.claims.register.statement import REGISTER, Statement

REGISTER.enter(
    "A01",
    Statement(
        title="zero frequency is the token mean",
        says="The zero-frequency part of the discrete Fourier transform of a token signal z is its "
        "token mean, DC(z) = Jz with J = 11ᵀ/n, and its high-frequency component is all the rest, "
        "HC(z) = (I − J)z.",
        source="note 1 (1); wang2022",
    ),
)
REGISTER.enter(
    "A02",
    Statement(
        title="attention is row-stochastic",
        says="Softmax attention A is row-stochastic, A1 = 1, so one is an eigenvalue with the "
        "constant vector as its eigenvector.",
        source="note 1 (1)",
    ),
)
REGISTER.enter(
    "A03",
    Statement(
        title="stochastic implies the mean limit",
        says="Because attention is a stochastic matrix, the theorem of Perron and Frobenius leaves "
        "the constant vector as the only mode that survives iteration.",
        source="note 1 (1)",
        condition="A is primitive, for which finite logits suffice, because every entry of A is "
        "then positive.",
        repaired="For a primitive row-stochastic A the powers Aᵗ tend to 1πᵀ; a mask that splits "
        "the tokens into blocks, or makes them alternate, keeps HC for ever.",
    ),
)
REGISTER.enter(
    "A04",
    Statement(
        title="every start forgets all but its mean",
        says="For every token signal z, ‖HC(Aᵗz)‖/‖DC(Aᵗz)‖ tends to zero as t grows.",
        source="note 1 (1); wang2022, theorem 1",
        condition="A is primitive and πᵀz ≠ 0.",
        repaired="For primitive A the signal Aᵗz tends to 1(πᵀz): the ratio tends to zero where "
        "πᵀz ≠ 0, and where πᵀz = 0 both parts vanish together and the ratio does not.",
    ),
)
REGISTER.enter(
    "A05",
    Statement(
        title="the rate of forgetting is |λ₂|",
        says="The ratio of the transient to the stationary part of Aᵗz falls like |λ₂|ᵗ, where λ₂ "
        "is the eigenvalue of A with the second-largest modulus.",
        source="this paper",
        condition="A is primitive, λ₂ is not defective, z has a component along its mode, and the "
        "layers are many.",
    ),
)
REGISTER.enter(
    "A06",
    Statement(
        title="the contraction chain |λ₂| ≤ τ₁ ≤ tanh(Δ/4) ≤ tanh α",
        says="Attention contracts the oscillation of every signal, osc(Az) ≤ τ₁(A) osc(z), and "
        "|λ₂| ≤ τ₁(A) ≤ tanh(Δ/4) ≤ tanh(α), where Δ is the largest Pᵢⱼ + Pₖₗ − Pᵢₗ − Pₖⱼ and α "
        "the largest |Pᵢⱼ| of the logits.",
        source="this paper; seneta2006",
    ),
)
REGISTER.enter(
    "A07",
    Statement(
        title="one layer never enlarges HC",
        says="One attention layer never enlarges the high-frequency component: ‖HC(Az)‖ ≤ ‖HC(z)‖.",
        source="note 1 (1)",
        repaired="One layer enlarges HC by at most ‖CAC‖₂, with C = I − J, which can exceed one "
        "although |λ₂| is below one, up to the root of half the number of tokens where two hubs "
        "share all queries; what no layer enlarges is the oscillation max z − min z.",
    ),
)
REGISTER.enter(
    "A08",
    Statement(
        title="the rate bound of Wang et al.",
        says="In the Frobenius norm one layer obeys ‖HC(AXW_V)‖ ≤ c ‖W_V‖₂ ‖HC(X)‖ with "
        "c² = n exp(2α)/(exp(2α) + n − 1), where α is the largest |Pᵢⱼ| of the logits.",
        source="note 1 (1); wang2022",
        repaired="The constant c is never below one, so it shows no contraction for any n and α; "
        "for W_V = I the best constant is ‖CAC‖₂, which is at most the Frobenius norm of CA and at "
        "most the root of the largest column sum of A, a root that is at most c.",
    ),
)
REGISTER.enter(
    "A09",
    Statement(
        title="products of different layers are low-pass",
        says="A product of different attention matrices, one per layer, is a low-pass filter.",
        source="note 1 (1); wang2022",
        condition="The sum of 1 − τ₁(Aₗ) over the layers diverges, for which uniformly bounded "
        "logits suffice.",
        repaired="A product of attention matrices forgets all but a constant signal where the sum "
        "of 1 − τ₁(Aₗ) diverges; finite logits that grow with depth can keep a part of HC for "
        "ever.",
    ),
)
REGISTER.enter(
    "A10",
    Statement(
        title="HC means high DFT frequency",
        says="The high-frequency component consists of high frequencies of the discrete Fourier "
        "transform, so attention damps a frequency the more, the higher it is.",
        source="note 1 (1)",
        repaired="HC is everything but the mean and does not depend on the order of the tokens, "
        "as frequency does: attention lets the mean dominate, which orders no other gains.",
    ),
)
REGISTER.enter(
    "A11",
    Statement(
        title="circulant logits diagonalise in the DFT",
        says="Where the logits depend on i − j mod n only, the discrete Fourier transform "
        "diagonalises attention and its Laplacian.",
        source="this paper",
    ),
)
REGISTER.enter(
    "A12",
    Statement(
        title="AXW_V, repeated, makes HC vanish",
        says="Repeating X → AXW_V with one attention matrix makes the high-frequency component "
        "vanish.",
        source="note 1 (1); choi2024",
        condition="It is said of the ratio of the transient to the stationary part, for generic X "
        "and W_V.",
        repaired="The ratio falls at the rate |λ₂| for every generic W_V, while ‖HC‖ itself grows "
        "where |λ₂| ρ(W_V) > 1.",
    ),
)
REGISTER.enter(
    "A13",
    Statement(
        title="a frozen A describes recomputed attention",
        says="The geometric rate of one repeated attention matrix also describes a stack that "
        "recomputes attention from its own tokens.",
        source="note 1 (1); dong2021",
        repaired="Without skip connections a recomputed stack contracts its distance R from equal "
        "rows cubically, ‖R₊‖ = O(‖R‖³); a frozen matrix contracts it geometrically.",
    ),
)
