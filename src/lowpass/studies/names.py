"""The names of the studies, one question each that is asked of a smoother.

This module owns the registry alone, so that a study can register itself without importing its
neighbours. Its first arguments are the observations, and what hands on the items of a long
loop, whose number is known, so that somebody may count them; its keyword-only arguments are the
parameters that a configuration gives. The fact ``of`` names what it needs of the data beside
places of keys, as the fact ``gives`` of a generator does. A study with the fact ``draws`` takes
a random generator as third argument; the fact lists the parameters that shape what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeAlias

from lowpass.registry import Registry

STUDIES = Registry("study of smoothing")

Watch: TypeAlias = Callable[[Collection[Any]], Iterable[Any]]
# Datasets of xarray: a plan evaluates the signatures of studies, and is made without xarray, which
# they import where they use it.
Observed: TypeAlias = Any
Answers: TypeAlias = Any
