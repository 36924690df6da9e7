"""The names of the figures, which are also their file names.

This module owns the registry alone, so that a figure can register itself
without importing its neighbours.
"""

from __future__ import annotations

from lowpass.registry import Registry

FIGURES = Registry("figure")
