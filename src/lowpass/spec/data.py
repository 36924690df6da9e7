"""Parameters of the data stage: those its generator's signature declares."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from pydantic import create_model

import lowpass.continuum
import lowpass.pictures
import lowpass.rows
import lowpass.stating
import lowpass.tables
import lowpass.tensors  # noqa: F401  (registers generators)
from lowpass.data import GENERATORS
from lowpass.registry import Refusal
from lowpass.spec.base import Spec, build, place, shown

OBSERVATIONS = "observations"
# Replicates are stored in full blocks, so that more of them leave the first ones untouched.
BLOCK = 10


@lru_cache
def model_of(generator: str) -> type[Spec]:
    """Derive the parameters of a generator from its keyword-only arguments."""
    signature = inspect.signature(GENERATORS[generator], eval_str=True)
    fields: dict[str, Any] = {"generator": (str, ...)}
    for name, argument in signature.parameters.items():
        if argument.kind is argument.KEYWORD_ONLY:
            required = argument.default is argument.empty
            fields[name] = (argument.annotation, ... if required else argument.default)
    return create_model(f"{generator} parameters", __base__=Spec, **fields)


def parse(params: dict[str, Any], where: str) -> Spec:
    """Validate the parameters of a generator, defaults filled in.

    Raises
    ------
    Refusal
        When no generator is named, or a parameter is unknown, missing or out of its domain.
    """
    spot = place(where, "generator")
    name = params.get("generator")
    if not isinstance(name, str):
        found = "is not given" if name is None else f"{shown(name)} is no name"
        raise Refusal(f"{spot}: {found}; name the generator, as 'gaussian' or 'series'.")
    try:
        model = model_of(name)
    except Refusal as refusal:
        raise Refusal(f"{spot}: {refusal}") from None
    return build(model, params, where)


def kind(generator: str) -> str:
    """Say what a generator gives: ``"tokens"`` or ``"observations"``."""
    return GENERATORS.facts(generator)["kind"]


def reads(generator: str) -> bool:
    """Say whether a generator takes what a file holds, rather than drawing at random."""
    return GENERATORS.facts(generator)["reads"]


def draws(generator: str) -> bool:
    """Say whether a generator leaves anything to chance, so that replicates differ."""
    return not (reads(generator) or GENERATORS.facts(generator).get("certain", False))


def states(generator: str) -> tuple[str, ...]:
    """List what a generator says, beside tokens, of how they are mixed, whatever its parameters."""
    return GENERATORS.facts(generator).get("states", ())


def has_density(generator: str) -> bool:
    """Say whether tokens lie on a ring with a density that is known."""
    return GENERATORS.facts(generator).get("density", False)


def shows_picture(generator: str) -> bool:
    """Say whether tokens are patches of a picture, which can be put together again."""
    return GENERATORS.facts(generator).get("picture", False)
