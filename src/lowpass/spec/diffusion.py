"""Parameters of the diffusion stage: a graph, its Laplacian, and the time of a layer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from lowpass.domains import Count, NonNegative, Tolerance
from lowpass.flows import FLOWS
from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS
from lowpass.registry import Refusal
from lowpass.spec.base import Spec, build, place, shown
from lowpass.spec.depth import Record, check_recorded
from lowpass.weights import VALUES, WEIGHTS


def known_graph(name: str) -> str:
    """Refuse a name that no graph has."""
    GRAPHS[name]
    return name


def known_laplacian(name: str) -> str:
    """Refuse a name that no Laplacian has."""
    LAPLACIANS[name]
    return name


def known_weights(name: str) -> str:
    """Refuse a name that no weight distribution has."""
    WEIGHTS[name]
    return name


def known_values(name: str) -> str:
    """Refuse a name that no value distribution has."""
    VALUES[name]
    return name


def known_method(name: str) -> str:
    """Refuse a name that no way of computing the flow has."""
    FLOWS[name]
    return name


class Diffusion(Spec):
    """Say on which graph heat flows, and for how long in each layer."""

    graph: Annotated[str, AfterValidator(known_graph)] = Field(
        description="which tokens are neighbours, and how close"
    )
    laplacian: Annotated[str, AfterValidator(known_laplacian)] = Field(
        "combinatorial", description="how neighbours are compared"
    )
    beta: NonNegative | None = Field(
        None,
        description="inverse temperature of the graphs 'tokens' (there one over a squared "
        "width), 'logits' and 'affinity', dimensionless; left out for others",
    )
    weights: Annotated[str, AfterValidator(known_weights)] = Field(
        "untied",
        description="of the graphs 'logits' and 'affinity': how the query and key projections "
        "are drawn",
    )
    values: Annotated[str, AfterValidator(known_values)] = Field(
        "identity", description="how the projection of values is drawn"
    )
    value_scale: float = Field(1.0, description="factor of the projection of values")
    diffusion_time: NonNegative = Field(description="time that passes in a layer, dimensionless")
    depth: Count = Field(description="number of layers")
    record: Record = Field("geometric", description="layers whose tensors are stored")
    method: Annotated[str, AfterValidator(known_method)] = Field(
        "eigh", description="how the flow is computed"
    )
    taylor_order: Count = Field(
        8, description="of the method 'taylor': highest power of the Laplacian"
    )
    tolerance: Tolerance = Field(
        1e-9, description="of the methods 'rk45' and 'dop853': error of a step, relative"
    )

    @property
    def maps_values(self) -> bool:
        """Whether values are mapped by anything but the identity."""
        return self.values != "identity" or self.value_scale != 1

    @property
    def knobs(self) -> dict[str, float]:
        """What the method asks for, by name."""
        return {name: getattr(self, name) for name in FLOWS.facts(self.method)["knobs"]}


def parse(params: dict[str, Any], where: str) -> Diffusion:
    """Validate the parameters of the diffusion stage.

    Raises
    ------
    Refusal
        When a layer to record lies beyond the last layer, a Laplacian keeps no constant, or
        beta is missing where a graph has a width, or given where it has none.
    """
    spec = build(Diffusion, params, where)
    check_recorded(spec.record, spec.depth, where)
    if not LAPLACIANS.facts(spec.laplacian)["constant_mode"]:
        raise Refusal(
            f"{place(where, 'laplacian')}: '{spec.laplacian}' does not keep constants, so its "
            f"heat flow has no mean to tend to; write random_walk, which is similar to it."
        )
    check_graph(spec, where)
    check_method(spec, where)
    return spec


def check_method(spec: Diffusion, where: str) -> None:
    """Refuse parameters that a method does not read, and values that it cannot map.

    Raises
    ------
    Refusal
        Naming the parameter.
    """
    facts, fields = FLOWS.facts(spec.method), Diffusion.model_fields
    for name, value in (("taylor_order", spec.taylor_order), ("tolerance", spec.tolerance)):
        if name not in facts["knobs"] and value != fields[name].default:
            raise Refusal(
                f"{place(where, name)}: {shown(value)} would not count, since the method "
                f"'{spec.method}' has no '{name}'; delete it, or name another method."
            )
    if spec.maps_values and not facts["maps_values"]:
        raise Refusal(
            f"{place(where, 'method')}: '{spec.method}' follows the real eigenvalues of the "
            f"Laplacian alone, and values that are mapped have others; write 'method: eigh'."
        )


def check_graph(spec: Diffusion, where: str) -> None:
    """Refuse parameters that a graph lacks, or does not have.

    Raises
    ------
    Refusal
        Naming the parameter.
    """
    facts, spot = GRAPHS.facts(spec.graph), place(where, "beta")
    if facts["needs_beta"] and spec.beta is None:
        raise Refusal(f"{spot}: is not given and has no default; write a value for it.")
    if not facts["needs_beta"] and spec.beta is not None:
        raise Refusal(
            f"{spot}: would not count, since the graph '{spec.graph}' asks only who is next to "
            f"whom; delete it, or write 'graph: tokens'."
        )
    if not facts["needs_weights"] and spec.weights != Diffusion.model_fields["weights"].default:
        raise Refusal(
            f"{place(where, 'weights')}: {shown(spec.weights)} would not count, since the graph "
            f"'{spec.graph}' compares no queries with keys; delete it, or write 'graph: affinity'."
        )
    if facts["signed"] and LAPLACIANS.facts(spec.laplacian)["positive"]:
        raise Refusal(
            f"{place(where, 'laplacian')}: '{spec.laplacian}' needs affinities that are not "
            f"negative, and '{spec.graph}' have either sign; write 'laplacian: signed', or "
            f"'graph: affinity'."
        )
