"""Which measures an experiment can take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lowpass.measures import MEASURES
from lowpass.plan.fitting import DYNAMICS, compared, stated
from lowpass.registry import Refusal
from lowpass.spec.data import has_density, shows_picture

# What a matrix that is only summarised leaves out, by the word of the measures.
KEPT = {"matrix": "matrix of a layer", "mode": "stationary mode of a matrix"}


def check_measures(specs: Mapping[str, Any], where: str) -> None:
    """Refuse a measure of something that this experiment has not."""
    for name in specs["spectra"].measures if "spectra" in specs else ():
        of = MEASURES.facts(name).get("of")
        faults = (absence(wanted, specs) for wanted in (of if isinstance(of, tuple) else (of,)))
        if fault := next(filter(None, faults), ""):
            raise Refusal(f"{where}.spectra: '{name}' {fault}.")


def absence(wanted: str | None, specs: Mapping[str, Any]) -> str:
    """Say why there is not what a measure is of, and what to do; nothing where it is there."""
    attention = specs.get("attention")
    if wanted in DYNAMICS and wanted not in specs:
        return f"is a measure of '{wanted}', which this experiment has not; delete it"
    if wanted == "temperature" and getattr(attention, "beta", None) is None:
        return "follows from 'attention.beta', which this experiment has not; delete it"
    if wanted in ("matrix", "mode", "modulus"):
        return without_matrix(wanted, specs)
    if wanted == "gains" and specs["diffusion"].method == "chebyshev":
        return (
            "follows from the eigenvalues of the Laplacian, which the method 'chebyshev' never "
            "computes; delete it, or write 'method: eigh'"
        )
    if wanted in ("pair", "picture", "density"):
        return without_tokens(wanted, specs["data"])
    if wanted == "transient":
        return without_mode(attention)
    if wanted == "frozen":
        return without_one_matrix(attention)
    if wanted == "source":
        return without_source(attention)
    if wanted == "flow":
        return without_flow(specs)
    if wanted == "logits":
        return without_logits(specs)
    if wanted == "scores":
        return without_logits(specs) or without_scores(specs)
    return without_logits(specs) or without_weights(specs) if wanted == "weights" else ""


def without_tokens(wanted: str, data: Any) -> str:
    """Say why tokens are no pair, no picture or have no density; nothing where they do."""
    if wanted == "pair" and getattr(data, "n_tokens", 2) < 2:
        return "compares tokens, and there is one only; delete it, or write 'n_tokens: 2'"
    if wanted == "picture" and not shows_picture(data.generator):
        return (
            f"is a measure of a picture, and '{data.generator}' gives none; delete it, or write "
            f"'generator: image'"
        )
    if wanted == "density" and not has_density(data.generator):
        return (
            f"is a measure of tokens whose density is known, and that of '{data.generator}' is "
            f"not; delete it, or write 'generator: dense_ring'"
        )
    return ""


def without_mode(attention: Any) -> str:
    """Say why layers share no stationary mode; nothing where they do."""
    if attention is None or attention.keeps_a_mode:
        return ""
    return (
        "compares what is forgotten with a stationary mode, which recomputed layers, several "
        "heads and layer norm do not have, and a matrix that is 'summarised' does not keep; "
        "delete it, or take 'log10_hc_dc_ratio'"
    )


def without_one_matrix(attention: Any) -> str:
    """Say why no matrix serves all layers; nothing where one does."""
    if attention is not None and attention.layers != "frozen":
        return (
            f"follows from one matrix that serves all layers, and these are '{attention.layers}'; "
            f"delete it, or write 'layers: frozen'"
        )
    if attention is not None and attention.is_refined:
        return (
            "follows from layers that are one explicit step each, and these are not; delete it, "
            "or 'integrator' and 'sublayers'"
        )
    return ""


def without_flow(specs: Mapping[str, Any]) -> str:
    """Say why layers are no steps of a flow that could be followed; nothing where they are."""
    attention = specs.get("attention")
    if attention is None:
        return "is a measure of layers of attention, which this experiment has not; delete it"
    if attention.skip != 1 or attention.step == 0 or attention.norm != "none":
        return (
            "compares layers with the flow that they are steps of, and these are no steps; delete "
            "it, or write 'skip: 1', another step than zero, and 'norm: none'"
        )
    if attention.n_heads > 1 or attention.layers == "waning" or attention.projections == "fresh":
        return (
            "compares layers with the flow of one head that is the same in all of them; delete "
            "it, or write 'n_heads: 1', 'layers: frozen' and 'projections: shared'"
        )
    if attention.remedy == "neutreno" and attention.strength:
        return (
            "compares layers with a flow that forgets where it began, and 'neutreno' returns to "
            "the tokens of layer 0; delete it, or the remedy"
        )
    if attention.layers == "frozen":
        return ""
    if attention.score not in ("dot", "l2"):
        return (
            f"follows from logits of the scores 'dot' and 'l2' only, and these are of "
            f"'{attention.score}'; delete it, or write 'score: dot'"
        )
    return without_logits(specs)


def without_source(attention: Any) -> str:
    """Say why the tokens of layer 0 hold no fixed point in place; nothing where they do."""
    if attention is None or attention.remedy != "neutreno" or not attention.strength:
        return (
            "is a measure of the fixed point that the tokens of layer 0 hold in place, and this "
            "layer returns to none; delete it, or write 'remedy: neutreno' and a strength"
        )
    if (attention.values, attention.output, attention.value_scale) != ("identity", "identity", 1):
        return (
            "is a measure of the fixed point of tokens that are averaged as they are; delete it, "
            "or delete 'values', 'output' and 'value_scale'"
        )
    return ""


def without_matrix(wanted: str, specs: Mapping[str, Any]) -> str:
    """Say why there is no matrix, or not of it what is wanted; nothing where there is."""
    heat, attention = specs.get("diffusion"), specs.get("attention")
    if wanted in KEPT and attention is not None and attention.matrix == "summarised":
        return (
            f"is a measure of the {KEPT[wanted]}, which 'matrix: summarised' does not store; "
            f"delete it, or write 'matrix: stored'"
        )
    if wanted != "mode" and heat is not None and heat.maps_values:
        return (
            "is a measure of the matrix that mixes tokens, and a flow whose values are mapped "
            "mixes features too; delete it, or delete 'values' and 'value_scale'"
        )
    if wanted != "mode" and heat is not None and heat.method != "eigh":
        return (
            f"is a measure of the matrix of a layer, which the method '{heat.method}' never "
            f"forms; delete it, or write 'method: eigh'"
        )
    return ""


def without_logits(specs: Mapping[str, Any]) -> str:
    """Say why there are no logits of one softmax; nothing where there are."""
    attention, roles = specs.get("attention"), stated(specs["data"])
    if attention is None or "attention" in roles:
        return "follows from the logits of softmax, which this experiment has not; delete it"
    if attention.kernel != "softmax":
        return (
            f"follows from the logits of softmax, and the kernel is '{attention.kernel}'; delete "
            f"it, or write 'kernel: softmax'"
        )
    if "mask" in roles:
        return "follows from finite logits, and data.mask makes some infinite; delete one of them"
    if attention.mask != "none":
        return (
            f"follows from finite logits, and the mask '{attention.mask}' makes some infinite; "
            f"delete it, or write 'mask: none'"
        )
    if attention.n_heads > 1:
        return (
            f"follows from the logits of one head, and there are {attention.n_heads}; delete it, "
            f"or write 'n_heads: 1'"
        )
    return ""


def without_weights(specs: Mapping[str, Any]) -> str:
    """Say why no weights make dot products of tokens in all layers; nothing where they do."""
    attention, roles = specs["attention"], stated(specs["data"])
    if compared(roles):
        return f"is a measure of drawn weights, and the data state {roles[0]} instead; delete it"
    if attention.score != "dot":
        return (
            f"is a measure of weights that make dot products, and the score is "
            f"'{attention.score}'; delete it, or write 'score: dot'"
        )
    if attention.projections == "fresh":
        return (
            "is a measure of weights that all layers share, and each has its own; delete it, or "
            "write 'projections: shared'"
        )
    return ""


def without_scores(specs: Mapping[str, Any]) -> str:
    """Say why the logits of layer 0 are neither stated nor made of tokens; nothing if they are."""
    if "logits" in stated(specs["data"]):
        return ""
    if specs["attention"].norm == "pre":
        return (
            "is a measure of logits that tokens make as they are, and layer norm stands before "
            "them; delete it, or write 'norm: none'"
        )
    return without_weights(specs)
