"""From a configuration to points with recipes, keys and paths."""

from lowpass.plan.config import load
from lowpass.plan.plan import Plan
from lowpass.plan.point import Point

__all__ = ["Plan", "Point", "load"]
