"""What docstrings say of a registered entry and of its parameters, as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

SECTION = r"^{title}\n-+\n(.*?)(?=^[A-Z][a-z]+\n-+\n|\Z)"
# A line that begins at the margin opens a parameter: "first, second : type".
OPENING = re.compile(r"^(\w+(?:, \w+)*)\s*(?::.*)?$")
# What reStructuredText marks and Markdown marks in another way.
MARKUP = {
    r":math:`([^`]+)`": r"$\1$",
    r":\w+:`~?(?:[\w.]+\.)?(\w+)`": r"`\1`",
    r"``([^`]+)``": r"`\1`",
}


def summary(thing: Any) -> str:
    """Give the first line of a docstring."""
    return markdown((inspect.getdoc(thing) or "").partition("\n")[0])


def parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Give what a docstring says of each parameter, in its section "Parameters".

    Examples
    --------
    >>> from lowpass.data import two_levels
    >>> parameters(two_levels)["n_tokens"]
    'Number of tokens; even, so that the two halves balance.'
    """
    text = inspect.getdoc(function) or ""
    found = re.search(SECTION.format(title="Parameters"), text, flags=re.M | re.S)
    said: dict[str, list[str]] = {}
    open_ones: list[str] = []
    for line in found[1].splitlines() if found else ():
        opening = OPENING.match(line)
        if opening:
            open_ones = opening[1].split(", ")
            said |= {name: [] for name in open_ones}
        elif line.strip():
            for name in open_ones:
                said[name].append(line.strip())
    return {name: markdown(" ".join(lines)) for name, lines in said.items()}


def markdown(text: str) -> str:
    r"""Write reStructuredText as Markdown.

    Examples
    --------
    >>> markdown(r"Takes ``x`` to :math:`\beta x`, see :func:`lowpass.kernels.softmax`.")
    'Takes `x` to $\\beta x$, see `softmax`.'
    """
    for pattern, replacement in MARKUP.items():
        text = re.sub(pattern, replacement, text)
    return text
