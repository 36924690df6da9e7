"""What a parameter may be, in the words of a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lowpass.describing.parameters import Schema

# One of them, and several.
WORDS = {
    "integer": ("whole number", "whole numbers"),
    "number": ("number", "numbers"),
    "string": ("text", "texts"),
    "boolean": ("`true` or `false`", "`true` or `false`"),
}
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
# More names than this, each with a line of its own below the table, are not repeated in it.
FEW = 4


def allowed(field: Schema, *, several: bool = False) -> str:
    """Say what a schema allows.

    Examples
    --------
    >>> allowed({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})
    'number > 0 and < 1'
    >>> allowed({"anyOf": [{"enum": ["all"]}, {"type": "array", "items": {"type": "integer"}}]})
    '`all` or list of whole numbers'
    """
    if "anyOf" in field:
        kept = [each for each in field["anyOf"] if each.get("type") != "null"]
        return alternatives([word for each in kept for word in words(each, several=several)])
    return alternatives(words(field, several=several))


def words(field: Schema, *, several: bool) -> list[str]:
    """List the words for what a schema without alternatives allows."""
    names = field.get("enum", [field["const"]] if "const" in field else [])
    if names:
        told_below = "enumDescriptions" in field and len(names) > FEW
        return ["a name below"] if told_below else [shown(name) for name in names]
    kind = field.get("type")
    if kind == "object":
        if "properties" in field:
            return [f"`{{{', '.join(field['properties'])}}}`"]
        return [f"names with {allowed(field.get('additionalProperties', {}), several=True)}"]
    if kind == "array":
        return [f"list of {allowed(field.get('items', {}), several=True)}"]
    word = WORDS.get(str(kind), ("anything", "anything"))[several]
    bounds = [f"{sign} {field[name]:g}" for name, sign in BOUNDS.items() if name in field]
    return [" ".join([word, " and ".join(bounds)]).strip()]


def alternatives(words: Sequence[str]) -> str:
    """Join words as alternatives.

    Examples
    --------
    >>> alternatives(["a"]), alternatives(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def shown(value: Any) -> str:
    """Write a value as a configuration has it."""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def default(name: str, field: Schema, required: Sequence[str]) -> str:
    """Say what counts where a parameter is not given."""
    if name in required:
        return "*needed*"
    return "" if field.get("default") is None else shown(field["default"])
