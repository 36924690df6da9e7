"""The manner in which parameters are read: strictly, and with errors that help."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from lowpass.registry import Refusal, did_you_mean

# Longer values are cut in messages, which are one line.
SHOWN = 80
# Why a value is refused and what to do, by the kind of fault.
REASONS = {
    "missing": "is not given and has no default; write a value for it",
    "float_type": "is not a number; write one, as 0.5",
    "int_type": "is not a whole number; write one, as 3",
    "finite_number": "is not finite, and nothing can be computed with it; write a finite number",
    "greater_than_equal": "is below {ge:g}, the least it can be; write {ge:g} or more",
    "greater_than": "is not above {gt:g}, as it has to be; write a larger number",
    "less_than": "is not below {lt:g}, as it has to be; write a smaller number",
    "string_type": "is not text; write text, in quotes where YAML reads something else",
    "dict_type": "is not a mapping; write names with their values, as {{name: value}}",
    "model_type": "is not a mapping; write names with their values, as {{name: value}}",
    "list_type": "is not a list; write one, as [first, second]",
    "too_short": "is too short a list; write {min_length} or more",
    "literal_error": "is no choice here; write {expected}",
}


class Spec(BaseModel):
    """Hold the parameters of one thing; unknown names and text for numbers are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


S = TypeVar("S", bound=BaseModel)


def build(model: type[S], params: Mapping[str, Any], where: str) -> S:
    """Validate parameters, or refuse them with their place.

    Parameters
    ----------
    model : type
        The specification to build.
    params : mapping
        As the configuration gives them.
    where : str
        File, or file and key path, for the message.

    Returns
    -------
    model
        The frozen specification, defaults filled in.

    Raises
    ------
    Refusal
        Naming one parameter at fault, its value, and what would be right.
    """
    try:
        return model.model_validate(dict(params))
    except ValidationError as error:
        # A misspelt name explains the missing one; the deepest fault is the most precise.
        faults = sorted(
            error.errors(), key=lambda each: (each["type"] != "extra_forbidden", -len(each["loc"]))
        )
        raise Refusal(sentence(faults[0], model, where)) from None


def place(where: str, *keys: str) -> str:
    """Extend a place in a configuration by keys.

    Examples
    --------
    >>> place("paper.yaml", "experiments", "nile"), place("paper.yaml: experiments", "nile")
    ('paper.yaml: experiments.nile', 'paper.yaml: experiments.nile')
    """
    if not keys:
        return where
    return f"{where}{'.' if ': ' in where else ': '}{'.'.join(keys)}"


def sentence(fault: Mapping[str, Any], model: type[BaseModel], where: str) -> str:
    """Turn one fault that pydantic found into a line a person can act on."""
    # Positions in a list and pydantic's own remarks, as '[key]', are no keys of the file.
    keys = [key for key in fault["loc"] if isinstance(key, str) and "[" not in key]
    path, kind, value = place(where, *keys), fault["type"], fault.get("input")
    if kind == "extra_forbidden":
        name, known = str(fault["loc"][-1]), names_at(model, fault["loc"])
        near = did_you_mean(name, known)
        return f"{path}: no parameter is called '{name}'{near} Known here: {', '.join(known)}."
    if kind == "value_error":
        return f"{path}: {fault['ctx']['error']}"
    if kind == "missing":
        return f"{path}: {REASONS[kind]}."
    if kind in ("float_type", "int_type") and isinstance(value, str) and is_number(value):
        return f"{path}: {as_number(value, whole=kind == 'int_type')}."
    reason = REASONS.get(kind, f"is refused: {fault['msg'][:1].lower()}{fault['msg'][1:]}")
    return f"{path}: {shown(value)} {reason.format(**fault.get('ctx', {}))}."


def names_at(model: Any, loc: Sequence[str | int]) -> list[str]:
    """List the parameters that may stand beside the last part of a place."""
    for part in loc[:-1]:
        fields = getattr(model, "model_fields", None)
        # A mapping's values are its second argument.
        model = fields[part].annotation if fields else get_args(model)[-1]
        # What may be left out is a union with nothing.
        model = get_args(model)[0] if NoneType in get_args(model) else model
    return list(model.model_fields)


def is_number(text: str) -> bool:
    """Say whether a text would read as a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def as_number(text: str, *, whole: bool) -> str:
    """Explain why a text is no number in YAML, and how to write it.

    Examples
    --------
    >>> as_number("1e-3", whole=False)
    "'1e-3' is text in YAML 1.1; write 1.0e-3"
    >>> as_number("3", whole=True)
    "'3' is text, since it stands in quotes; write 3 without them"
    """
    mantissa, mark, exponent = text.strip().lower().partition("e")
    if not mark:
        return f"'{text}' is text, since it stands in quotes; write {mantissa} without them"
    point = mantissa if "." in mantissa else f"{mantissa}.0"
    number = f"{float(text):.0f}" if whole else f"{point}e{int(exponent):+d}"
    return f"'{text}' is text in YAML 1.1; write {number}"


def shown(value: Any) -> str:
    """Write a value as a configuration would, cut where it is long."""
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
