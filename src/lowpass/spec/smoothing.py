"""Parameters of the smoothing stage: those its study's signature declares."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lowpass.registry import Refusal
from lowpass.spec.base import Spec, build, place
from lowpass.spec.signatures import chosen_name, declared
from lowpass.studies import STUDIES


@lru_cache
def model_of(study: str) -> type[Spec]:
    """Derive the parameters of a study from its keyword-only arguments."""
    return declared(STUDIES[study], "study", study)


def parse(params: dict[str, Any], where: str) -> Spec:
    """Validate the parameters of a study, defaults filled in.

    Raises
    ------
    Refusal
        When no study is named, a parameter is unknown, missing or out of its domain, or a range
        of bandwidths does not ascend.
    """
    name = chosen_name(params, "study", where, "'selection'")
    try:
        model = model_of(name)
    except Refusal as refusal:
        raise Refusal(f"{place(where, 'study')}: {refusal}") from None
    return build(model, params, where)


def asks(study: str) -> tuple[str, ...]:
    """List what a study needs of the data beside places of keys."""
    return STUDIES.facts(study).get("of", ())


def draws(study: str) -> bool:
    """Say whether a study leaves anything to chance itself."""
    return "draws" in STUDIES.facts(study)
