"""Where tokens and observations come from.

It owns the generators: functions whose keyword-only parameters are their whole
configuration. The fact ``kind`` of an entry says whether it gives ``"tokens"``
to attend over or ``"observations"`` to smooth. Files are opened elsewhere;
here a table is text or columns.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lowpass.domains import Count, Positive
from lowpass.registry import Refusal, Registry, did_you_mean

GENERATORS = Registry("token generator")


@GENERATORS.add("gaussian", kind="tokens")
def gaussian(rng: np.random.Generator, *, n_tokens: Count, d_model: Count) -> np.ndarray:
    """Draw independent standard normal tokens.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_tokens, d_model : int

    Returns
    -------
    (token, feature) float
        Independent entries with mean 0 and variance 1.
    """
    return rng.standard_normal((n_tokens, d_model))


@GENERATORS.add("two_levels", kind="tokens")
def two_levels(
    rng: np.random.Generator, *, n_tokens: Count, d_model: Count, contrast: Positive = 0.5
) -> np.ndarray:
    """Place half of the tokens above a common mean and half below it.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the mean, m ~ N(0, I).
    n_tokens : int
        Even, so that the two halves balance.
    d_model : int
    contrast : float
        Dimensionless; the ratio ‖HC‖/‖DC‖ of the result.

    Returns
    -------
    (token, feature) float
        m (1 + contrast) in the first half and m (1 - contrast) in the second.

    Raises
    ------
    Refusal
        If ``n_tokens`` is odd.
    """
    if n_tokens % 2:
        raise Refusal(
            f"two_levels got n_tokens = {n_tokens}; two halves of equal size need an even number. "
            f"Use {n_tokens + 1}."
        )
    mean = rng.standard_normal(d_model)
    level = np.repeat([1 + contrast, 1 - contrast], n_tokens // 2)
    return level[:, None] * mean


@GENERATORS.add("ring", kind="tokens")
def ring(rng: np.random.Generator, *, n_tokens: Count) -> np.ndarray:
    """Place tokens evenly on the unit circle; nothing is random.

    Parameters
    ----------
    rng : numpy.random.Generator
        Not used.
    n_tokens : int

    Returns
    -------
    (token, feature) float
        Rows (cos θ, sin θ) with θ = 2π i / n.
    """
    angle = 2 * np.pi * np.arange(n_tokens) / n_tokens
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _column(table: Mapping[str, np.ndarray], path: str, name: str) -> np.ndarray:
    if name not in table:
        raise Refusal(
            f"{path}: no column is called '{name}'{did_you_mean(name, table)} "
            f"Known: {', '.join(table)}."
        )
    column = np.asarray(table[name], dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise Refusal(
            f"{path}: column '{name}' holds {column[bad[0]]} in data row {bad[0] + 1}; a smoother "
            "has no meaning for a missing number. Remove the row or fill it in."
        )
    return column


@GENERATORS.add("series", kind="observations")
def series(
    table: Mapping[str, np.ndarray], *, path: str, key: str, value: str
) -> tuple[np.ndarray, np.ndarray]:
    """Take one column of a table as positions and another as observed values.

    Parameters
    ----------
    table : mapping of str to (row,) float
        A parsed file, see :func:`parse_table`.
    path : str
        The file the table came from, for messages.
    key, value : str
        Names of the two columns.

    Returns
    -------
    key_position : (key, 1) float
        Strictly increasing.
    value : (key,) float

    Raises
    ------
    Refusal
        If a column is missing, a number is not finite, there are fewer than
        three rows, or the positions do not increase strictly.
    """
    position, observed = _column(table, path, key), _column(table, path, value)
    if position.size < 3:
        raise Refusal(
            f"{path}: there are {position.size} rows; leaving one out must leave two to smooth. "
            "Give at least 3 rows."
        )
    back = np.flatnonzero(np.diff(position) <= 0)
    if back.size:
        row = back[0] + 1
        raise Refusal(
            f"{path}: column '{key}' goes from {float(position[row - 1])!r} in data row {row} to "
            f"{float(position[row])!r} in data row {row + 1}; positions must increase strictly. "
            "Sort the rows by it and merge duplicates."
        )
    return position[:, None], observed


def _number(cell: str, name: str, line: int, column: str) -> float:
    try:
        # Python reads 1_000 as a thousand; no other reader of tables does.
        return float(cell.replace("_", "?"))
    except ValueError:
        raise Refusal(
            f"{name}: line {line}: column '{column}' holds '{cell}'; it is not a number. "
            "Write digits with a point, or nan where it is missing."
        ) from None


def _header(cells: list[str], name: str, line: int) -> list[str]:
    twice = [cell for cell in cells if cells.count(cell) > 1]
    if twice:
        raise Refusal(
            f"{name}: line {line}: two columns are called '{twice[0]}'; a column is found by its "
            "name. Rename one."
        )
    return cells


def parse_table(text: str, name: str) -> dict[str, np.ndarray]:
    """Read comma-separated numbers under one header line.

    Parameters
    ----------
    text : str
        Comment lines (``#``) may precede the header. Every later line has as
        many cells as the header, each a number.
    name : str
        The file's name, for messages.

    Returns
    -------
    dict of str to (row,) float
        Columns in the order of the header.

    Raises
    ------
    Refusal
        If the text is empty, two columns share a name, a line has too few or
        too many cells, or a cell is not a number.

    Examples
    --------
    >>> parse_table("# two rows\\nyear,flow\\n1871,1120\\n1872,1160\\n", "nile.csv")
    {'year': array([1871., 1872.]), 'flow': array([1120., 1160.])}
    """
    lines = [
        (i, line)
        for i, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1)
        if line.strip()
    ]
    while lines and lines[0][1].startswith("#"):
        lines.pop(0)
    if len(lines) < 2:
        raise Refusal(
            f"{name}: there is no data line below a header; nothing can be read. "
            "Give one line of column names and then the rows."
        )
    names = _header([cell.strip() for cell in lines[0][1].split(",")], name, lines[0][0])
    rows = []
    for i, line in lines[1:]:
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(names):
            raise Refusal(
                f"{name}: line {i}: '{line.strip()}' has {len(cells)} cells and the header has "
                f"{len(names)}; a cell belongs to a column. Add or remove commas."
            )
        rows.append([_number(c, name, i, column) for c, column in zip(cells, names, strict=True)])
    return {
        column: np.array(numbers)
        for column, numbers in zip(names, zip(*rows, strict=True), strict=True)
    }
