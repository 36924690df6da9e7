"""A table of numbers between commas, as ``numpy.savetxt`` writes it."""

from __future__ import annotations

import numpy as np

from lowpass.formats.wanted import Wanted, damaged, refuse_name
from lowpass.registry import Refusal


def read_csv(content: bytes, wanted: Wanted) -> np.ndarray:
    """Read from a .csv file.

    Parameters
    ----------
    content : bytes
        Lines of comments (``#``) may come first, then one of names; every
        other line is a row of numbers, the nearest float64 of each.
    wanted : Wanted
        Without a name; its first axis runs over lines, its second over cells.

    Returns
    -------
    ndarray
        float64.

    Raises
    ------
    Refusal
        If a line has more or fewer cells than the first, or a cell is no
        number.
    """
    refuse_name(wanted, ".csv")
    try:
        lines = content.decode("utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError as error:
        raise damaged(wanted, f"byte {error.start} is no UTF-8") from None
    rows: list[np.ndarray] = []
    width = None
    for number, line in enumerate(lines, start=1):
        if line.startswith("#") and width is None:
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != (width or len(cells)):
            raise Refusal(
                f"{wanted.path}: line {number} has {len(cells)} cells, and the first has {width}; "
                "a table has as many in every line. Add or remove commas, or the blank line."
            )
        if width is not None or not _is_header(cells, number, wanted):
            rows.append(np.array([_number(cell, number, wanted) for cell in cells]))
        width = len(cells)
    if not rows:
        raise Refusal(
            f"{wanted.path}: there is no line of numbers; nothing can be read. "
            "Write it with numpy.savetxt(path, array, delimiter=',')."
        )
    return np.stack(rows)[wanted.index((len(rows), len(rows[0])))]


def _is_header(cells: list[str], number: int, wanted: Wanted) -> bool:
    """Say whether the first line names columns: none of its cells is a number."""
    if len(cells) > 1 and cells == [str(i) for i in range(len(cells))]:
        raise Refusal(
            f"{wanted.path}: line {number} reads 0, 1, ... {len(cells) - 1}, as pandas names "
            "columns that have no name; it could be a row as well. Write the file without a "
            "header, or such a row with points: 0.0,1.0."
        )
    return not any(_is_number(cell) for cell in cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, number: int, wanted: Wanted) -> float:
    # Python reads 1_000 as a thousand; no other reader of tables does.
    if "_" in cell or not _is_number(cell):
        raise Refusal(
            f"{wanted.path}: line {number} holds '{cell}', which is no number; a cell is one, "
            "with a point, between commas. Write the file with numpy.savetxt(path, array, "
            "delimiter=',')."
        )
    return float(cell)
