"""The card of every dimension and variable that may go into a file.

A card says what a name means: symbol, long name, units and dimensions. A name
without a card is refused by the writer; axis text is taken from cards.
"""

from __future__ import annotations

from dataclasses import dataclass

from lowpass.registry import Registry
from lowpass.rounding import ROUNDING, Logarithm, Remainder


@dataclass(frozen=True)
class Card:
    """Describe one dimension or variable.

    Parameters
    ----------
    symbol : str
        As the paper writes it, in matplotlib's math text without the dollars.
    long_name : str
        A noun phrase, lower case; the text of an axis.
    units : str
        ``"1"`` for a dimensionless quantity.
    dims : tuple of str
        The dimensions a variable has, in order; swept parameters come before them.
    infinite : str
        Why an infinite value is a result and not a fault; empty where it is a fault.
    """

    symbol: str
    long_name: str
    units: str = "1"
    dims: tuple[str, ...] = ()
    infinite: str = ""


DIMENSIONS = Registry("dimension")
VARIABLES = Registry("variable")

DIMENSIONS.enter("replicate", Card("r", "replicate"))
DIMENSIONS.enter("layer", Card("t", "layer"))
DIMENSIONS.enter("recorded_layer", Card("t", "layer whose tensors are stored"))
DIMENSIONS.enter("token", Card("i", "token"))
DIMENSIONS.enter("feature", Card("a", "feature"))
DIMENSIONS.enter("projected", Card("b", "projected feature"))
DIMENSIONS.enter("query", Card("i", "query"))
DIMENSIONS.enter("key", Card("j", "key"))
DIMENSIONS.enter("head", Card("a", "head"))
DIMENSIONS.enter("power", Card("k", "power of attention"))
DIMENSIONS.enter("mode", Card("m", "mode"))
DIMENSIONS.enter("bandwidth", Card("h", "bandwidth"))
DIMENSIONS.enter("route", Card("", "way of computing the same smoother"))
DIMENSIONS.enter("similarity", Card(r"\alpha", "similarity of a query and a key"))
DIMENSIONS.enter("n_terms", Card("m", "number of terms"))
DIMENSIONS.enter("parent", Card("", "number of the parent"))

VARIABLES.enter("x", Card("X", "token representations", dims=("replicate", "token", "feature")))
VARIABLES.enter("row", Card("", "pixel row where the token's patch begins", dims=("token",)))
VARIABLES.enter("column", Card("", "pixel column where the token's patch begins", dims=("token",)))
VARIABLES.enter("patch_row", Card("", "pixel row within a patch", dims=("feature",)))
VARIABLES.enter("patch_column", Card("", "pixel column within a patch", dims=("feature",)))
VARIABLES.enter(
    "log_density_slope",
    Card(r"(\log p)'", "slope of the log density at a token", units="1/rad", dims=("token",)),
)
VARIABLES.enter("q", Card("Q", "queries", dims=("replicate", "token", "projected")))
VARIABLES.enter("k", Card("K", "keys", dims=("replicate", "token", "projected")))
VARIABLES.enter(
    "logits",
    Card(
        "S",
        "logits",
        dims=("replicate", "query", "key"),
        infinite="minus infinity where a key is masked",
    ),
)
VARIABLES.enter(
    "allowed",
    Card("M", "permission to attend", dims=("replicate", "query", "key")),
)
VARIABLES.enter("inverse_temperature", Card(r"\beta", "inverse temperature", dims=("replicate",)))
VARIABLES.enter(
    "max_logit",
    Card(
        r"\alpha",
        "largest modulus of a logit",
        dims=("replicate",),
    ),
)
VARIABLES.enter("key_position", Card("k", "key position", dims=("key", "feature")))
VARIABLES.enter("query_position", Card("q", "query position", dims=("query", "feature")))
VARIABLES.enter("value", Card("v", "value", dims=("key",)))

VARIABLES.enter(
    "attention",
    Card("A", "attention matrix", dims=("replicate", "query", "key")),
)
VARIABLES.enter(
    "slem",
    Card(r"|\lambda_2|", "second-largest eigenvalue modulus", dims=("replicate",)),
)
VARIABLES.enter(
    "laplacian_matrix", Card("L", "graph Laplacian", dims=("replicate", "query", "key"))
)
VARIABLES.enter(
    "laplacian_eigenvalue",
    Card(r"\lambda(L)", "eigenvalue of the Laplacian", dims=("replicate", "mode")),
)
VARIABLES.enter(
    "heat_kernel",
    Card(r"e^{-\tau L}", "heat kernel of one layer", dims=("replicate", "query", "key")),
)
VARIABLES.enter(
    "log10_mode_gain",
    Card(
        r"\log_{10}\max_{i\geq2,j}|g(\tau\lambda_i\mu_j)|",
        "decimal logarithm of the largest factor by which a layer changes a mode",
        dims=("replicate",),
        infinite="a layer makes all tokens equal",
    ),
)
VARIABLES.enter(
    "stable",
    Card(
        r"\max|g|\leq1",
        "whether no mode grows: one where none does, else zero",
        dims=("replicate",),
    ),
)
VARIABLES.enter(
    "log10_truncation",
    Card(
        r"\log_{10}\epsilon",
        "decimal logarithm of the bound on what a layer's polynomial leaves out",
        dims=("replicate",),
        infinite="nothing flows, so that nothing is left out",
    ),
)
VARIABLES.enter("layer_time", Card(r"\tau", "diffusion time of one layer", dims=("replicate",)))
VARIABLES.enter("w_q", Card("W_Q", "query projection", dims=("replicate", "feature", "projected")))
VARIABLES.enter("w_k", Card("W_K", "key projection", dims=("replicate", "feature", "projected")))
VARIABLES.enter(
    "w_v",
    Card("W_V", "value projection, its scale included", dims=("replicate", "feature", "projected")),
)
VARIABLES.enter("w_o", Card("W_O", "output projection", dims=("replicate", "feature", "projected")))
VARIABLES.enter(
    "attention_by_head",
    Card("A_a", "attention matrix of a head", dims=("replicate", "head", "query", "key")),
)
VARIABLES.enter(
    "layer_share",
    Card("s_t", "share of attention in a layer, beside the identity", dims=("layer",)),
)
VARIABLES.enter("skip_weight", Card("s", "weight of the skip connection", dims=("replicate",)))
VARIABLES.enter("step_size", Card("h", "step of a layer", dims=("replicate",)))
VARIABLES.enter(
    "recomputed",
    Card("A(X_t)", "whether attention is that of each layer's tokens", dims=("replicate",)),
)
VARIABLES.enter(
    "key_penalty",
    Card("p", "factor of half a key's squared norm, which logits lack", dims=("replicate",)),
)
VARIABLES.enter(
    "integrator_rtol",
    Card(r"\varepsilon_r", "tolerance of a layer, relative to an entry", dims=("replicate",)),
)
VARIABLES.enter(
    "integrator_atol",
    Card(
        r"\varepsilon_a", "tolerance of a layer, relative to the largest entry", dims=("replicate",)
    ),
)
VARIABLES.enter(
    "high_coefficient",
    Card("a_k", "coefficient of a power of attention, for HC", dims=("replicate", "power")),
)
VARIABLES.enter(
    "mean_coefficient",
    Card("b_k", "coefficient of a power of attention, for DC", dims=("replicate", "power")),
)
VARIABLES.enter(
    "source_weight",
    Card(r"\tilde\lambda", "weight of the tokens of layer 0", dims=("replicate",)),
)
VARIABLES.enter(
    "stationary", Card(r"\pi", "stationary distribution of attention", dims=("replicate", "token"))
)
VARIABLES.enter(
    "dc",
    Card(
        r"2^{-e}JX",
        "direct-current component, without its binary exponent",
        dims=("replicate", "recorded_layer", "feature"),
    ),
)
VARIABLES.enter(
    "dc_exponent",
    Card(
        "e", "binary exponent of the direct-current component", dims=("replicate", "recorded_layer")
    ),
)
VARIABLES.enter(
    "hc",
    Card(
        r"2^{-e}CX",
        "high-frequency component, without its binary exponent",
        dims=("replicate", "recorded_layer", "token", "feature"),
    ),
)
VARIABLES.enter(
    "hc_exponent",
    Card(
        "e", "binary exponent of the high-frequency component", dims=("replicate", "recorded_layer")
    ),
)

NOTHING_LEFT = "the logarithm of a component that is exactly zero"

VARIABLES.enter(
    "log10_dc_norm",
    Card(
        r"\log_{10}\|JX\|_F",
        "decimal logarithm of the norm of the direct-current component",
        dims=("replicate", "layer"),
        infinite=NOTHING_LEFT,
    ),
)
ROUNDING.enter("log10_dc_norm", Logarithm())
VARIABLES.enter(
    "log10_hc_norm",
    Card(
        r"\log_{10}\|CX\|_F",
        "decimal logarithm of the norm of the high-frequency component",
        dims=("replicate", "layer"),
        infinite=NOTHING_LEFT,
    ),
)
ROUNDING.enter("log10_hc_norm", Logarithm())
VARIABLES.enter(
    "log10_stationary_norm",
    Card(
        r"\log_{10}\|1\pi^\top X\|_F",
        "decimal logarithm of the norm of the stationary component",
        dims=("replicate", "layer"),
        infinite=NOTHING_LEFT,
    ),
)
ROUNDING.enter("log10_stationary_norm", Logarithm())
VARIABLES.enter(
    "log10_transient_norm",
    Card(
        r"\log_{10}\|(I-1\pi^\top)X\|_F",
        "decimal logarithm of the norm of the transient component",
        dims=("replicate", "layer"),
        infinite=NOTHING_LEFT,
    ),
)
ROUNDING.enter("log10_transient_norm", Logarithm())
VARIABLES.enter(
    "log10_rounding_floor",
    Card(
        r"\log_{10}u/\sqrt{2n}",
        "smallest ratio one array of this precision can hold, as a decimal logarithm",
        dims=("replicate",),
        infinite="the split form has no such floor",
    ),
)

VARIABLES.enter("parent_path", Card("", "path of a parent", dims=("parent",)))
VARIABLES.enter("parent_key", Card("", "key of a parent", dims=("parent",)))
VARIABLES.enter("parent_digest", Card("", "digest of a parent", dims=("parent",)))

VARIABLES.enter(
    "loo_score",
    Card("CV(h)", "leave-one-out mean squared error", dims=("bandwidth",)),
)
VARIABLES.enter(
    "effective_dof",
    Card(r"\mathrm{tr}\,A", "effective degrees of freedom", dims=("bandwidth",)),
)
VARIABLES.enter("bandwidth_selected", Card("h^*", "selected bandwidth"))
VARIABLES.enter("temperature_selected", Card("T^*=h^{*2}", "selected temperature"))
VARIABLES.enter("loo_score_selected", Card("CV(h^*)", "smallest leave-one-out error"))
VARIABLES.enter("nw_weights", Card(r"\tilde\alpha", "kernel weights", dims=("query", "key")))
VARIABLES.enter("fit", Card("f", "fit", dims=("query",)))
VARIABLES.enter("lower", Card("", "lower end of the pointwise band", dims=("query",)))
VARIABLES.enter("upper", Card("", "upper end of the pointwise band", dims=("query",)))
VARIABLES.enter(
    "fit_by_route",
    Card("f", "the same smoother computed in another way", dims=("route", "query")),
)
VARIABLES.enter(
    "normaliser_share",
    Card(
        r"|\sum_i\alpha_i|/\sum_i|\alpha_i|",
        "share of the similarities that does not cancel in their sum",
        dims=("similarity", "query"),
    ),
)
ROUNDING.enter("normaliser_share", Remainder())
VARIABLES.enter(
    "weight_sum_defect",
    Card(r"|\sum_i\tilde\alpha_i-1|", "defect of the sum of the weights", dims=("query",)),
)
ROUNDING.enter("weight_sum_defect", Remainder())
VARIABLES.enter("period", Card("P", "length of one turn around the ring"))
VARIABLES.enter("truth", Card("f", "curve that values scatter about", dims=("key",)))
VARIABLES.enter("noise", Card(r"\sigma", "standard deviation of a value about the truth"))

DIMENSIONS.enter("end_place", Card("c", "wanted distance from the end, in bandwidths"))
VARIABLES.enter("truth_slope", Card("f'", "slope of the truth", dims=("key",)))
VARIABLES.enter("truth_curvature", Card("f''", "second derivative of the truth", dims=("key",)))
VARIABLES.enter("kept_keys", Card("n", "number of keys"))
VARIABLES.enter("mise", Card(r"E(h^*)", "integrated squared error"))
VARIABLES.enter("mise_bandwidth", Card("h^*", "bandwidth of the least error"))
VARIABLES.enter("mise_leading", Card(r"E_0(h_0)", "leading terms of the least error"))
VARIABLES.enter("mise_bandwidth_leading", Card("h_0", "bandwidth that minimises leading terms"))
VARIABLES.enter("variance_share", Card(r"V/E(h^*)", "share of variance"))
VARIABLES.enter("mise_fixed", Card(r"E(\beta^{-1/2})", "integrated squared error of attention"))
VARIABLES.enter("bias_fixed", Card(r"B(\beta^{-1/2})", "integrated squared bias of attention"))
VARIABLES.enter(
    "attention_gap",
    Card(r"|A f - \hat f|", "largest difference of attention and the smoother"),
)
ROUNDING.enter("attention_gap", Remainder())
VARIABLES.enter("end_distance", Card("x/h", "distance from the end", dims=("end_place",)))
VARIABLES.enter(
    "end_bias",
    Card(r"b/h^pf^{(p)}", "scaled bias", dims=("end_place",)),
)
VARIABLES.enter(
    "end_bias_leading",
    Card(r"b_0/h^pf^{(p)}", "limit of the scaled bias", dims=("end_place",)),
)
VARIABLES.enter("end_constant", Card("b_0(0)", "limit of the scaled bias at the end"))
