"""Parameters of the attention stage: one layer of attention, and how it is repeated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from lowpass.domains import Count, NonNegative
from lowpass.integrators import INTEGRATORS
from lowpass.kernels import KERNELS, SCORES
from lowpass.masks import MASKS, check_parameters
from lowpass.registry import Refusal
from lowpass.remedies import REMEDIES
from lowpass.spec.base import Spec, build, place, shown
from lowpass.spec.depth import Record, check_recorded
from lowpass.starts import STARTS
from lowpass.weights import VALUES, WEIGHTS


def known_kernel(name: str) -> str:
    """Refuse a name that no attention kernel has."""
    KERNELS[name]
    return name


def known_score(name: str) -> str:
    """Refuse a name that no score has."""
    SCORES[name]
    return name


def known_weights(name: str) -> str:
    """Refuse a name that no weight distribution has."""
    WEIGHTS[name]
    return name


def known_mask(name: str) -> str:
    """Refuse a name that no mask has."""
    MASKS[name]
    return name


def known_values(name: str) -> str:
    """Refuse a name that no value distribution has."""
    VALUES[name]
    return name


def known_remedy(name: str) -> str:
    """Refuse a name that no remedy has."""
    REMEDIES[name]
    return name


def known_start(name: str) -> str:
    """Refuse a name that no start has."""
    STARTS[name]
    return name


def known_integrator(name: str) -> str:
    """Refuse a name that no integrator has."""
    INTEGRATORS[name]
    return name


class Attention(Spec):
    """Say which attention matrix is built and how it acts, layer after layer."""

    kernel: Annotated[str, AfterValidator(known_kernel)] = Field(
        "softmax", description="how scores become a mixing matrix"
    )
    score: Annotated[str, AfterValidator(known_score)] = Field(
        "dot", description="how a query is compared with a key"
    )
    weights: Annotated[str, AfterValidator(known_weights)] = Field(
        "untied", description="how the query and key projections are drawn"
    )
    n_heads: Count = Field(
        1, description="heads, each with its share of the features of queries, keys and values"
    )
    mask: Annotated[str, AfterValidator(known_mask)] = Field(
        "none", description="which keys a query may see"
    )
    mask_width: Count | None = Field(
        None, description="distance that the mask 'window' reaches, in tokens"
    )
    values: Annotated[str, AfterValidator(known_values)] = Field(
        "identity", description="how the projection of values is drawn"
    )
    output: Annotated[str, AfterValidator(known_values)] = Field(
        "identity", description="how the projection of what the heads give is drawn"
    )
    value_scale: float = Field(1.0, description="factor of the projection of values")
    value_unit: Literal["one", "inverse_slem"] = Field(
        "one", description="what that factor is in units of: one, or one over |λ₂|"
    )
    skip: float = Field(0.0, description="weight of the skip connection, which adds the tokens")
    step: float = Field(1.0, description="weight of what the heads give")
    integrator: Annotated[str, AfterValidator(known_integrator)] = Field(
        "euler",
        description="how a layer is taken: as one explicit step, or along the flow for as long",
    )
    sublayers: Count = Field(
        1, description="thinner layers that each layer is made of, each with its share of the step"
    )
    norm: Literal["none", "pre", "post"] = Field(
        "none", description="where layer norm stands: nowhere, before the heads, after the sum"
    )
    remedy: Annotated[str, AfterValidator(known_remedy)] = Field(
        "none", description="which filter is made of attention"
    )
    strength: float = Field(0.0, description="strength of the remedy; neutral at 0")
    featscale_dc: float = Field(0.0, description="of the remedy 'featscale': scale of the mean")
    gfsa_w0: float = Field(0.0, description="of the remedy 'gfsa': weight of the identity")
    gfsa_w1: float = Field(1.0, description="of the remedy 'gfsa': weight of attention")
    gfsa_order: Count = Field(3, description="of the remedy 'gfsa': the power that is approached")
    start: Annotated[str, AfterValidator(known_start)] = Field(
        "tokens", description="what the iteration starts from"
    )
    layers: Literal["frozen", "recomputed", "waning"] = Field(
        "frozen",
        description="one matrix for all layers; a new one from the tokens of each; or one that "
        "layer t mixes with the identity, (1 − 2⁻ᵗ⁻¹)I + 2⁻ᵗ⁻¹A",
    )
    projections: Literal["shared", "fresh"] = Field(
        "shared", description="one draw for all layers, or one for each that is recomputed"
    )
    beta: NonNegative | None = Field(
        None,
        description="inverse temperature, dimensionless; left out where a file states attention",
    )
    depth: Count = Field(description="number of layers")
    record: Record = Field("geometric", description="layers whose tensors are stored")
    matrix: Literal["stored", "summarised"] = Field(
        "stored",
        description="whether attention is stored, with its stationary mode, or only its |λ₂|",
    )
    arithmetic: Literal["split", "float64", "float32"] = Field(
        "split", description="how a layer is computed"
    )

    @property
    def is_refined(self) -> bool:
        """Whether a layer is more than one explicit step."""
        return self.integrator != "euler" or self.sublayers > 1

    @property
    def keeps_a_mode(self) -> bool:
        """Whether a stationary mode that all layers share is kept, which splits tokens for ever."""
        shared = self.layers != "recomputed" and self.n_heads == 1 and self.norm == "none"
        return shared and self.matrix == "stored"


def parse(params: dict[str, Any], where: str) -> Attention:
    """Validate the parameters of the attention stage.

    Raises
    ------
    Refusal
        When a layer to record lies beyond the last layer, or parameters do not fit together.
    """
    spec = build(Attention, params, where)
    check_recorded(spec.record, spec.depth, where)
    try:
        check_parameters(spec.mask, mask_width=spec.mask_width)
    except Refusal as refusal:
        raise Refusal(f"{place(where, 'mask_width')}: {refusal}") from None
    check_remedy(spec, where)
    check_dynamics(spec, where)
    check_refined(spec, where)
    return spec


def check_remedy(spec: Attention, where: str) -> None:
    """Refuse a strength or a knob that the remedy has not.

    Raises
    ------
    Refusal
        Naming the parameter.
    """
    own = {"strength", *REMEDIES.facts(spec.remedy)["knobs"]} if spec.remedy != "none" else set()
    given = {
        "strength": spec.strength,
        "featscale_dc": spec.featscale_dc,
        "gfsa_w0": spec.gfsa_w0,
        "gfsa_w1": spec.gfsa_w1,
        "gfsa_order": spec.gfsa_order,
    }
    for name, value in given.items():
        if name not in own and value != Attention.model_fields[name].default:
            raise Refusal(
                f"{place(where, name)}: {shown(value)} would not count, since the remedy "
                f"'{spec.remedy}' has no '{name}'; delete it, or name another remedy."
            )
    if spec.remedy != "none" and spec.layers == "waning":
        raise Refusal(
            f"{place(where, 'remedy')}: '{spec.remedy}' is a filter of attention, and layers that "
            f"are 'waning' mix it with the identity already; write 'layers: frozen'."
        )


def check_dynamics(spec: Attention, where: str) -> None:
    """Refuse parameters of one kind of layers beside another kind.

    Raises
    ------
    Refusal
        Naming the parameter.
    """
    if spec.start != "tokens" and not spec.keeps_a_mode:
        raise Refusal(
            f"{place(where, 'start')}: '{spec.start}' is said of the stationary mode, which "
            f"recomputed layers, several heads and layer norm do not have, and a matrix that is "
            f"'summarised' does not keep; write 'start: tokens'."
        )
    if spec.projections == "fresh" and spec.layers != "recomputed":
        raise Refusal(
            f"{place(where, 'projections')}: 'fresh' would not count, since one matrix serves all "
            f"layers; write 'layers: recomputed', or delete it."
        )
    if spec.value_unit != "one" and spec.layers == "recomputed":
        raise Refusal(
            f"{place(where, 'value_unit')}: '{spec.value_unit}' needs the one |λ₂| of all layers; "
            f"write 'layers: frozen', or delete it."
        )
    facts = (KERNELS.facts(spec.kernel), SCORES.facts(spec.score))
    exact = all(each.get("split_form") for each in facts)
    if spec.layers == "recomputed" and spec.arithmetic == "split" and not exact:
        raise Refusal(
            f"{place(where, 'arithmetic')}: recomputed attention has a split form for the kernel "
            f"'softmax' of the scores 'dot' and 'l2' only, not for "
            f"'{spec.kernel}' of '{spec.score}'; write 'arithmetic: float64'."
        )


def check_refined(spec: Attention, where: str) -> None:
    """Refuse thinner layers, or their limit, where layers are no steps of a flow.

    Raises
    ------
    Refusal
        Naming the parameter.
    """
    if not spec.is_refined:
        return
    cause = f"sublayers: {spec.sublayers}"
    if spec.integrator != "euler":
        cause = f"integrator: {spec.integrator}"
        if spec.sublayers > 1:
            raise Refusal(
                f"{place(where, 'sublayers')}: {spec.sublayers} would not count, since '{cause}' "
                f"is the limit of ever thinner layers already; delete one of them."
            )
    # What a flow needs, and why nothing else will do.
    wanted = {
        "skip": (1, "thinner layers tend to a flow only where each adds to the tokens"),
        "norm": ("none", "layer norm is no part of the flow"),
        "projections": ("shared", "a flow has one field at all times"),
    }
    if spec.integrator != "euler":
        wanted["arithmetic"] = ("float64", "a flow is solved in one array")
    for name, (value, why) in wanted.items():
        if getattr(spec, name) != value:
            raise Refusal(
                f"{place(where, name)}: {shown(getattr(spec, name))} does not go with '{cause}', "
                f"since {why}; write '{name}: {value}'."
            )
    if spec.layers == "waning":
        raise Refusal(
            f"{place(where, 'layers')}: 'waning' does not go with '{cause}', since a flow has one "
            f"field at all times; write 'layers: frozen'."
        )
