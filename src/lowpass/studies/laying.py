"""Named numbers as labelled variables.

It owns the form in which parts of a study hand on what they found: by name, dimensions and
values, from which a dataset is made once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Variables: TypeAlias = dict[str, tuple[Any, Any]]


def laid_out(dim: str, **tables: Mapping[str, float]) -> Variables:
    """Lay tables of named numbers out along a dimension that is labelled with the names.

    Parameters
    ----------
    dim : str
    **tables : mapping of str to float
        By the name of a variable; all of them have the same names in the same order.

    Returns
    -------
    dict
        The labels, and each variable.

    Examples
    --------
    >>> laid_out("fruit", weight={"apple": 2.0, "pear": 3.0})
    {'fruit': ('fruit', ['apple', 'pear']), 'weight': ('fruit', [2.0, 3.0])}
    """
    labels = list(next(iter(tables.values())))
    columns = {name: (dim, [table[label] for label in labels]) for name, table in tables.items()}
    return {dim: (dim, labels), **columns}
