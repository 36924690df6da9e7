"""Parameters of the data stage: those its generator's signature declares."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import lowpass.continuum
import lowpass.designs
import lowpass.impulses
import lowpass.pairs
import lowpass.pictures
import lowpass.rows
import lowpass.stating
import lowpass.tables
import lowpass.tensors
import lowpass.textbook  # noqa: F401  (registers generators)
from lowpass.data import GENERATORS
from lowpass.registry import Refusal
from lowpass.spec.base import Spec, build, place
from lowpass.spec.signatures import chosen_name, declared

TOKENS, OBSERVATIONS = "tokens", "observations"
# Replicates are stored in full blocks, so that more of them leave the first ones untouched.
BLOCK = 10


@lru_cache
def model_of(generator: str) -> type[Spec]:
    """Derive the parameters of a generator from its keyword-only arguments."""
    return declared(GENERATORS[generator], "generator", generator)


def parse(params: dict[str, Any], where: str) -> Spec:
    """Validate the parameters of a generator, defaults filled in.

    Raises
    ------
    Refusal
        When no generator is named, or a parameter is unknown, missing or out of its domain.
    """
    name = chosen_name(params, "generator", where, "'gaussian' or 'series'")
    try:
        model = model_of(name)
    except Refusal as refusal:
        raise Refusal(f"{place(where, 'generator')}: {refusal}") from None
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


def gives(generator: str) -> tuple[str, ...]:
    """List what observations have beside the places of their keys."""
    return GENERATORS.facts(generator).get("gives", ())


def has_density(generator: str) -> bool:
    """Say whether tokens lie on a ring with a density that is known."""
    return GENERATORS.facts(generator).get("density", False)


def shows_picture(generator: str) -> bool:
    """Say whether tokens are patches of a picture, which can be put together again."""
    return GENERATORS.facts(generator).get("picture", False)
