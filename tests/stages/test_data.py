"""Blocks of replicates that belong to their seed, and tables that are taken as they are."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from lowpass.data import GENERATORS
from lowpass.kernels import scaled, softmax
from lowpass.registry import Refusal
from lowpass.spec.data import BLOCK, TOKENS, draws, kind, model_of, parse, states
from lowpass.stages.data import data
from lowpass.streams import stream

RESOURCES = Path(__file__).parents[2] / "workflow/resources"
NILE, CAMERA = RESOURCES / "nile.csv", RESOURCES / "camera.png"
DRAWN = [name for name in GENERATORS if draws(name)]
ASKED = {"n_tokens": 8, "d_model": 3, "n_queries": 5, "n_keys": 8, "n_features": 3}
# Those that are needed; the others have defaults.
SIZES = {
    name: {size: value for size, value in ASKED.items() if size in model_of(name).model_fields}
    for name in DRAWN
}


def draw(generator: str, *, seed: int = 7, block: int = 0, **params) -> xr.Dataset:
    """Make one block of tokens, or of observations."""
    asked = {"generator": generator, **SIZES[generator], **params}
    return data({"stage": "data", "params": asked, "seed": seed, "block": block})


def places(made: xr.Dataset) -> xr.DataArray:
    """Give tokens, or where observations have their keys."""
    return made["x" if "x" in made else "key_position"]


# Laws over every generator that draws.


@pytest.mark.parametrize("generator", DRAWN)
def test_a_block_is_full_and_labelled(generator):
    made = draw(generator, block=2)
    one = "token" if kind(generator) == TOKENS else "key"
    assert places(made).dims == ("replicate", one, "feature")
    assert made["replicate"].values.tolist() == list(range(2 * BLOCK, 3 * BLOCK))
    for dim in {*made.dims} - {"replicate"}:
        assert made[dim].values.tolist() == list(range(made.sizes[dim]))


@pytest.mark.parametrize("generator", DRAWN)
def test_equal_recipes_draw_equal_bits(generator):
    xr.testing.assert_identical(draw(generator), draw(generator))


@pytest.mark.parametrize("generator", [name for name in DRAWN if name != "ring"])
def test_no_two_replicates_or_seeds_are_alike(generator):
    """A ring alone is drawn without chance."""
    drawn = [draw(generator), draw(generator, block=1), draw(generator, seed=8)]
    replicates = np.concatenate([places(made).values for made in drawn])
    assert len(np.unique(replicates, axis=0)) == 3 * BLOCK


@pytest.mark.parametrize("generator", DRAWN)
def test_a_replicate_has_a_stream_of_its_own(generator):
    """However many there are, and in whatever block it lies."""
    made = draw(generator, block=1)
    shape = parse({"generator": generator, **SIZES[generator]}, "here").model_dump()
    rng = stream(7, "tokens", shape, BLOCK + 3)
    alone = GENERATORS[generator](rng, **SIZES[generator])
    for name, one in (alone if isinstance(alone, dict) else {"x": alone}).items():
        assert np.array_equal(made[name].sel(replicate=BLOCK + 3), one)


@pytest.mark.parametrize("generator", [name for name in DRAWN if states(name)])
def test_what_is_stated_lies_beside_the_tokens(generator):
    made = draw(generator)
    assert set(made.data_vars) == {"x", *states(generator)}
    assert made["logits"].dims == ("replicate", "query", "key")
    assert made["query"].values.tolist() == made["key"].values.tolist() == list(range(8))


@pytest.mark.parametrize("generator", [name for name in DRAWN if states(name)])
def test_attention_follows_what_is_stated(generator, shared_laboratory):
    """Scaled by beta, and nothing is drawn beside it."""
    section = {
        "data": {"generator": generator, **SIZES[generator]},
        "attention": {"beta": 2.0, "depth": 1},
        "spectra": ["slem"],
        "replicates": 2,
    }
    logits = shared_laboratory.first("data", section)["logits"].values
    made = shared_laboratory.first("attention", section)
    assert np.array_equal(made["attention"].values, softmax(scaled(logits, 2.0)))
    assert "w_q" not in made


# What is particular.


def test_a_default_that_is_written_out_draws_the_same_bits():
    written = draw("two_levels", contrast=0.5)
    xr.testing.assert_identical(written, draw("two_levels"))


def test_a_parameter_that_shapes_a_draw_changes_it():
    means = [draw("two_levels", contrast=c)["x"].values.mean(axis=1) for c in (0.5, 0.25)]
    assert not np.array_equal(*means)


def test_what_is_certain_is_one_replicate_with_its_labels(shared_laboratory):
    """And a trajectory hands the labels on."""
    section = {
        "data": {"generator": "dense_ring", "n_tokens": 8, "modulation": 0.25},
        "attention": {"beta": 2.0, "depth": 1},
        "spectra": ["slem"],
    }
    made = shared_laboratory.first("data", section)
    direct = GENERATORS["dense_ring"](n_tokens=8, modulation=0.25)
    assert dict(made.sizes) == {"replicate": 1, "token": 8, "feature": 2}
    assert np.array_equal(made["x"].values, direct["x"])
    later = shared_laboratory.first("attention", section)
    for each in (made, later):
        assert np.array_equal(each.coords["log_density_slope"], direct["log_density_slope"])


def observe(content: bytes | None, **params) -> xr.Dataset:
    asked = {"generator": "series", "path": "nile.csv", "key": "year", "value": "flow", **params}
    return data({"stage": "data", "params": {**asked, "sha256": "0" * 64}}, content)


def test_a_table_is_taken_as_it_is():
    made = observe(NILE.read_bytes())
    lines = [line for line in NILE.read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    assert made["key_position"].dims == ("key", "feature")
    assert made["key_position"].values[:, 0].tolist() == [float(row["year"]) for row in rows]
    assert made["value"].values.tolist() == [float(row["flow"]) for row in rows]
    assert made.sizes == {"key": 100, "feature": 1}


def test_a_picture_is_labelled_with_the_places_of_its_patches():
    asked = {"generator": "image", "path": "camera.png", "patch": 4, "sha256": "0" * 64}
    made = data({"stage": "data", "params": asked}, CAMERA.read_bytes())
    assert made["x"].dims == ("replicate", "token", "feature")
    assert dict(made.sizes) == {"replicate": 1, "token": 32 * 32, "feature": 16}
    assert {name: made[name].dims for name in ("row", "column", "patch_row", "patch_column")} == {
        "row": ("token",),
        "column": ("token",),
        "patch_row": ("feature",),
        "patch_column": ("feature",),
    }
    token = made.isel(replicate=0, token=37)
    levels = np.asarray(Image.open(CAMERA), dtype=float) / 255
    for feature in range(16):
        pixel = token.isel(feature=feature)
        place = (int(pixel.row + pixel.patch_row), int(pixel.column + pixel.patch_column))
        assert float(pixel["x"]) == levels[place]


# Refusals.


def test_a_generator_that_reads_needs_the_content_of_its_file():
    with pytest.raises(Refusal, match=r"^nile\.csv: its content was not handed to the stage"):
        observe(None)


@pytest.mark.parametrize(
    ("text", "params", "message"),
    [
        ("year,flow\n1,2\n2,3\n3,4\n", {"value": "flwo"}, "no column is called 'flwo'; did you"),
        ("year,flow\n1,2\n2,nan\n3,4\n", {}, r"column 'flow' holds nan in data row 2"),
        ("year,flow\n1,2\n2,inf\n3,4\n", {}, r"column 'flow' holds inf in data row 2"),
        ("year,flow\n1,2\n2,3\n", {}, "there are 2 rows; leaving one out must leave two"),
        ("year,flow\n1,2\n3,3\n2,4\n", {}, "positions must increase strictly"),
        ("", {}, "there is no data line below a header"),
    ],
)
def test_a_table_that_cannot_be_smoothed_is_refused(text, params, message):
    with pytest.raises(Refusal, match=rf"nile\.csv: .*{message}"):
        observe(text.encode(), **params)


def test_an_odd_number_of_tokens_has_no_two_halves():
    with pytest.raises(Refusal, match="two_levels got n_tokens = 7"):
        draw("two_levels", n_tokens=7)


def test_an_unknown_parameter_is_refused():
    with pytest.raises(Refusal, match="no parameter is called 'd_modle'; did you mean 'd_model'"):
        draw("gaussian", d_modle=3)
