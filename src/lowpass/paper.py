"""The paper, typeset from stored results."""

from __future__ import annotations


def typeset(recipe, inputs, folder, record):
    """Typeset the paper."""
    return b""
