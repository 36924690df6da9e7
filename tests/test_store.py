"""Files that hold what was written, all of it, under a digest that no edit survives."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from itertools import islice
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr

from lowpass import store
from lowpass.records import INLINE_PARENTS, record_of
from lowpass.registry import Refusal
from lowpass.stages.trajectory import Trajectory

from .disks import disk

RECIPE = {"stage": "data", "params": {"generator": "ring", "n_tokens": 4}}
RECORDED = [0, 2, 4]
ROOT = Path(__file__).parents[1]
PATIENCE = 120  # Seconds for a program of a few.
PAGE = 4096  # A disk in memory gives room by the page.
MANY = INLINE_PARENTS + 1


def record(parents=()):
    """Compose some record."""
    return record_of(RECIPE, {"n_tokens": 4}, parents, "0" * 16, {"python": "3.11.7"})


def family(n: int) -> list[dict[str, str]]:
    """Describe parents that differ in everything."""
    return [
        {"path": f"results/a~{i}.nc", "key": f"{i:012}", "digest": f"{i:064}"} for i in range(n)
    ]


@pytest.fixture
def whole(rng) -> xr.Dataset:
    """Hold two replicates of a short run: norms of five layers, tensors of three."""
    return xr.Dataset(
        {
            "stationary": (("replicate", "token"), rng.random((2, 4))),
            "log10_hc_norm": (("replicate", "layer"), rng.standard_normal((2, 5))),
            "hc": (
                ("replicate", "recorded_layer", "token", "feature"),
                rng.standard_normal((2, 3, 4, 3)),
            ),
            "hc_exponent": (("replicate", "recorded_layer"), rng.integers(-9, 9, (2, 3))),
        },
        {
            "replicate": [0, 1],
            "layer": np.arange(5),
            "recorded_layer": RECORDED,
            "token": np.arange(4),
            "feature": np.arange(3),
        },
    )


def streamed(whole: xr.Dataset) -> Trajectory:
    """Take a dataset apart into layers."""
    layered = [name for name, each in whole.items() if {"layer", "recorded_layer"} & {*each.dims}]

    def layers():
        for layer in whole["layer"].values:
            row = whole.sel(layer=layer).sel(recorded_layer=[i for i in RECORDED if i == layer])
            kept = row.squeeze("recorded_layer") if layer in RECORDED else row
            yield {
                name: (each.dims, each.values)
                for name, each in kept[layered].items()
                if "recorded_layer" not in each.dims
            }

    return Trajectory(whole.drop_vars(layered), layers())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "attention" / "some~0123456789ab.nc"


@pytest.fixture
def stored(whole, path):
    store.write(path, whole, record())
    return path


# Laws.


@pytest.mark.parametrize("form", [lambda whole: whole, streamed], ids=["whole", "streamed"])
def test_what_is_written_is_read(form, whole, path):
    store.write(path, form(whole), record())
    xr.testing.assert_identical(store.read(path).drop_attrs(), whole)


def test_a_digest_does_not_tell_how_a_file_was_written(whole, tmp_path):
    marks = {
        store.write(tmp_path / "whole.nc", whole, record()),
        store.write(tmp_path / "streamed.nc", streamed(whole), record()),
        store.write(tmp_path / "reordered.nc", whole[sorted(whole)[::-1]], record()),
    }
    assert len(marks) == 1


@pytest.mark.parametrize("part", [1, 5, 12, 13, 48, 10**6])
def test_a_digest_does_not_tell_in_which_parts_it_was_taken(part, whole, path, monkeypatch):
    mark = store.write(path, whole, record())
    monkeypatch.setattr(store, "PART", part)
    assert store.digest(path) == mark


def test_a_file_states_the_digest_of_its_content(whole, path):
    mark = store.write(path, whole, record())
    assert store.digest(path) == store.read_record(path)[0]["digest"] == mark


def test_two_writings_give_the_same_bytes(whole, tmp_path):
    for name in ("first.nc", "second.nc"):
        store.write(tmp_path / name, streamed(whole), record())
    assert (tmp_path / "first.nc").read_bytes() == (tmp_path / "second.nc").read_bytes()


def next_float(file):
    values = file["hc"][...]
    values[1, 2, 3, 2] = np.nextafter(values[1, 2, 3, 2], np.inf)
    file["hc"][...] = values


def swap_replicates(file):
    file["hc"][...] = file["hc"][...][::-1]


def name_a_value(file):
    file.createVariable("w_q", "f8", ())[...] = 0.0


EDITS = {
    "one value by one unit in the last place": next_float,
    "one coordinate": lambda file: file["layer"].__setitem__(4, 5),
    "the order of replicates": swap_replicates,
    "the sign of a zero": lambda file: file["stationary"].__setitem__((0, 0), -0.0),
    "units": lambda file: file["hc"].setncattr("units", "m"),
    "a further attribute of a variable": lambda file: file["hc"].setncattr("note", ""),
    "a further attribute of the file": lambda file: file.setncattr("note", ""),
    "the record": lambda file: file.setncattr("record", file.record.replace(":4", ":5", 1)),
    "the name of a dimension": lambda file: file.renameDimension("token", "query"),
    "the name of a variable": lambda file: file.renameVariable("hc", "x"),
    "a further variable": name_a_value,
    "a further dimension": lambda file: file.createDimension("query", 4),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_digest_notices(edit, whole, path):
    whole["stationary"][0, 0] = 0.0
    mark = store.write(path, whole, record())
    with netCDF4.Dataset(path, "a") as file:
        EDITS[edit](file)
    assert store.digest(path) != mark


def test_a_digest_notices_that_two_dimensions_of_one_length_were_exchanged(path, rng):
    """The same values, and the same list of dimensions: queries have become keys."""
    weights = xr.Dataset({"nw_weights": (("query", "key"), rng.random((3, 3)))})
    mark = store.write(path, weights, record())
    with netCDF4.Dataset(path, "a") as file:
        for old, new in [("query", "aside"), ("key", "query"), ("aside", "key")]:
            file.renameDimension(old, new)
    assert store.digest(path) != mark


def test_a_digest_does_not_cover_itself(stored):
    mark = store.digest(stored)
    with netCDF4.Dataset(stored, "a") as file:
        file.setncattr("digest", "f" * 64)
    assert store.digest(stored) == mark


def test_a_type_is_part_of_the_content(whole, tmp_path):
    single = whole.assign(stationary=whole["stationary"].astype("float32"))
    exact = single.assign(stationary=single["stationary"].astype("float64"))
    marks = [store.write(tmp_path / "a.nc", each, record()) for each in (single, exact)]
    assert marks[0] != marks[1]


# What is particular.


def test_every_variable_bears_its_card(stored):
    attrs = store.read(stored)["log10_hc_norm"].attrs
    assert attrs["units"] == "1"
    assert attrs["symbol"] == r"\log_{10}\|CX\|_F"
    assert attrs["long_name"] == "decimal logarithm of the norm of the high-frequency component"


def test_a_swept_parameter_is_a_dimension_of_its_own_name(whole, path):
    beta = ("beta", [1.0, 3.0], {"parameter": "attention.beta"})
    swept = xr.concat([whole, whole], "beta", data_vars="all").assign_coords(beta=beta)
    store.write(path, swept, record())
    read = store.read(path)
    assert read["beta"].attrs == {"long_name": "beta", "parameter": "attention.beta"}
    assert read["hc"].dims == ("beta", *whole["hc"].dims)


@pytest.mark.parametrize("dtype", [str, object])
def test_texts_are_kept_letter_by_letter(dtype, path):
    texts = np.array(["softmax of distances", "", "|λ₂|ᵗ"], dtype)
    values = ("route", texts)
    held = xr.Dataset({"fit_by_route": (("route", "query"), np.ones((3, 2)))}, {"route": values})
    store.write(path, held, record())
    assert store.read(path)["route"].values.tolist() == texts.tolist()


def test_a_digest_does_not_tell_how_texts_were_held(tmp_path):
    fit = ("route", "query"), np.ones((2, 2))
    marks = {
        store.write(
            tmp_path / "a.nc",
            xr.Dataset({"fit_by_route": fit}, {"route": ("route", np.array(["a", "ab"], dtype))}),
            record(),
        )
        for dtype in (str, object, "U9")
    }
    assert len(marks) == 1


def test_numbers_without_a_dimension_are_kept(path):
    store.write(path, xr.Dataset({"bandwidth_selected": 4.5}), record())
    assert store.read(path)["bandwidth_selected"].item() == 4.5


def test_infinity_is_stored_where_the_card_says_why(whole, path):
    whole["log10_hc_norm"][0, 3:] = -np.inf
    store.write(path, streamed(whole), record())
    assert store.read(path)["log10_hc_norm"][0, 4] == -np.inf


def test_few_parents_stand_in_the_record(whole, path):
    parents = family(INLINE_PARENTS)
    store.write(path, whole, record(parents), parents)
    assert store.read_record(path)[1] == parents == store.read_record(path)[0]["parents"]


def test_many_parents_stand_in_a_table(whole, path):
    parents = family(MANY)
    store.write(path, whole, record(parents), parents)
    held, listed = store.read_record(path)
    assert listed == parents
    assert held["parents"]["count"] == MANY
    xr.testing.assert_identical(store.read(path).drop_attrs(), whole)


@pytest.mark.parametrize("column", ["path", "key", "digest"])
def test_an_altered_table_of_parents_is_noticed(column, whole, path):
    parents = family(MANY)
    mark = store.write(path, whole, record(parents), parents)
    with netCDF4.Dataset(path, "a") as file:
        file[f"parent_{column}"][3] = "0"
    assert store.digest(path) != mark
    with pytest.raises(Refusal, match="the table of parents does not belong to the record"):
        store.read_record(path)


def test_a_trajectory_is_never_held_in_memory(tmp_path):
    """Two hundred layers of a mebibyte; one is made while the last is still referred to."""
    n_layers, shape = 200, (1, 512, 256)
    header = xr.Dataset(
        coords={
            "replicate": [0],
            "recorded_layer": np.arange(n_layers),
            "token": np.arange(shape[1]),
            "feature": np.arange(shape[2]),
        }
    )
    layers = (
        {"hc": (("replicate", "token", "feature"), np.full(shape, layer / 7))}
        for layer in range(n_layers)
    )
    tracemalloc.start()
    try:
        store.write(tmp_path / "long.nc", Trajectory(header, layers), record())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    one = np.zeros(shape).nbytes
    assert one < peak < 2.25 * one


def test_a_large_variable_is_written_without_a_copy(tmp_path, rng):
    weights = xr.Dataset({"nw_weights": (("query", "key"), rng.random((1024, 1024)))})
    tracemalloc.start()
    try:
        store.write(tmp_path / "large.nc", weights, record())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.25 * weights.nbytes


# All or nothing.


def broken_off(whole: xr.Dataset, after: int) -> Trajectory:
    """Fail in the middle of a stream, as a full disk or a bad layer would."""
    header, layers = streamed(whole)

    def failing():
        yield from islice(layers, after)
        raise ArithmeticError("the fourth layer")

    return Trajectory(header, failing())


def never():
    raise Refusal("the code was edited while the workflow ran")


@pytest.mark.parametrize("there_before", [True, False])
@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda whole: {"product": broken_off(whole, 3)}, "the fourth layer"),
        (lambda whole: {"product": whole, "confirm": never}, "the code was edited"),
        (lambda whole: {"product": streamed(whole), "confirm": never}, "the code was edited"),
        (lambda whole: {"product": whole.rename(hc="hcc")}, "no variable is called 'hcc'"),
    ],
    ids=["a stream breaks off", "confirm raises", "confirm raises after a stream", "no card"],
)
def test_a_failure_leaves_what_was_there(spoil, fault, there_before, whole, path):
    if there_before:
        store.write(path, whole, record())
    before = {each: each.read_bytes() for each in path.parent.glob("*")}
    with pytest.raises((Refusal, ArithmeticError), match=fault):
        store.write(path=path, record={**record(), "code": "1" * 16}, **spoil(whole))
    assert {each: each.read_bytes() for each in path.parent.glob("*")} == before


@pytest.mark.parametrize("part", [0, 0.2, 0.5, 0.99])
@pytest.mark.parametrize("form", [lambda whole: whole, streamed], ids=["whole", "streamed"])
def test_a_full_disk_is_refused_wherever_it_fills(form, part, whole, path, tmp_path):
    """HDF5 tells no reason, and where little is missing fails no earlier than it closes."""
    store.write(path, form(whole), record())
    left = int(part * path.stat().st_size) // PAGE * PAGE
    with disk(tmp_path / "disk", "1m") as small:
        again, filling = small.path / path.name, small.fill(left)
        with pytest.raises(
            Refusal, match=r"ab\.nc: the disk is full \(No space left on dev"
        ) as said:
            store.write(again, form(whole), record())
        assert [each.name for each in small.path.iterdir()] == [filling.name]
        # What HDF5 could not close takes no room that the line about it may need.
        assert said.value
        assert small.free == left
        filling.unlink()
        store.write(again, form(whole), record())
        assert again.read_bytes() == path.read_bytes()


# Writes three layers again and again; killed before each of them, and once before the end.
KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
import xarray as xr
from lowpass import store
from lowpass.records import record_of
from lowpass.stages.trajectory import Trajectory

path = Path(sys.argv[1])
record = record_of({"stage": "data", "params": {}}, {}, [], "0" * 16, {})
names = {"replicate": 1, "recorded_layer": 3, "token": 64, "feature": 64}
header = xr.Dataset(coords={name: np.arange(size) for name, size in names.items()})

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def layers(last):
    for layer in range(3):
        if layer == last:
            die()
        yield {"hc": (("replicate", "token", "feature"), np.full((1, 64, 64), layer / 7))}

def work(last):
    store.write(path, Trajectory(header, layers(last)), record, confirm=die if last == 3 else bool)

work(None)
once = path.read_bytes()
for there in (True, False):
    for last in range(4):
        number = os.fork()
        if number == 0:
            work(last)
        assert os.waitpid(number, 0)[1] == signal.SIGKILL
        assert path.read_bytes() == once if there else not path.exists()
        assert len(list(path.parent.glob("*.part"))) == 1
        work(None)
        assert path.read_bytes() == once
        assert list(path.parent.iterdir()) == [path]
        if not there or last == 3:
            path.unlink()
print("whole")
"""


def test_killed_at_any_layer_a_file_is_whole_or_has_no_name(path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, path],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.stdout, done.stderr) == ("whole\n", "")


def test_a_file_has_no_name_before_it_is_confirmed(whole, path):
    seen = []
    store.write(path, streamed(whole), record(), confirm=lambda: seen.append(path.exists()))
    assert seen == [False]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


# Refusals.


def change(name, dims, values):
    return lambda whole: whole.assign({name: (dims, values)})


REFUSED = {
    "variable without a card": (
        lambda whole: whole.rename(hc="hd"),
        "no variable is called 'hd'; did you mean 'hc'?",
    ),
    "dimension without a card": (
        lambda whole: whole.rename(token="tokn"),
        "no dimension is called 'tokn'; did you mean 'token'?",
    ),
    "unlabelled dimension without a card": (
        lambda whole: whole.drop_vars(["stationary"]).expand_dims("beta"),
        "no dimension is called 'beta'",
    ),
    "dimensions in another order": (
        lambda whole: whole.transpose("token", ...),
        r"variable 'stationary' has the dimensions \('token', 'replicate'\), but its card says",
    ),
    "swept parameter after the dimensions of the card": (
        change("stationary", ("replicate", "token", "query"), np.ones((2, 4, 2))),
        r"variable 'stationary' has the dimensions .*'query'\), but its card says",
    ),
    "missing dimension": (
        lambda whole: whole.assign(stationary=whole["stationary"][0]),
        r"variable 'stationary' has the dimensions \('token',\), but its card says",
    ),
    "not a number": (
        lambda whole: whole.where(whole["stationary"] > whole["stationary"].min()),
        "variable 'stationary' holds NaN, which is never a result",
    ),
    "unexplained infinity": (
        lambda whole: whole.assign(stationary=whole["stationary"] * np.inf),
        "variable 'stationary' holds an infinite value, and its card gives no reason",
    ),
    "infinite coordinate": (
        lambda whole: whole.assign_coords(bandwidth=("bandwidth", [1.0, np.inf])),
        "variable 'bandwidth' holds an infinite value",
    ),
    "truth values": (
        lambda whole: whole.assign(stationary=whole["stationary"] > 0),
        "variable 'stationary' has the type bool, which netCDF cannot hold; store real numbers",
    ),
    "complex numbers": (
        lambda whole: whole.assign(stationary=whole["stationary"] * 1j),
        "variable 'stationary' has the type complex128, which netCDF cannot hold",
    ),
    "half precision": (
        lambda whole: whole.assign(stationary=whole["stationary"].astype("float16")),
        "variable 'stationary' has the type float16, which netCDF cannot hold",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_dataset_is_refused_for_a(fault, whole, path):
    spoil, message = REFUSED[fault]
    with pytest.raises(Refusal, match=message):
        store.write(path, spoil(whole), record())
    assert list(path.parent.iterdir()) == []


def changed(whole: xr.Dataset, layer: int, name: str, change) -> Trajectory:
    """Replace what a stream gives for one variable at one layer."""
    header, layers = streamed(whole)
    rows = (
        {**row, name: change(*row[name])} if i == layer else row for i, row in enumerate(layers)
    )
    return Trajectory(header, rows)


def spoilt(whole: xr.Dataset, layer: int, name: str, value: float) -> Trajectory:
    return changed(whole, layer, name, lambda dims, each: (dims, np.full_like(each, value)))


def reshaped(whole: xr.Dataset, change) -> Trajectory:
    return changed(whole, RECORDED[-1], "hc", change)


STREAMS = {
    "missing layer": (
        lambda whole: Trajectory(whole[["stationary"]].assign_coords(whole.coords), iter(())),
        "dimension 'layer' has 5 places and no variable fills them; the run stopped early",
    ),
    "run that stopped early": (
        lambda whole: Trajectory(streamed(whole)[0], islice(streamed(whole)[1], 4)),
        "variable 'log10_hc_norm' has 4 layers of 5; the run stopped early",
    ),
    "run that went too far": (
        lambda whole: Trajectory(streamed(whole.isel(layer=slice(4)))[0], streamed(whole)[1]),
        "variable 'log10_hc_norm' has more than its 4 layers",
    ),
    "layer that is turned": (
        lambda whole: reshaped(whole, lambda dims, values: (dims[::-1], values.T)),
        r"layer 2 of variable 'hc' has the dimensions \('feature', 'token', 'replicate'\)",
    ),
    "layer that would be stretched": (
        lambda whole: reshaped(whole, lambda dims, values: (dims, values[:1])),
        r"layer 2 of variable 'hc' has the dimensions .* and the shape \(1, 4, 3\)",
    ),
    "layer that is no number": (
        lambda whole: spoilt(whole, 3, "log10_hc_norm", np.nan),
        "variable 'log10_hc_norm' holds NaN",
    ),
    "layer with an unexplained infinity": (
        lambda whole: spoilt(whole, 4, "hc", np.inf),
        "variable 'hc' holds an infinite value",
    ),
}


@pytest.mark.parametrize("fault", STREAMS)
def test_a_stream_is_refused_for_a(fault, whole, path):
    spoil, message = STREAMS[fault]
    with pytest.raises(Refusal, match=message):
        store.write(path, spoil(whole), record())
    assert list(path.parent.iterdir()) == []


def test_reading_says_what_is_not_there(path):
    with pytest.raises(Refusal, match="there is no such file; run the workflow to make it"):
        store.read(path)
    with pytest.raises(Refusal, match="there is no such file; check the path"):
        store.read_record(path)


def test_reading_says_what_is_no_result(tmp_path):
    (tmp_path / "note.nc").write_text("hello")
    with pytest.raises(Refusal, match=r"note\.nc: is not a readable netCDF file"):
        store.read(tmp_path / "note.nc")
    with pytest.raises(Refusal, match=r"note\.nc: carries no record of lowpass"):
        store.read_record(tmp_path / "note.nc")


def test_a_dataset_of_another_program_carries_no_record(tmp_path, whole):
    whole.to_netcdf(tmp_path / "foreign.nc", engine="netcdf4")
    with pytest.raises(Refusal, match=r"foreign\.nc: carries no record of lowpass"):
        store.read_record(tmp_path / "foreign.nc")
