"""The names of the measures, which are also those of the variables they give.

This module owns the registry alone, so that a measure can register itself without
importing its neighbours. The fact ``of`` of an entry names what it needs, one thing or
several, beside any trajectory: that of one stage, a ``"pair"`` of tokens, the
``"temperature"`` of attention, a ``"transient"`` part beside a stationary one, tokens that are
patches of a ``"picture"`` or lie on a ring with a known ``"density"``, the ``"matrix"`` of a
layer, which not every method forms and not every trajectory stores, its stationary ``"mode"``
or second ``"modulus"`` alone, a ``"frozen"`` one that serves all layers, the ``"source"`` of a
remedy that returns to the tokens of layer 0, a ``"flow"`` that layers are steps of, the
``"gains"`` of heat's modes, which not every method computes, the
``"logits"`` of softmax, the ``"weights"`` by which tokens make them, or ``"scores"``, which are
these logits themselves, stated or made again. The fact ``ordered`` is true of what depends on
the order of the tokens, or on their places, ``across`` of what compares runs of one job.
"""

from __future__ import annotations

from lowpass.registry import Registry

MEASURES = Registry("measure")
