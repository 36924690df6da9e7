"""Which stages and parameters fit together in one experiment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lowpass.graphs import GRAPHS
from lowpass.kernels import KERNELS, check_pair
from lowpass.labels import VARIABLES
from lowpass.masks import MASKS
from lowpass.registry import Refusal
from lowpass.spec.data import OBSERVATIONS, draws, gives, kind, reads, shows_picture, states
from lowpass.spec.depth import recorded_layers
from lowpass.spec.smoothing import asks

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
    kept = sorted(name for name in generators if not draws(name))
    from_file = any(map(reads, kept[:1]))
    if kept and len(kept) < len(generators):
        how = "reads a file" if from_file else "leaves nothing to chance"
        raise Refusal(
            f"{where}.data.generator: '{kept[0]}' {how} and '{min(generators - set(kept))}' draws "
            f"replicates, so one dataset cannot hold both; describe an experiment for each."
        )
    count = section.get("replicates")
    if not kept and count is None:
        raise lacking(where, next(stage for stage in ACTIONS if stage in specs[0]), "replicates")
    if kept and count is not None:
        verb = "reads" if from_file else "makes"
        more = (
            ""
            if "smoothing" in specs[0] or not from_file
            else ", and write data.copies where random weights act on the same tokens"
        )
        raise Refusal(
            f"{where}.replicates: {count} replicates of what '{kept[0]}' {verb} would all be "
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


# What a study may need of its data beside the places of keys, in words.
NEEDED = {
    "values": "values observed at the keys",
    "queries": "queries of their own",
    "truth": "a curve that is known",
    "circle": "keys on a circle",
    "grid": "keys on a regular grid",
}


def check_study(specs: Mapping[str, Any], where: str) -> None:
    """Refuse a study that needs what its data do not give."""
    if "smoothing" not in specs:
        return
    study, generator = specs["smoothing"].study, specs["data"].generator
    for needed in asks(study):
        if needed not in gives(generator):
            raise Refusal(
                f"{where}.smoothing.study: '{study}' asks for {NEEDED[needed]}, which the "
                f"generator '{generator}' does not give; choose another of them."
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
