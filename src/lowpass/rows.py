"""Observations from the rows of a table, in whatever order they stand.

It owns the generator that takes several columns as positions. Unlike a series,
rows may repeat a position, and a number that is missing may be passed over if
the configuration says so.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from lowpass.data import GENERATORS
from lowpass.labels import VARIABLES, Card
from lowpass.registry import Refusal
from lowpass.tables import check_numbers, column_of, parse_table, text_of

VARIABLES.enter(
    "rows_left_out", Card("n_0", "number of rows left out, since a number is missing in them")
)

# One row left out must leave two that differ, or there is nothing to compare.
FEWEST = 3
DROP = "Fill it in, remove the row, or write 'missing: drop'."


@GENERATORS.add("table", kind="observations", reads=True, gives=("values",))
def table(
    content: bytes,
    *,
    path: str,
    keys: Annotated[list[str], Field(min_length=1)],
    value: str,
    missing: Literal["refuse", "drop"] = "refuse",
) -> dict[str, np.ndarray]:
    """Take some columns of a table as positions and another as observed values.

    Rows may stand in any order, and several may share a position.

    Parameters
    ----------
    content : bytes
        Of a table, see :func:`lowpass.tables.parse_table`.
    path : str
        The table, a file of comma-separated numbers; named from the project's folder.
    keys : list of str
        Names of the columns of positions, a feature each.
    value : str
        Name of the column of observed values.
    missing : {"refuse", "drop"}
        What to do where a number of these columns is ``nan``: refuse the table, or leave out the
        row.

    Returns
    -------
    dict of str to array
        ``key_position`` (key, feature) and ``value`` (key,), in the order of the rows;
        ``rows_left_out`` (), a count.

    Raises
    ------
    Refusal
        If the content is no table, a column is missing or named twice, a number is infinite,
        or one is missing that may not be, or fewer than three rows are left.
    """
    names = [*keys, value]
    check_distinct(names, path)
    columns = parse_table(text_of(content, path), path)
    chosen = np.stack([column_of(columns, path, name) for name in names], axis=1)
    for name, column in zip(names, chosen.T, strict=True):
        if missing == "drop":
            check_numbers(np.where(np.isnan(column), 0.0, column), path, name)
        else:
            check_numbers(column, path, name, DROP)
    whole = ~np.isnan(chosen).any(axis=1)
    kept = chosen[whole]
    if len(kept) < FEWEST:
        raise Refusal(
            f"{path}: {len(kept)} of {len(chosen)} rows have a number in all of "
            f"{', '.join(names)}; leaving one out must leave two to smooth. "
            f"Give at least {FEWEST} whole rows."
        )
    return {
        "key_position": kept[:, :-1],
        "value": kept[:, -1],
        "rows_left_out": np.array(np.sum(~whole)),
    }


def check_distinct(names: list[str], path: str) -> None:
    """Refuse a column that is asked for twice."""
    for name, count in Counter(names).items():
        if count > 1:
            raise Refusal(
                f"{path}: column '{name}' is asked for {count} times; it is one feature of the "
                "positions, or the values. Name it once."
            )
