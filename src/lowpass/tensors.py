"""The generator ``file``: tensors of a model that a user brings.

It owns which array of a file plays which role, how their axes are named, and what
their numbers must satisfy. It gets bytes; how a format is read is known elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count, Tensor
from lowpass.formats.reading import read
from lowpass.formats.wanted import Wanted
from lowpass.registry import Refusal, did_you_mean

# The axes that each role has beside replicates.
AXES = {
    "tokens": ("token", "feature"),
    "query": ("token", "feature"),
    "key": ("token", "feature"),
    "logits": ("query", "key"),
    "attention": ("query", "key"),
    "mask": ("query", "key"),
}
# What the generator calls them.
NAMES = {"tokens": "x", "query": "q", "key": "k", "mask": "allowed"}
REPLICATE = "replicate"
PLURAL = {"token": "tokens", "query": "queries", "key": "keys"}
# What decides the mixing, once or not at all; each may come with tokens, and with a mask where
# it is not decided altogether.
MIXINGS = ((), ("query", "key"), ("logits",), ("attention",))
# float64 holds every whole number up to here.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True)
class Part:
    """Hold one tensor of the file.

    Parameters
    ----------
    where : str
        How messages call it.
    axes : tuple of str
        Its axes in the order of ``values``; without replicate where the file has none.
    at : mapping of str to int
        Axes of which one index was taken.
    dtype : numpy.dtype
        As it is stored.
    values : (replicate, ...) float
    """

    where: str
    axes: tuple[str, ...]
    at: Mapping[str, int]
    dtype: np.dtype
    values: np.ndarray

    @property
    def replicated(self) -> bool:
        return REPLICATE in self.axes

    def place(self, index: tuple[np.intp, ...]) -> str:
        """Say where in the file an entry, or a row, of ``values`` is."""
        axes = self.axes if self.replicated else (REPLICATE, *self.axes)
        found = {axis: i for axis, i in zip(axes, index, strict=False) if axis in self.axes}
        return ", ".join(f"{axis} {i}" for axis, i in {**self.at, **found}.items())


@GENERATORS.add("file", kind="tokens", reads=True)
def file(
    content: bytes,
    *,
    path: str,
    tokens: Tensor | None = None,
    query: Tensor | None = None,
    key: Tensor | None = None,
    logits: Tensor | None = None,
    attention: Tensor | None = None,
    mask: Tensor | None = None,
    copies: Count = 1,
) -> dict[str, np.ndarray]:
    r"""Take tokens, and what mixes them, from a file of the user's own.

    Given are tokens; or queries with keys, logits, or attention, each with
    tokens or without. A mask may stand beside all but attention. Without
    tokens the signal is a set of impulses, feature j being one at token j and
    zero elsewhere, so that what layer t makes of it is :math:`A^t` itself.

    Every axis of an array is named by ``dims``, in any order, and is then one
    of three: taken at an index by ``at``, an axis of the role (token and
    feature; for logits, attention and mask query and key), or ``replicate``.

    Numbers are used as they are stored. In particular a row of attention is
    never divided by its sum: it must be one up to the rounding of the type in
    which it is stored, see :func:`row_tolerance`.

    Parameters
    ----------
    content : bytes
        The whole file.
    path : str
        The file, named from the project's folder; the suffix is the format: .npy, .npz, .nc or
        .csv.
    tokens, query, key, logits, attention, mask : Tensor or mapping, optional
        Which array plays the role, its axes, and which part of it is taken. A mask is made of
        truth values or of ones and zeros, true where a query may see a key.
    copies : int
        How many replicates to make of a file that has none, so that weights
        can be drawn for the same tokens several times.

    Returns
    -------
    dict of str to (replicate, ...) float
        Always ``x`` (replicate, token, feature). With queries and keys ``q``
        and ``k`` (replicate, token, projected); with logits ``logits``, with
        attention ``attention``, and with a mask ``allowed``, zeros and ones,
        all three (replicate, query, key).

    Raises
    ------
    Refusal
        If the roles do not go together, axes or sizes do not fit, a number is
        missing, infinite or not held by float64, or attention is not
        row-stochastic. Logits may be -inf, though not along a whole row, and
        a mask has to let every query see a key.
    """
    given = {
        "tokens": tokens,
        "query": query,
        "key": key,
        "logits": logits,
        "attention": attention,
        "mask": mask,
    }
    asked = {r: Tensor.model_validate(t) for r, t in given.items() if t is not None}
    _refuse_roles(asked, path)
    parts = {role: part(content, path, role, tensor) for role, tensor in asked.items()}
    n_tokens = _same_tokens(parts, path)
    n_replicates = _same_replicates(parts, path, copies)
    arrays = {} if "tokens" in parts else {"x": np.eye(n_tokens)[None]}
    arrays |= {NAMES.get(role, role): each.values for role, each in parts.items()}
    return {name: _repeated(values, n_replicates) for name, values in arrays.items()}


def _repeated(values: np.ndarray, n_replicates: int) -> np.ndarray:
    return values if len(values) == n_replicates else np.repeat(values, n_replicates, axis=0)


def part(content: bytes, path: str, role: str, tensor: Tensor) -> Part:
    """Read the tensor of one role and judge its numbers.

    Parameters
    ----------
    content : bytes
    path, role : str
    tensor : Tensor

    Returns
    -------
    Part

    Raises
    ------
    Refusal
        If the axes are not those of the role, or a number cannot be used.
    """
    where = f"{path}: {role}" + (f" '{tensor.name}'" if tensor.name else "")
    at = tensor.at or {}
    left = _axes_left(tensor.dims, at, role, where)
    axes = (REPLICATE, *AXES[role]) if REPLICATE in left else AXES[role]
    wanted = Wanted(path, where, tuple(tensor.dims), tensor.name, at, truth=role == "mask")
    stored = read(content, wanted)
    stored = stored.transpose([left.index(axis) for axis in axes])
    stored = stored if REPLICATE in axes else stored[None]
    raw = Part(where, axes, at, stored.dtype, stored)
    _refuse_large_integers(raw)
    judged = Part(where, axes, at, stored.dtype, np.array(stored, dtype=np.float64, order="C"))
    _refuse_unusable(judged, masked=role == "logits")
    if role == "attention":
        _refuse_rows(judged)
    if role == "mask":
        _refuse_no_mask(judged)
        return replace(judged, values=judged.values.astype(np.int8))
    return judged


def row_tolerance(dtype: np.dtype, n_keys: int) -> float:
    r"""Bound how far a row of attention is from one by rounding alone.

    Softmax divides n weights by their sum. With u = eps/2 of the stored type,
    rounding that sum and then each quotient moves the row by 2u together. The
    n - 1 additions, and as many when the row is summed here, move it by the u
    of the type that accumulates, each: the stored type, or single precision
    where that is finer, as half precision is never accumulated in itself (nor
    is a weight below its normal range, where the spacing is absolute, off by more).

    .. math:: \varepsilon + n \min(\varepsilon, 2^{-23})

    Parameters
    ----------
    dtype : numpy.dtype
        As the row is stored. Integers are exact.
    n_keys : int

    Returns
    -------
    float
        Dimensionless.
    """
    if dtype.kind != "f":
        return 0.0
    eps = float(np.finfo(dtype).eps)
    return eps + n_keys * min(eps, 2.0**-23)


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(names)


def _refuse_roles(asked: Mapping[str, Tensor], path: str) -> None:
    """Refuse roles that do not go together."""
    if not asked:
        raise Refusal(
            f"{path}: no tensor of it is asked for; a file alone says nothing. "
            "Give tokens, query with key, logits, or attention."
        )
    mixing = tuple(role for role in asked if role not in ("tokens", "mask"))
    if "mask" in asked and ("attention" in asked or len(asked) == 1):
        with_what = "beside attention" if "attention" in asked else "alone"
        raise Refusal(
            f"{path}: mask is given {with_what}; it says which keys are weighed, and by no means "
            "how much. Give it with tokens, with query and key, or with logits."
        )
    if mixing in MIXINGS:
        return
    if len(mixing) == 1:
        other = "key" if mixing == ("query",) else "query"
        raise Refusal(
            f"{path}: {mixing[0]} is given without {other}; one is compared with the other. "
            f"Give {other} too."
        )
    raise Refusal(
        f"{path}: {_listed(mixing)} are given; each says by itself how tokens are mixed. "
        "Give one of: query with key, logits, attention."
    )


def _axes_left(dims: list[str], at: Mapping[str, int], role: str, where: str) -> list[str]:
    """Give the axes that are not taken at an index, which must be those of the role."""
    twice = [axis for axis in dims if dims.count(axis) > 1]
    if twice:
        raise Refusal(f"{where}: dims names '{twice[0]}' twice; an axis has one name. Rename one.")
    nowhere = [axis for axis in at if axis not in dims]
    if nowhere:
        raise Refusal(
            f"{where}: at takes an index of '{nowhere[0]}', which dims does not name"
            f"{did_you_mean(nowhere[0], dims)} Known: {', '.join(dims)}."
        )
    left = [axis for axis in dims if axis not in at]
    missing = [axis for axis in AXES[role] if axis not in left]
    if missing:
        raise Refusal(
            f"{where} is left with the axes ({', '.join(left)}), and '{missing[0]}' is none of "
            f"them; {role} has {_listed(AXES[role])}. Name the axes so, and take no index of them."
        )
    unknown = [axis for axis in left if axis not in (REPLICATE, *AXES[role])]
    if unknown:
        raise Refusal(
            f"{where} has the axis '{unknown[0]}' beside {_listed(AXES[role])}; it is not clear "
            f"which of its entries is meant. Write at: {{{unknown[0]}: 0}}, or call it "
            f"{REPLICATE} to take all."
        )
    return left


def _first(bad: np.ndarray) -> tuple[np.intp, ...]:
    """Find the first true entry, or the first of the largest ones."""
    return tuple(np.unravel_index(np.argmax(bad), bad.shape))


def _refuse_large_integers(raw: Part) -> None:
    if raw.dtype.kind == "f":
        return
    bad = (raw.values > LARGEST_WHOLE) | (raw.values < -LARGEST_WHOLE)
    if bad.any():
        index = _first(bad)
        raise Refusal(
            f"{raw.where} holds {raw.values[index]} at {raw.place(index)}; float64 does not hold "
            "every whole number above 2**53. Scale the numbers down."
        )


def _refuse_unusable(judged: Part, *, masked: bool) -> None:
    """Refuse what is not finite, but for masked logits."""
    hidden = masked & (judged.values == -np.inf)
    bad = ~(np.isfinite(judged.values) | hidden)
    if bad.any():
        index = _first(bad)
        mask = ", or -inf where a key is masked" if masked else ""
        raise Refusal(
            f"{judged.where} holds {judged.values[index]} at {judged.place(index)}; nothing can "
            f"be computed with it. Write a finite number{mask}."
        )
    blind = hidden.all(axis=-1)
    if blind.any():
        raise Refusal(
            f"{judged.where} is -inf along the whole row at {judged.place(_first(blind))}; a "
            "query that sees no key has no distribution. Let it see one key."
        )


def _refuse_rows(judged: Part) -> None:
    """Refuse attention that is not row-stochastic up to rounding."""
    values = judged.values
    if values.min() < 0:
        index = _first(-values)
        raise Refusal(
            f"{judged.where} holds {values[index]:.6g} at {judged.place(index)}; a weight of an "
            "average is not negative. If these are scores, give them as logits."
        )
    total = values.sum(axis=-1)
    worst = _first(np.abs(total - 1))
    tolerance = row_tolerance(judged.dtype, values.shape[-1])
    if abs(total[worst] - 1) > tolerance:
        raise Refusal(
            f"{judged.where}: the row at {judged.place(worst)} sums to {float(total[worst])!r}; "
            f"rounding of {values.shape[-1]} numbers of {judged.dtype.name} moves it from 1 by "
            f"{tolerance:.1e} at most. Give scores as logits; divide rows that were computed "
            "more coarsely, or after dropout, by their sums before saving."
        )


def _refuse_no_mask(judged: Part) -> None:
    """Refuse what is neither true nor false, and a query that may see nothing."""
    bad = (judged.values != 0) & (judged.values != 1)
    if bad.any():
        index = _first(bad)
        raise Refusal(
            f"{judged.where} holds {judged.values[index]:.6g} at {judged.place(index)}; a pair is "
            "allowed or not. Write 1 or 0, or truth values; a penalty is added to logits."
        )
    blind = (judged.values == 0).all(axis=-1)
    if blind.any():
        raise Refusal(
            f"{judged.where} allows no key along the whole row at {judged.place(_first(blind))}; "
            "a query that sees no key has no distribution. Let it see one key."
        )


def _same_tokens(parts: Mapping[str, Part], path: str) -> int:
    """Give the number of tokens on which all parts agree, as they are iterated."""
    counts = {
        f"{role} has {size} {PLURAL[axis]}": size
        for role, each in parts.items()
        for axis, size in zip(each.axes[-2:], each.values.shape[-2:], strict=True)
        if axis in PLURAL
    }
    if len(set(counts.values())) > 1:
        raise Refusal(
            f"{path}: {', '.join(counts)}; a layer's output is the next one's input, so these "
            "numbers are one. Select the same tokens everywhere."
        )
    widths = [parts[role].values.shape[-1] for role in ("query", "key") if role in parts]
    if len(set(widths)) > 1:
        raise Refusal(
            f"{path}: query has {widths[0]} features and key has {widths[1]}; each query is "
            "compared with each key, feature by feature. Save both from one head."
        )
    return next(iter(counts.values()))


def _same_replicates(parts: Mapping[str, Part], path: str, copies: int) -> int:
    """Give the number of replicates; parts that have one are used for all."""
    counts = {role: len(each.values) for role, each in parts.items()}
    replicated = [role for role, each in parts.items() if each.replicated]
    if copies > 1 and replicated:
        raise Refusal(
            f"{path}: copies is {copies}, and {replicated[0]} has replicates of its own "
            f"({counts[replicated[0]]}); both would be numbered alike. Leave out copies."
        )
    if len({n for n in counts.values() if n > 1}) > 1:
        said = ", ".join(f"{role} has {n}" for role, n in counts.items())
        raise Refusal(
            f"{path}: the numbers of replicates differ: {said}; each replicate needs one of every "
            "part. Give as many, or one that is used for all."
        )
    return max(copies, *counts.values())
