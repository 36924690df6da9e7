"""The paper, typeset from stored results."""

from lowpass.paper.typesetting import typeset

__all__ = ["typeset"]
