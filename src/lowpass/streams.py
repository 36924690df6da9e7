"""Random streams that belong to what they draw.

It owns the key of every generator: the root seed, the name of what is drawn,
only the parameters that shape that draw, and the replicate. Changing anything
else (an inverse temperature, a depth, a kernel) therefore leaves tokens and
weights bit-identical, so two experiments compare the same draws.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from lowpass.registry import Refusal


def _unwritable(value: object) -> object:
    raise Refusal(
        f"{value!r} ({type(value).__name__}) cannot be part of a stream's key; the key is JSON, so "
        "that it reads the same on every machine. Pass int, float, str, bool, list or dict."
    )


def stream(
    seed: int, what: str, shape: Mapping[str, object], replicate: int
) -> np.random.Generator:
    """Open the generator of one replicate of one draw.

    Parameters
    ----------
    seed : int
        Root seed of the whole paper.
    what : str
        What is drawn: ``"tokens"``, ``"weights"`` ...
    shape : mapping
        The parameters that shape this draw, in any order; no others, or paired
        comparisons are lost.
    replicate : int
        Index of the replicate. Its draws do not depend on how many there are.

    Returns
    -------
    numpy.random.Generator
        A PCG64 generator. Equal keys give equal bits; different keys give
        streams that are independent for all purposes (SHA-256 of the key).

    Raises
    ------
    Refusal
        If a value in ``shape`` has no JSON form.

    Examples
    --------
    >>> a = stream(1, "tokens", {"n_tokens": 4, "d_model": 2}, 0)
    >>> b = stream(1, "tokens", {"d_model": 2, "n_tokens": 4}, 0)
    >>> bool(a.random() == b.random())
    True
    """
    key = {"seed": seed, "what": what, "shape": dict(shape), "replicate": replicate}
    text = json.dumps(key, sort_keys=True, separators=(",", ":"), default=_unwritable)
    digest = hashlib.sha256(text.encode()).digest()
    entropy = np.random.SeedSequence(int.from_bytes(digest, "big"))
    return np.random.Generator(np.random.PCG64(entropy))
