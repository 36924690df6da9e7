"""An array as numpy saves it, alone or in an archive.

It owns the header, which is read before anything else and must account for every
byte behind it. It never unpickles.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from tokenize import TokenError

import numpy as np
from numpy.lib import format as npy

from lowpass.formats.wanted import Wanted, chosen, damaged, refuse_name, refuse_type
from lowpass.registry import Refusal

# An archive unpacks a whole array, where the other formats give up the part that is wanted; a
# job that unpacked more would be ended by the machine without a word.
LARGEST = 2**33
# How headers of .npy are read. Version 3.0 differs from 2.0 in the names of fields alone, and
# fields are refused.
HEADERS = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
    (3, 0): npy.read_array_header_2_0,
}


def read_npy(content: bytes, wanted: Wanted) -> np.ndarray:
    """Read from a .npy file, without copying it.

    Parameters
    ----------
    content : bytes
        The whole file.
    wanted : Wanted
        Without a name.

    Returns
    -------
    ndarray
        A view of ``content``.

    Raises
    ------
    Refusal
        If the header cannot be read, does not account for every byte, or
        speaks of anything but real numbers.
    """
    refuse_name(wanted, ".npy")
    return _array(content, wanted)


def _array(content: bytes, wanted: Wanted) -> np.ndarray:
    """View the array behind a header, which must account for every byte."""
    shape, by_columns, dtype, start = _header(content, wanted)
    refuse_type(dtype, wanted)
    index = wanted.index(shape)
    # Python's whole numbers do not overflow, whatever the header claims.
    count = 1
    for size in shape:
        count *= size
    if count * dtype.itemsize != len(content) - start:
        raise damaged(
            wanted,
            f"shape {shape} of {dtype} takes {count * dtype.itemsize} bytes, and "
            f"{len(content) - start} are there",
        )
    flat = np.frombuffer(content, dtype, count, start)
    return flat.reshape(shape, order="F" if by_columns else "C")[index]


def _header(content: bytes, wanted: Wanted) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Read shape, whether columns come first, type, and where the numbers start."""
    stream = io.BytesIO(content)
    try:
        version = npy.read_magic(stream)
        if version not in HEADERS:
            raise damaged(wanted, f"version {version} of .npy is not known")
        return (*HEADERS[version](stream), stream.tell())
    except Refusal:
        raise
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, TokenError):
        # What numpy says quotes the header, or an object of Python that is behind it.
        raise damaged(wanted, "its header does not say type and shape") from None


def read_npz(content: bytes, wanted: Wanted) -> np.ndarray:
    """Read from a .npz archive, unpacking one array in memory.

    Parameters
    ----------
    content : bytes
        The whole file.
    wanted : Wanted

    Returns
    -------
    ndarray
        A view of what was unpacked.

    Raises
    ------
    Refusal
        As for :func:`read_npy`; also if the archive is damaged or encrypted,
        the array is not there, or it is too large to unpack.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {m.filename: m for m in archive.infolist()}
            names = [m.filename[:-4] for m in archive.infolist() if m.filename.endswith(".npy")]
            member = members[f"{chosen(wanted, names)}.npy"]
            _refuse_member(member, wanted)
            unpacked = archive.read(member)
    except Refusal:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        raise damaged(wanted, error) from None
    return _array(unpacked, wanted)


def _refuse_member(member: zipfile.ZipInfo, wanted: Wanted) -> None:
    """Refuse what numpy never writes, and what is too large to unpack."""
    if member.flag_bits & 1:
        raise Refusal(
            f"{wanted.where} is encrypted; no password can be given. Save it with numpy.savez."
        )
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refusal(
            f"{wanted.where} is compressed by method {member.compress_type} of zip, which numpy "
            "does not read either. Save it with numpy.savez_compressed."
        )
    if member.file_size > LARGEST:
        raise Refusal(
            f"{wanted.where} unpacks to {member.file_size} bytes, and {LARGEST} is the most an "
            "archive may unpack to. Save it with numpy.save: of a .npy file only the part that "
            "is wanted is copied."
        )
