"""One array out of the bytes of a file, by its suffix.

It owns which format a suffix means. Nothing is unpickled, and nothing is written to
disk. What the numbers mean is judged elsewhere.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from lowpass.formats.netcdf import read_nc
from lowpass.formats.npy import read_npy, read_npz
from lowpass.formats.table import read_csv
from lowpass.formats.wanted import Wanted
from lowpass.registry import Refusal, did_you_mean

READERS = {".npy": read_npy, ".npz": read_npz, ".nc": read_nc, ".csv": read_csv}
# How files begin. What begins like none of them is text.
BEGINNINGS = {
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"PK\x05\x06": ".npz",
    b"\x89HDF\r\n\x1a\n": ".nc",
    b"CDF\x01": ".nc",
    b"CDF\x02": ".nc",
    b"CDF\x05": ".nc",
}


def read(content: bytes, wanted: Wanted) -> np.ndarray:
    """Read the wanted part of one array.

    Parameters
    ----------
    content : bytes
        The whole file.
    wanted : Wanted

    Returns
    -------
    ndarray
        The axes that ``at`` leaves, in the file's order and of the file's
        type; possibly a view of ``content`` that cannot be written to.

    Raises
    ------
    Refusal
        If the suffix is unknown, the content is of another format or damaged,
        the array is not there, or it is not made of real numbers.

    Examples
    --------
    >>> table = b"0.25,0.75\\n0.5,0.5\\n"
    >>> read(table, Wanted("a.csv", "a.csv: attention", ("query", "key"), at={"query": 1}))
    array([0.5, 0.5])
    """
    suffix = PurePosixPath(wanted.path).suffix.lower()
    if suffix not in READERS:
        raise Refusal(
            f"{wanted.path}: no format is called '{suffix}'{did_you_mean(suffix, READERS)} "
            f"Known: {', '.join(READERS)}. Save the array with numpy.save."
        )
    found = next((end for start, end in BEGINNINGS.items() if content.startswith(start)), None)
    if found and found != suffix:
        raise Refusal(
            f"{wanted.path}: the content is that of a {found} file; the suffix says how it is "
            f"read. Rename it to {PurePosixPath(wanted.path).with_suffix(found).name}."
        )
    if not found and suffix != ".csv":
        raise Refusal(
            f"{wanted.path}: the content does not begin like a {suffix} file ({len(content)} bytes "
            f"from {content[:8]!r}); it is damaged or of another format. Save it again."
        )
    return READERS[suffix](content, wanted)
