"""Tables of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Inside of a cell a bar would end it, also where it is mathematics.
BARS = {r"\|": r"\Vert{}", "|": r"\vert{}"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Write a table, one line for each row."""
    lines = [head, ["---"] * len(head), *([cell(text) for text in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def cell(text: str) -> str:
    r"""Write a text, outside of mathematics, so that it stays in its cell.

    Examples
    --------
    >>> cell("a|b and $|x|$")
    'a\\|b and $|x|$'
    """
    parts = re.split(r"(\$[^$]+\$)", text)
    return "".join(part if part.startswith("$") else part.replace("|", r"\|") for part in parts)


def mathematics(symbol: str) -> str:
    r"""Write a symbol of a card as mathematics of Markdown, or nothing.

    Examples
    --------
    >>> mathematics(r"\|X\|/|\lambda_2|"), mathematics("")
    ('$\\Vert{}X\\Vert{}/\\vert{}\\lambda_2\\vert{}$', '')
    """
    for bar, word in BARS.items():
        symbol = symbol.replace(bar, word)
    return f"${symbol}$" if symbol else ""
