"""Note 2: attention as kernel smoothing.

α is the similarity of a query q and a key k, α̃ its normalisation over the
keys, d their dimension, h a bandwidth.
"""

from __future__ import annotations

from lowpass.claims.register.statement import REGISTER, Statement

REGISTER.enter(
    "N01",
    Statement(
        title="attention is Nadaraya–Watson",
        says="Softmax attention is the Nadaraya–Watson estimator with α(q, k) = exp(q·k/√d): keys "
        "and values are the observed inputs and outputs, queries are new inputs.",
        source="note 2; nadaraya1964; watson1964; tsai2019; zhang2023",
    ),
)
REGISTER.enter(
    "N02",
    Statement(
        title="the weights sum to one",
        says="The weights α̃(q, k) sum to one over the keys.",
        source="note 2",
        condition="The similarities of a query do not sum to zero.",
        repaired="The weights sum to one where Σα ≠ 0, and average the values only where α ≥ 0.",
    ),
)
REGISTER.enter(
    "N03",
    Statement(
        title="similarity is a plain inner product",
        says="The similarity of a query and a key may be their inner product.",
        source="note 2",
        condition="All inner products are positive, as those of positive features are.",
        repaired="The similarity is the exponential of the inner product; the plain one gives "
        "negative weights, outputs outside the hull of the values, and denominators near zero.",
    ),
)
REGISTER.enter(
    "N04",
    Statement(
        title="attention is a Gaussian smoother",
        says="Attention is a Gaussian kernel smoother.",
        source="note 2; tsai2019",
        condition="All keys have the same norm.",
        repaired="exp(q·k/√d) is a Gaussian kernel of bandwidth h² = √d times the key weight "
        "exp(‖k‖²/(2√d)) and a factor that cancels in its row.",
    ),
)
REGISTER.enter(
    "N05",
    Statement(
        title="the similarity is a Mercer kernel",
        says="The similarity α is a kernel, symmetric and positive semidefinite.",
        source="note 2; tsai2019",
        condition="Query and key projections are tied, W_Q = W_K.",
        repaired="With W_Q ≠ W_K the similarity is not symmetric, and a symmetric but indefinite "
        "form is still not positive semidefinite; the estimator needs neither.",
    ),
)
REGISTER.enter(
    "N06",
    Statement(
        title="the order of keys does not matter",
        says="The order of the key–value pairs does not matter, and permuted queries give permuted "
        "outputs.",
        source="note 2",
        condition="No mask and no positional term tells the tokens apart.",
    ),
)
REGISTER.enter(
    "N07",
    Statement(
        title="both are one estimator",
        says="Attention and kernel regression are equivalent estimators.",
        source="note 2",
        condition="It is said of the formula, at one bandwidth.",
        repaired="The formulas agree; kernel regression is consistent for h → 0 with nh → ∞, "
        "whereas attention keeps its β, has no model of noise, and its values are not responses.",
    ),
)
REGISTER.enter(
    "N08",
    Statement(
        title="the smoother is itself low-pass",
        says="The Nadaraya–Watson estimator is itself a low-pass filter, with the transfer "
        "function exp(−h²ω²/2) for a Gaussian of bandwidth h.",
        source="this paper",
        condition="The inputs lie on a uniform grid that is fine against h, h ≥ 4D.",
        repaired="On a uniform grid it is a filter; for a density p of the inputs its bias is "
        "(h²/2)(f″ + 2f′p′/p).",
    ),
)
REGISTER.enter(
    "N09",
    Statement(
        title="attention is the mean of a joint density",
        says="Kernel regression, which Nadaraya and, independently, Watson proposed in 1964 (the "
        "year is cited, not computed), is the mean of the output given the input under a "
        "kernel estimate of their joint density, and softmax attention is that mean.",
        source="note 2; nadaraya1964; watson1964",
    ),
)
REGISTER.enter(
    "N10",
    Statement(
        title="random features approximate attention",
        says="Attention with m positive random features approximates exp(q·k) with the mean "
        "squared error exp(‖q + k‖²) exp(2q·k) (1 − exp(−‖q + k‖²))/m.",
        source="note 2; choromanski2021; katharopoulos2020",
        condition="The features are independent and identically distributed.",
        repaired="Features of orthogonal directions, which are those in use, err by less than the "
        "formula says.",
    ),
)
