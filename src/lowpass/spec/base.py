"""The manner in which parameters are read: strictly, and with errors that help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lowpass.registry import Refusal, did_you_mean


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
        File and key path, for the message.

    Returns
    -------
    model
        The frozen specification, defaults filled in.

    Raises
    ------
    Refusal
        Naming the first parameter at fault, its value, and what would be right.
    """
    try:
        return model.model_validate(dict(params))
    except ValidationError as error:
        raise Refusal(sentence(error.errors()[0], model, where)) from None


def sentence(fault: Mapping[str, Any], model: type[BaseModel], where: str) -> str:
    """Turn one fault that pydantic found into a line a person can act on."""
    path = ".".join([where, *(str(part) for part in fault["loc"])])
    value = fault.get("input")
    if fault["type"] == "extra_forbidden":
        key = str(fault["loc"][-1])
        known = list(model.model_fields)
        return f"{path}: no parameter is called '{key}'{did_you_mean(key, known)} " + (
            f"Known here: {', '.join(known)}."
        )
    if fault["type"] == "missing":
        return f"{path}: this parameter has no default and is not given; write a value for it."
    if isinstance(value, str) and is_number(value):
        return (
            f"{path}: '{value}' is text in YAML 1.1, not a number; "
            f"write {float(value):.1e} with a point and a signed exponent, without quotes."
        )
    if fault["type"] == "value_error":
        return f"{path}: {fault['ctx']['error']}"
    return f"{path}: {value!r} is refused: {fault['msg'][:1].lower()}{fault['msg'][1:]}."


def is_number(text: str) -> bool:
    """Say whether a text would read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
