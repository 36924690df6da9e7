"""The suffix says the format, the content has to agree, and every format says the same numbers."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from subprocess import run

import netCDF4
import numpy as np
import pytest

from lowpass.formats.reading import READERS, read
from lowpass.formats.wanted import Wanted
from lowpass.registry import Refusal

DIMS = ("query", "key")


def written(array: np.ndarray, suffix: str, folder) -> bytes:
    """Write one array as its users would."""
    stream = io.BytesIO()
    if suffix == ".npy":
        np.save(stream, array)
    elif suffix == ".npz":
        np.savez_compressed(stream, a=array)
    elif suffix == ".csv":
        np.savetxt(stream, array, delimiter=",")
    else:
        with netCDF4.Dataset(folder / "a.nc", "w") as file:
            for name, size in zip(DIMS, array.shape, strict=True):
                file.createDimension(name, size)
            file.createVariable("a", array.dtype, DIMS)[:] = array
        return (folder / "a.nc").read_bytes()
    return stream.getvalue()


@pytest.mark.parametrize("suffix", READERS)
def test_every_format_gives_back_what_was_written_bit_by_bit(suffix, tmp_path, rng):
    """Numbers of all magnitudes, subnormal ones included."""
    array = np.ldexp(rng.standard_normal((7, 5)), rng.integers(-1070, 1020, (7, 5)))
    content = written(array, suffix, tmp_path)
    got = read(content, Wanted(f"a{suffix}", "a", DIMS))
    assert got.dtype == array.dtype
    assert np.array_equal(got.view(np.int64), array.view(np.int64))
    assert np.array_equal(read(content, Wanted(f"A{suffix.upper()}", "a", DIMS)), array)


@pytest.mark.parametrize("suffix", READERS)
def test_every_format_takes_an_index_as_numpy_does(suffix, tmp_path, rng):
    array = rng.standard_normal((7, 5))
    content = written(array, suffix, tmp_path)
    row = read(content, Wanted(f"a{suffix}", "a", DIMS, at={"query": 3}))
    column = read(content, Wanted(f"a{suffix}", "a", DIMS, at={"key": 4}))
    assert np.array_equal(row, array[3])
    assert np.array_equal(column, array[:, 4])


@pytest.mark.parametrize("suffix", READERS)
def test_every_format_refuses_an_index_outside_and_names_that_are_too_few(suffix, tmp_path):
    content = written(np.eye(3), suffix, tmp_path)
    with pytest.raises(Refusal, match=r"^a: at takes key 3, and the axis has 3 entries; .* 0 to 2"):
        read(content, Wanted(f"a{suffix}", "a", DIMS, at={"key": 3}))
    with pytest.raises(Refusal, match=r"^a has the shape \(3, 3\), and dims names 1 axes: query; "):
        read(content, Wanted(f"a{suffix}", "a", ("query",)))


@pytest.mark.parametrize("suffix", [s for s in READERS if s != ".csv"])
@pytest.mark.parametrize("kept", [0.0, 0.05, 0.5, 0.999])
def test_a_file_that_was_cut_is_refused(suffix, kept, tmp_path):
    """Four numbers of a table are a table, so that a cut .csv cannot be told."""
    content = written(np.eye(20), suffix, tmp_path)
    message = r"cannot be read \(.*\); the file is damaged or incomplete|does not begin like a "
    with pytest.raises(Refusal, match=message):
        read(content[: int(kept * len(content))], Wanted(f"a{suffix}", "a", DIMS))


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("other", READERS)
def test_content_of_another_format_is_refused_with_its_name(suffix, other, tmp_path):
    if suffix == other:
        return
    content = written(np.eye(3), other, tmp_path)
    told = rf"^mine/a\{suffix}: the content is that of a \{other} file; .* Rename it to a\{other}\."
    text = rf"^mine/a\{suffix}: the content does not begin like a \{suffix} file \(\d+ bytes from "
    with pytest.raises(Refusal, match=text if other == ".csv" else told):
        read(content, Wanted(f"mine/a{suffix}", "a", DIMS))


def test_a_table_that_speaks_of_the_cdf_is_no_netcdf():
    content = b"CDF,PDF\n0.5,0.25\n"
    assert np.array_equal(read(content, Wanted("a.csv", "a", DIMS)), [[0.5, 0.25]])


@pytest.mark.parametrize("path", ["a.pt", "a", "a.h5", "a.npz.gz", ".npy"])
def test_an_unknown_suffix_is_refused_with_those_that_are_known(path):
    known = r"Known: \.npy, \.npz, \.nc, \.csv\. Save the array with numpy\.save\.$"
    with pytest.raises(Refusal, match=known):
        read(b"", Wanted(path, "a", DIMS))


def test_netcdf_is_not_loaded_before_it_is_needed():
    """A stage process starts quickly."""
    code = "import sys, lowpass.tensors; sys.exit('netCDF4' in sys.modules)"
    path = {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    assert run([sys.executable, "-c", code], env=path, check=False).returncode == 0
