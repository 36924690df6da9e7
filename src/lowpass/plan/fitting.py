"""Which stages and parameters fit together in one experiment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lowpass.graphs import GRAPHS
from lowpass.kernels import KERNELS, check_pair
from lowpass.labels import VARIABLES
from lowpass.masks import MASKS
from lowpass.measures import MEASURES
from lowpass.registry import Refusal
from lowpass.spec.data import OBSERVATIONS, kind, reads, shows_picture, states
from lowpass.spec.depth import recorded_layers

# What a section may do with its data: one of these.
ACTIONS = {
    "attention": "of tokens",
    "diffusion": "of tokens",
    "smoothing": "of observations",
}
# Stages that act layer after layer, and leave a trajectory.
DYNAMICS = ("attention", "diffusion")
# What data may state of how tokens are mixed, and the parameters that would not count then.
STATED = {
    "attention": ("kernel", "score", "weights", "mask", "beta", "n_heads"),
    "logits": ("score", "weights", "n_heads"),
    "query": ("weights", "n_heads"),
    "mask": ("mask",),
}

# What a matrix that is only summarised leaves out, by the word of the measures.
KEPT = {"matrix": "matrix of a layer", "mode": "stationary mode of a matrix"}


def check_stages(section: Mapping[str, Any], where: str) -> None:
    """Refuse a chain of stages that leads nowhere, and what no stage would read."""
    given = {name for name, value in section.items() if value is not None}
    acting = [stage for stage in ACTIONS if stage in given]
    if not acting:
        known = ", ".join(f"'{stage}' ({of})" for stage, of in ACTIONS.items())
        raise Refusal(f"{where}: has none of {known}, so nothing acts on its data; add one.")
    if len(acting) > 1:
        raise Refusal(
            f"{where}: has '{acting[0]}' beside '{acting[1]}', and its data go one way; keep one."
        )
    if acting[0] in DYNAMICS and "spectra" not in given:
        raise lacking(where, acting[0], "spectra")
    if "spectra" in given and acting[0] not in DYNAMICS:
        raise lacking(where, "spectra", "attention")


def lacking(where: str, stage: str, other: str) -> Refusal:
    """Compose the refusal of a stage that is given without what it needs."""
    return Refusal(
        f"{where}: '{stage}' is given without '{other}', which it needs; add '{other}:'."
    )


def check_replicates(section: Mapping[str, Any], specs: list[dict[str, Any]], where: str) -> None:
    """Refuse replicates where nothing is drawn, and a draw without their number."""
    generators = {each["data"].generator for each in specs}
    kept = sorted(name for name in generators if reads(name))
    if kept and len(kept) < len(generators):
        raise Refusal(
            f"{where}.data.generator: '{kept[0]}' reads a file and "
            f"'{min(generators - set(kept))}' draws replicates, so one dataset cannot hold both; "
            f"describe an experiment for each."
        )
    count = section.get("replicates")
    if not kept and count is None:
        raise lacking(where, next(stage for stage in DYNAMICS if stage in specs[0]), "replicates")
    if kept and count is not None:
        more = (
            ""
            if "smoothing" in specs[0]
            else ", and write data.copies where random weights act on the same tokens"
        )
        raise Refusal(
            f"{where}.replicates: {count} replicates of what '{kept[0]}' reads would all be "
            f"equal, since nothing is drawn there; delete 'replicates:'{more}."
        )


def check_kind(specs: Mapping[str, Any], where: str) -> None:
    """Refuse attention of observations and smoothing of tokens."""
    generator = specs["data"].generator
    wanted = "smoothing" if kind(generator) == OBSERVATIONS else "attention"
    given = next(stage for stage in ACTIONS if stage in specs)
    if ACTIONS[given] != ACTIONS[wanted]:
        raise Refusal(
            f"{where}.data.generator: '{generator}' gives {kind(generator)}, which '{given}' "
            f"does not read; write '{wanted}:' instead, or choose another generator."
        )


def stated(data: Any) -> list[str]:
    """List what the data say themselves of how tokens are mixed."""
    always = states(data.generator)
    return [role for role in STATED if role in always or getattr(data, role, None) is not None]


def compared(roles: Collection[str]) -> bool:
    """Say whether the data state what comparing tokens would give, so that nothing is drawn."""
    return bool({"attention", "logits", "query"} & set(roles))


def check_stated(specs: Mapping[str, Any], params: Mapping[str, Any], where: str) -> None:
    """Refuse parameters that could not count, since the data state what they would decide."""
    data, roles = specs["data"], stated(specs["data"])
    if roles and "diffusion" in specs:
        raise unread(data, roles[0], where)
    if "attention" in specs and "attention" not in roles and specs["attention"].beta is None:
        raise Refusal(
            f"{where}.attention.beta: is not given and has no default; write a value for it."
        )
    if compared(roles) and specs["attention"].layers == "recomputed":
        raise forgotten(data, roles[0], f"{where}.attention.layers")
    for role in roles:
        for name in STATED[role]:
            if name in params["attention"]:
                raise idle(data, role, f"{where}.attention.{name}")


def unread(data: Any, role: str, where: str) -> Refusal:
    """Compose the refusal of what is stated of attention where heat flows."""
    if role in states(data.generator):
        return Refusal(
            f"{where}.data.generator: '{data.generator}' states {role}, and 'diffusion' mixes by a "
            f"graph and would not read them; choose another generator, or write 'attention:' "
            f"instead."
        )
    return Refusal(
        f"{where}.data.{role}: 'diffusion' mixes by a graph and would not read it; "
        f"delete it, or write 'attention:' instead."
    )


def forgotten(data: Any, role: str, where: str) -> Refusal:
    """Compose the refusal of what is stated of one layer where every layer is another."""
    own = role in states(data.generator)
    what = f"the {role} of '{data.generator}'" if own else f"data.{role}"
    instead = "choose another generator" if own else f"delete data.{role}"
    return Refusal(
        f"{where}: 'recomputed' layers compare tokens, and would not read {what}; write "
        f"'layers: frozen', or {instead}."
    )


def idle(data: Any, role: str, where: str) -> Refusal:
    """Compose the refusal of a parameter that decides nothing."""
    if role in states(data.generator):
        return Refusal(
            f"{where}: would not count, since '{data.generator}' states {role} itself; delete it, "
            f"or choose another generator."
        )
    return Refusal(
        f"{where}: would not count, since data.{role} says how tokens are mixed; delete one of "
        f"them."
    )


def check_kernel(specs: Mapping[str, Any], where: str) -> None:
    """Refuse a kernel that cannot read the scores, or whose weights no trajectory could follow."""
    roles = stated(specs["data"])
    if "attention" not in specs or "attention" in roles:
        return
    score, kernel = specs["attention"].score, specs["attention"].kernel
    if KERNELS.facts(kernel).get("negative"):
        raise Refusal(
            f"{where}.attention.kernel: '{kernel}' may give negative weights, and a stationary "
            f"distribution needs weights that are not negative; choose a positive kernel, as "
            f"'softmax'."
        )
    if "mask" not in roles:
        check_balance(kernel, specs["attention"].mask, f"{where}.attention.mask")
    if "logits" not in roles:
        try:
            check_pair(score, kernel)
        except Refusal as refusal:
            raise Refusal(f"{where}.attention.kernel: {refusal}") from None


def check_balance(kernel: str, mask: str, where: str) -> None:
    """Refuse a mask whose zeros no doubly stochastic matrix has."""
    balances = KERNELS.facts(kernel)["doubly_stochastic"]
    if balances and not MASKS.facts(mask).get("total_support", True):
        raise Refusal(
            f"{where}: '{mask}' allows pairs that have no weight in any doubly stochastic matrix, "
            f"and '{kernel}' makes one; choose another mask, or kernel 'softmax'."
        )


def check_places(specs: Mapping[str, Any], where: str) -> None:
    """Refuse a graph of places where tokens have none."""
    generator = specs["data"].generator
    if "diffusion" not in specs or shows_picture(generator):
        return
    graph = specs["diffusion"].graph
    if GRAPHS.facts(graph)["needs_place"]:
        raise Refusal(
            f"{where}.diffusion.graph: '{graph}' joins tokens by their places in a picture, and "
            f"'{generator}' gives none; write 'graph: path', or 'generator: image'."
        )


def check_heads(specs: Mapping[str, Any], where: str) -> None:
    """Refuse heads that cannot share the features evenly, where their number is known."""
    n_heads = specs["attention"].n_heads if "attention" in specs else 1
    d_model = getattr(specs["data"], "d_model", n_heads)
    if d_model % n_heads:
        raise Refusal(
            f"{where}.attention.n_heads: {n_heads} heads cannot share {d_model} features evenly; "
            f"write a divisor of {d_model}."
        )


def check_measures(specs: Mapping[str, Any], where: str) -> None:
    """Refuse a measure of something that this experiment has not."""
    for name in specs["spectra"].measures if "spectra" in specs else ():
        of = MEASURES.facts(name).get("of")
        faults = [absence(wanted, specs) for wanted in (of if isinstance(of, tuple) else (of,))]
        if any(faults):
            raise Refusal(f"{where}.spectra: '{name}' {next(filter(None, faults))}.")


def absence(wanted: str | None, specs: Mapping[str, Any]) -> str:
    """Say why there is not what a measure is of, and what to do; nothing where it is there."""
    attention = specs.get("attention")
    if wanted in DYNAMICS and wanted not in specs:
        return f"is a measure of '{wanted}', which this experiment has not; delete it"
    if wanted == "temperature" and getattr(attention, "beta", None) is None:
        return "follows from 'attention.beta', which this experiment has not; delete it"
    if wanted in ("matrix", "mode", "modulus"):
        return without_matrix(wanted, specs)
    if wanted in ("pair", "picture"):
        return without_tokens(wanted, specs["data"])
    if wanted == "transient":
        return without_mode(attention)
    if wanted == "frozen":
        return without_one_matrix(attention)
    if wanted == "source":
        return without_source(attention)
    if wanted == "logits":
        return without_logits(specs)
    return without_logits(specs) or without_weights(specs) if wanted == "weights" else ""


def without_tokens(wanted: str, data: Any) -> str:
    """Say why tokens are no pair, or no picture; nothing where they are."""
    if wanted == "pair" and getattr(data, "n_tokens", 2) < 2:
        return "compares tokens, and there is one only; delete it, or write 'n_tokens: 2'"
    if wanted == "picture" and not shows_picture(data.generator):
        return (
            f"is a measure of a picture, and '{data.generator}' gives none; delete it, or write "
            f"'generator: image'"
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
    if attention is None or attention.layers == "frozen":
        return ""
    return (
        f"follows from one matrix that serves all layers, and these are '{attention.layers}'; "
        f"delete it, or write 'layers: frozen'"
    )


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


def check_depths(specs: list[dict[str, Any]], where: str) -> None:
    """Refuse points of several depths whose measures have a value for each layer."""
    acting = next((stage for stage in DYNAMICS if stage in specs[0]), None)
    if acting is None:
        return
    depths = sorted({each[acting].depth for each in specs})
    recorded = {tuple(recorded_layers(each[acting].record, each[acting].depth)) for each in specs}
    unlike = {"layer"} if len(depths) > 1 else set()
    unlike |= {"recorded_layer"} if len(recorded) > 1 else set()
    layered = [n for n in specs[0]["spectra"].measures if unlike & {*VARIABLES[n].dims}]
    if layered and len(depths) == 1:
        raise Refusal(
            f"{where}.{acting}.record: differs between points, whose '{layered[0]}' has a value "
            f"for each recorded layer; record the same layers everywhere."
        )
    if layered:
        raise Refusal(
            f"{where}.{acting}.depth: {depths[0]} and {depths[-1]} layers do not fit into one "
            f"'{layered[0]}', which has a value for each layer; write the greatest depth alone, "
            f"since the layers of the others are its first ones."
        )
