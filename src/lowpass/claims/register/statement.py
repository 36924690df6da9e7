"""What a statement consists of.

This module owns the form of an entry of the register, which the parts of the
register fill.
"""

from __future__ import annotations

from dataclasses import dataclass

from lowpass.registry import Registry


@dataclass(frozen=True)
class Statement:
    """Say one thing that stored numbers can contradict.

    Parameters
    ----------
    title : str
        What it is about, in a few words: a row's name in figures and tables.
    says : str
        The statement as its source makes it, in one sentence and in our words.
    source : str
        Where it is made: a note with its part, keys of the bibliography, or ``this paper``.
    condition : str
        Under which condition it is true; empty where none is needed.
    repaired : str
        What is true instead, or more precisely; empty where ``says`` needs no repair.
    """

    title: str
    says: str
    source: str
    condition: str = ""
    repaired: str = ""


REGISTER = Registry("claim")
