"""Parameters that the signature of a chosen function declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import create_model

from lowpass.registry import Refusal
from lowpass.spec.base import Spec, place, shown


def declared(function: Callable[..., Any], word: str, name: str) -> type[Spec]:
    """Derive parameters from keyword-only arguments, beside the word that chose the function.

    Parameters
    ----------
    function : callable
        Its keyword-only arguments are annotated with their domains.
    word : str
        The parameter that named it: ``"generator"``, ``"study"``.
    name : str
        What it is called there.
    """
    signature = inspect.signature(function, eval_str=True)
    fields: dict[str, Any] = {word: (str, ...)}
    for parameter, argument in signature.parameters.items():
        if argument.kind is argument.KEYWORD_ONLY:
            required = argument.default is argument.empty
            fields[parameter] = (argument.annotation, ... if required else argument.default)
    return create_model(f"{name} parameters", __base__=Spec, **fields)


def chosen_name(params: Mapping[str, Any], word: str, where: str, examples: str) -> str:
    """Read the name that decides which other parameters there are.

    Raises
    ------
    Refusal
        When none is given, or what is given is no name.
    """
    name = params.get(word)
    if isinstance(name, str):
        return name
    found = "is not given" if name is None else f"{shown(name)} is no name"
    raise Refusal(f"{place(where, word)}: {found}; name the {word}, as {examples}.")


def arguments(spec: Spec, word: str) -> dict[str, Any]:
    """Give the validated arguments of the function that a word chose."""
    return {name: getattr(spec, name) for name in type(spec).model_fields if name != word}
