"""Numpy's files are read from their headers on, and no pickle is ever opened."""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from lowpass.formats import npy
from lowpass.formats.npy import read_npy, read_npz
from lowpass.formats.wanted import Wanted
from lowpass.registry import Refusal

NO_HEADER = "its header does not say type and shape"
ONE = Wanted("a.npy", "a.npy: tokens", ("token", "feature"))
SOME = Wanted("a.npz", "a.npz: tokens", ("token", "feature"))


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def headed(header: str, data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    """Write a header by hand."""
    length = struct.pack("<H" if version == (1, 0) else "<I", len(header))
    return b"\x93NUMPY" + bytes(version) + length + header.encode() + data


def packed(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


class Bomb:
    """Make a folder when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


# Laws.


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f2", "|i1", "<u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_orders_are_those_that_numpy_reads(dtype, order):
    array = np.asarray(np.arange(12).reshape(4, 3), dtype, order=order)
    for got in (read_npy(saved(array), ONE), read_npz(packed(("a.npy", saved(array))), SOME)):
        assert got.dtype == array.dtype
        assert np.array_equal(got, array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_header_is_read(version):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.eye(3), version=version)
    assert np.array_equal(read_npy(stream.getvalue(), ONE), np.eye(3))


def test_an_archive_gives_the_array_that_is_named():
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.eye(3), b=np.ones((2, 2)))
    named = Wanted("a.npz", "a.npz: tokens 'b'", ONE.dims, "b")
    assert np.array_equal(read_npz(stream.getvalue(), named), np.ones((2, 2)))


def test_an_array_alone_in_its_archive_needs_no_name():
    content = packed(("attn.npy", saved(np.eye(3))), ("README", b"by hand"))
    assert np.array_equal(read_npz(content, SOME), np.eye(3))


def test_of_a_large_array_only_what_is_wanted_is_copied():
    """A view of the 8 MB takes less than the header's own parsing."""
    content = saved(np.zeros((100, 100, 100)))
    wanted = Wanted("a.npy", "a", ("layer", "token", "feature"), at={"layer": 7})
    tracemalloc.start()
    try:
        read_npy(content, wanted)
        assert tracemalloc.get_traced_memory()[1] < 1e5
    finally:
        tracemalloc.stop()


# Refusals.


@pytest.mark.parametrize("read", [read_npy, read_npz])
def test_a_pickle_is_never_opened(read, tmp_path):
    """Numpy itself opens it when it is allowed to, and the folder appears."""
    folder = tmp_path / "exploded"
    stream = io.BytesIO()
    np.save(stream, np.array([[Bomb(str(folder))]], dtype=object), allow_pickle=True)
    content = stream.getvalue()
    message = r": tokens is of type object; Python objects are pickled, .* all rows of one length\."
    with pytest.raises(Refusal, match=message):
        read(content if read is read_npy else packed(("a.npy", content)), SOME)
    assert not folder.exists()
    np.load(io.BytesIO(content), allow_pickle=True)
    assert folder.exists()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((2, 2), complex), r"of type complex128; a weight or a feature is one real number"),
        (np.ones((2, 2), bool), r"of type bool; truth is no number\. Save array\.astype\(float\)"),
        (np.array([["1", "2"]]), r"of type <U1; text is no number"),
        (np.array([[b"1", b"2"]]), r"of type \|S1; text is no number"),
        (np.zeros((2, 2), "M8[s]"), r"of type datetime64\[s\]; a date is no number"),
        (np.zeros((2, 2), "m8[s]"), r"of type timedelta64\[s\]; a duration is no number"),
        (np.zeros((2, 2), "f8,i4"), r"of type \[\('f0', '<f8'\), .*; it has fields"),
        (np.zeros((2, 2), "V2"), r"of type \|V2; .* such as bfloat16\. .*numpy\.float32\)"),
        pytest.param(
            np.ones((2, 2), np.longdouble),
            r"of type float\d+; it has more digits than float64",
            marks=pytest.mark.skipif(np.longdouble(0).itemsize == 8, reason="is float64 here"),
        ),
        (np.ones((2, 0)), r"has the shape \(2, 0\); its axis 'feature' is empty"),
        (np.array(3.0), r"has the shape \(\), and dims names 2 axes"),
    ],
)
def test_what_is_no_array_of_real_numbers_is_refused(array, message):
    with pytest.raises(Refusal, match=rf"^a\.npy: tokens (is )?{message}"):
        read_npy(saved(array), ONE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (saved(np.eye(3))[:-1], r"shape \(3, 3\) of float64 takes 72 bytes, and 71 are there"),
        (saved(np.eye(3)) + saved(np.eye(3)), r"takes 72 bytes, and 272 are there"),
        (headed("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)"), NO_HEADER),
        (headed("[]"), NO_HEADER),
        (headed("(" * 500), NO_HEADER),
        (headed(" " * 20_000), NO_HEADER),
        (headed("{'descr': 'f9', 'fortran_order': False, 'shape': (2, 2)}"), NO_HEADER),
        (headed("{'descr': '<f8', 'fortran_order': False, 'shape': 4}"), NO_HEADER),
        (b"\x93NUMPY\x01\x00\xff\xff{", NO_HEADER),
        (headed("{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 2)}"), NO_HEADER),
        (headed("{}", version=(7, 0)), r"version \(7, 0\) of \.npy is not known"),
        (headed("{'descr': '<f8', 'fortran_order': False, 'shape': (2**62, 4)}"), NO_HEADER),
        (
            headed(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({2**62}, 4)}}"),
            r"takes 147573952589676412928 bytes, and 0 are there",
        ),
    ],
)
def test_a_header_that_does_not_account_for_every_byte_is_refused(content, message):
    with pytest.raises(Refusal, match=rf"^a\.npy: tokens cannot be read \(.*{message}") as told:
        read_npy(content, ONE)
    assert "\n" not in str(told.value)


def test_negative_sizes_are_refused():
    content = headed("{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -2)}", bytes(32))
    with pytest.raises(Refusal, match=r"has the shape \(-2, -2\); its axis 'token' is empty"):
        read_npy(content, ONE)


def test_a_name_is_refused_where_there_are_none():
    with pytest.raises(Refusal, match=r"is wanted by name; a \.npy file holds one array, .* Leave"):
        read_npy(saved(np.eye(3)), Wanted("a.npy", "a.npy: tokens 'b'", ONE.dims, "b"))


@pytest.mark.parametrize(
    ("names", "name", "message"),
    [
        (["a", "b"], None, r"tokens is not named, and the file holds 2 arrays; .* Known: a, b\."),
        (["attn", "b"], "atn", r"no array is called 'atn'; did you mean 'attn'\? Known: attn, b\."),
        ([str(i) for i in range(20)], None, r"Known: 0, 1, .*, 11 and 8 more\.$"),
        ([], None, r"^a\.npz: there is no array in this file"),
        ([], "a", r"^a\.npz: there is no array in this file"),
    ],
)
def test_an_array_that_is_not_in_the_archive_is_refused(names, name, message):
    content = packed(*((f"{each}.npy", saved(np.eye(3))) for each in names), ("data.pkl", b"x"))
    with pytest.raises(Refusal, match=message):
        read_npz(content, Wanted("a.npz", "a.npz: tokens", ONE.dims, name))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused():
    content = packed(("a.npy", saved(np.eye(3))), ("a.npy", saved(np.eye(4))))
    with pytest.raises(Refusal, match=r"two arrays are called 'a'; .* Save each once\."):
        read_npz(content, Wanted("a.npz", "a.npz: tokens 'a'", ONE.dims, "a"))


def field(content: bytes, offset: int, value: bytes) -> bytes:
    """Overwrite a field of the central directory's entry for the only member."""
    start = content.rindex(b"PK\x01\x02") + offset
    return content[:start] + value + content[start + len(value) :]


def test_an_encrypted_array_is_refused():
    content = field(packed(("a.npy", saved(np.eye(3)))), 8, b"\x01\x00")
    with pytest.raises(Refusal, match=r"tokens is encrypted; no password can be given\."):
        read_npz(content, SOME)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_numpy_never_writes_is_refused(method):
    content = packed(("a.npy", saved(np.eye(3))), method=method)
    with pytest.raises(Refusal, match=rf"compressed by method {method} of zip, which numpy"):
        read_npz(content, SOME)


def test_an_array_too_large_to_unpack_is_refused_before_it_is_unpacked(monkeypatch):
    """A megabyte of zeros is a kilobyte in the archive."""
    content = packed(("a.npy", saved(np.zeros((512, 256)))), method=zipfile.ZIP_DEFLATED)
    assert read_npz(content, SOME).shape == (512, 256)
    monkeypatch.setattr(npy, "LARGEST", 2**20)
    with pytest.raises(Refusal, match=r"unpacks to 1048704 bytes, and 1048576 is the most .*\.npy"):
        read_npz(content, SOME)


def test_an_array_cannot_unpack_to_more_than_it_announces():
    content = packed(("a.npy", saved(np.zeros((512, 256)))), method=zipfile.ZIP_DEFLATED)
    with pytest.raises(Refusal, match=r"cannot be read \(.*CRC-32"):
        read_npz(field(content, 24, struct.pack("<I", 200)), SOME)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed(("a.npy", saved(np.eye(3))))[:-30], r"File is not a zip file"),
        (packed(("a.npy", b"\x93NUMPY")), NO_HEADER),
        (packed(("a.npy", saved(np.eye(3)))).replace(b"\xf0\x3f", b"\xf0\x40"), r"Bad CRC-32"),
        (field(packed(("a.npy", saved(np.eye(3)))), 6, b"\xff\xff"), r"zip file version"),
    ],
)
def test_a_damaged_archive_is_refused(content, message):
    with pytest.raises(Refusal, match=rf"^a\.npz: tokens cannot be read \(.*{message}.*damaged or"):
        read_npz(content, SOME)
