"""A variable of a netCDF file is read as it is stored, or not at all."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable

import netCDF4
import numpy as np
import pytest
import xarray as xr

from lowpass.formats.netcdf import read_nc
from lowpass.formats.wanted import Wanted
from lowpass.registry import Refusal

DIMS = ("query", "key")
# What h5py writes, compressed: f["attn"] = [[1, 0], [0.5, 0.5]].
PLAIN_HDF5 = (
    "c-rgqaB<`1lHy_j0S*oZ76t(ZWbhvfX0W32Ve$!3nh{EOK<O1sFmXn(oCH){5NbZUx{x4OSCH!eXaHu90SkoYU>F4>"
    "5qP*d27u@YC?A$ePcWgXODrkLLr#w#6xz$kzzQ*o5ysbm&`b~knDw}5W?;$(sT5SOho)Tz1`}=ulmE;Rc~+n(NS=ua"
    "Vju@Jr!X^CKy#b|nu{t1G#-Ne{9Qmf8kP?gm`Bql`QU>+D*u5!j0ON<OEZ`"
)


@pytest.fixture
def write(tmp_path) -> Callable:
    """Write a file whose variables a function makes."""

    def written(fill: Callable[[netCDF4.Dataset], object], form: str = "NETCDF4") -> bytes:
        with netCDF4.Dataset(tmp_path / "a.nc", "w", format=form) as file:
            for name in DIMS:
                file.createDimension(name, 3)
            fill(file)
        return (tmp_path / "a.nc").read_bytes()

    return written


def wanted(name: str | None = "a", dims: tuple[str, ...] = DIMS, **at: int) -> Wanted:
    return Wanted("a.nc", f"a.nc: attention '{name}'", dims, name, at)


def variable(file, dtype="f8", dims=DIMS, values=None, name="a", **options):
    """Make a variable of a file and fill it."""
    made = file.createVariable(name, dtype, dims, **options)
    made.set_auto_maskandscale(False)
    made[:] = np.eye(3) if values is None else values
    return made


@pytest.mark.parametrize(
    "form", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"]
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i2", "i1"])
def test_every_version_of_the_format_is_read(form, dtype, write):
    content = write(lambda file: variable(file, dtype), form)
    got = read_nc(content, wanted())
    assert got.dtype.kind == np.dtype(dtype).kind
    assert got.dtype.itemsize == np.dtype(dtype).itemsize
    assert np.array_equal(got, np.eye(3))
    assert not np.ma.isMaskedArray(got)


def test_what_xarray_saves_needs_no_name(tmp_path, rng):
    """Its coordinates are variables, too, but only number a dimension."""
    array = rng.standard_normal((3, 4))
    xr.DataArray(array, {"query": range(3), "key": range(4)}, DIMS).to_netcdf(tmp_path / "a.nc")
    assert np.array_equal(read_nc((tmp_path / "a.nc").read_bytes(), wanted(None)), array)


def test_a_variable_in_a_group_is_called_by_its_path(write):
    def fill(file):
        variable(file)
        variable(file.createGroup("layer5").createGroup("head2"), values=np.ones((3, 3)), name="b")

    content = write(fill)
    assert np.array_equal(read_nc(content, wanted("layer5/head2/b")), np.ones((3, 3)))
    with pytest.raises(Refusal, match=r"no array is called 'b'.* Known: a, layer5/head2/b\."):
        read_nc(content, wanted("b"))


def test_dimensions_may_be_renamed_where_no_name_is_shared(write):
    assert np.array_equal(read_nc(write(variable), wanted(dims=("i", "j"))), np.eye(3))


def test_minus_infinity_is_no_missing_value(write):
    scores = np.where(np.tri(3) > 0, 1.0, -np.inf)
    assert np.array_equal(read_nc(write(lambda f: variable(f, values=scores)), wanted()), scores)


# Refusals.


@pytest.mark.parametrize("dims", [("key", "query"), ("head", "query"), ("key", "feature")])
def test_names_that_contradict_the_file_are_refused(dims, write):
    message = rf"has the dimensions \(query, key\), and dims says \({', '.join(dims)}\); an axis"
    with pytest.raises(Refusal, match=message):
        read_nc(write(variable), wanted(dims=dims))


@pytest.mark.parametrize(
    "options", [{}, {"fill_value": 7.0}, {"fill_value": np.nan}], ids=["default", "7", "nan"]
)
def test_a_missing_value_is_refused_with_its_place(options, write):
    def fill(file):
        made = variable(file, values=np.ones((3, 3)), **options)
        made[1, 2] = options.get("fill_value", netCDF4.default_fillvals["f8"])

    content = write(fill)
    with pytest.raises(Refusal, match=r"'a' has no value at query 1, key 2: it holds _FillValue"):
        read_nc(content, wanted())
    with pytest.raises(Refusal, match=r"has no value at key 2, query 1: "):
        read_nc(content, wanted(key=2))
    assert np.array_equal(read_nc(content, wanted(key=1)), np.ones(3))


def test_a_value_outside_the_valid_range_is_refused(write):
    content = write(lambda file: variable(file).setncattr("valid_max", 0.5))
    with pytest.raises(Refusal, match=r"no value at query 0, key 0: .* lies outside the valid"):
        read_nc(content, wanted())


@pytest.mark.parametrize(
    ("name", "value"), [("scale_factor", 0.01), ("add_offset", 1.0), ("_Unsigned", "true")]
)
def test_packed_numbers_are_refused(name, value, write):
    content = write(lambda file: variable(file, "i1").setncattr(name, value))
    with pytest.raises(Refusal, match=rf"'a' is packed \({name} = {value}\); .* without the pack"):
        read_nc(content, wanted())


def test_plain_hdf5_is_refused_with_how_to_write_netcdf():
    content = zlib.decompress(base64.b85decode(PLAIN_HDF5))
    with pytest.raises(Refusal, match=r"'attn' is HDF5 whose dimensions .*xarray\.DataArray\("):
        read_nc(content, wanted("attn"))


def test_what_is_no_number_is_refused(write):
    def fill(file):
        kind = file.createEnumType(np.int8, "truth", {"no": 0, "yes": 1})
        variable(file, kind, values=np.eye(3, dtype="i1"), name="enum")
        words = file.createVariable("words", str, DIMS)
        words[:] = np.full((3, 3), "one", dtype=object)
        variable(file, "S1", values=np.full((3, 3), b"1"), name="letters")
        pair = file.createCompoundType(np.dtype("f8,f8"), "pair")
        variable(file, pair, values=np.zeros((3, 3), "f8,f8"), name="pairs")

    content = write(fill)
    for name, said in [
        ("enum", r"holds the type 'truth' of netCDF; no number"),
        ("words", r"holds text of netCDF; no number"),
        ("letters", r"is of type \|S1; text is no number"),
        ("pairs", r"holds the type 'pair' of netCDF; no number"),
    ]:
        with pytest.raises(Refusal, match=said):
            read_nc(content, wanted(name))


def test_two_variables_need_a_name(write):
    content = write(lambda file: (variable(file), variable(file, name="b")))
    with pytest.raises(Refusal, match=r"is not named, and the file holds 2 arrays; .* Known: a, b"):
        read_nc(content, wanted(None))


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_a_damaged_file_is_refused(form, write):
    content = write(variable, form)
    with pytest.raises(Refusal, match=r"cannot be read \([^']*\); the file is damaged or incomp"):
        read_nc(content[:-8], wanted())


def test_a_name_that_is_no_text_is_refused(write):
    content = write(variable, "NETCDF3_CLASSIC").replace(b"query", b"quer\xff")
    with pytest.raises(Refusal, match=r"cannot be read \('utf-8' codec .*\); the file is damaged"):
        read_nc(content, wanted())
