"""Observations and tokens from a table of numbers.

It owns the form of a table, comma-separated columns under one header line, and
the generators that take two of them. Files are opened elsewhere; here a table
is bytes, text or columns.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count
from lowpass.registry import Refusal, did_you_mean


def column_of(table: Mapping[str, np.ndarray], path: str, name: str) -> np.ndarray:
    """Take a column of a table (row,), or refuse a name that none has."""
    if name not in table:
        raise Refusal(
            f"{path}: no column is called '{name}'{did_you_mean(name, table)} "
            f"Known: {', '.join(table)}."
        )
    return np.asarray(table[name], dtype=np.float64)


def check_numbers(
    column: np.ndarray, path: str, name: str, cure: str = "Remove the row or fill it in."
) -> None:
    """Refuse a column with a number that cannot be smoothed, and say the cure."""
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise Refusal(
            f"{path}: column '{name}' holds {column[bad[0]]} in data row {bad[0] + 1}; a smoother "
            f"has no meaning for a missing number. {cure}"
        )


@GENERATORS.add("series", kind="observations", reads=True, gives=("values",))
def series(content: bytes, *, path: str, key: str, value: str) -> dict[str, np.ndarray]:
    """Take one column of a table as positions and another as observed values.

    Parameters
    ----------
    content : bytes
        Of a table, see :func:`parse_table`.
    path : str
        The table, a file of comma-separated numbers; named from the project's folder.
    key : str
        Name of the column of positions.
    value : str
        Name of the column of observed values.

    Returns
    -------
    dict of str to array
        ``key_position`` (key, feature), one feature, strictly increasing; ``value`` (key,).

    Raises
    ------
    Refusal
        If the content is no table, a column is missing, a number is not finite,
        there are fewer than three rows, or the positions do not increase strictly.
    """
    table = parse_table(text_of(content, path), path)
    position, observed = column_of(table, path, key), column_of(table, path, value)
    check_numbers(position, path, key)
    check_numbers(observed, path, value)
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
    return {"key_position": position[:, None], "value": observed}


# Steps of a regular series are written in decimals, which are not exact.
EVENNESS = 1e-9


@GENERATORS.add("regular_series", kind="tokens", reads=True, picture=True)
def regular_series(
    content: bytes, *, path: str, key: str, value: str, patch: Count = 1, copies: Count = 1
) -> dict[str, np.ndarray]:
    """Cut values observed at equal steps into windows, each of them a token.

    They are patches of a picture that is one pixel high, whose columns are the steps: what can
    be seen, compared or blurred of a picture can be of a series.

    Parameters
    ----------
    content : bytes
        Of a table, see :func:`parse_table`.
    path : str
        The table, a file of comma-separated numbers; named from the project's folder.
    key : str
        Name of the column of positions, which rise in equal steps.
    value : str
        Name of the column of observed values.
    patch : int
        Length of a window in steps; it divides their number.
    copies : int
        Number of replicates, all of them this series: as many draws of random weights.

    Returns
    -------
    dict of str to array
        ``x`` (replicate, token, feature): values as the table states them, a feature for each
        step of a window. ``row`` and ``column`` (token,) of a window's first step,
        ``patch_row`` and ``patch_column`` (feature,) of a step within its window.

    Raises
    ------
    Refusal
        As for :func:`series`; also if steps differ, or windows do not tile the series.
    """
    observed = series(content, path=path, key=key, value=value)
    step = np.diff(observed["key_position"][:, 0])
    uneven = np.flatnonzero(np.abs(step - step[0]) > EVENNESS * step[0])
    if uneven.size:
        row = uneven[0] + 1
        raise Refusal(
            f"{path}: column '{key}' goes {float(step[row - 1])!r} ahead in data row {row + 1}, "
            f"and {float(step[0])!r} at first; a regular series has equal steps. Fill the gaps, "
            f"or smooth it with the generator 'series'."
        )
    length = observed["value"].size
    if length % patch:
        raise Refusal(
            f"{path}: {length} values are no whole number of windows of {patch}; tokens tile the "
            "series. Choose a patch that divides it."
        )
    x = observed["value"].reshape(1, -1, patch)
    start, within = np.arange(0, length, patch), np.arange(patch)
    return {
        "x": np.repeat(x, copies, axis=0),
        "row": np.zeros_like(start),
        "column": start,
        "patch_row": np.zeros_like(within),
        "patch_column": within,
    }


def text_of(content: bytes, path: str) -> str:
    """Decode the content of a table.

    Raises
    ------
    Refusal
        If it is not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Refusal(
            f"{path}: byte {fault.start} is not UTF-8 text; save the table as UTF-8."
        ) from None


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
