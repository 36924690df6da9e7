"""The one line in which a refusal reaches a person, wherever it ends a program."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from lowpass.registry import Refusal


def line_of(refusal: Refusal | str) -> str:
    """Write a refusal as one line.

    Examples
    --------
    >>> line_of("beta: -1 is negative;\\nwrite a positive number.")
    'lowpass: beta: -1 is negative; write a positive number.'
    """
    return f"lowpass: {' '.join(str(refusal).splitlines())}"


def refuse(refusal: Refusal | str) -> NoReturn:
    """End the reading of the Snakefile with one line; an exception would print several."""
    sys.exit(line_of(refusal))
