"""Canonical text, keys, and records that can be read back from any kind of file."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from lowpass.figures.palette import PAPER
from lowpass.figures.saving import encode
from lowpass.figures.style import canvas, look
from lowpass.plan.complete import complete
from lowpass.plan.roots import CARRIED
from lowpass.records import (
    BLANK,
    INLINE_PARENTS,
    KEY_LENGTH,
    NAME,
    SCHEMA,
    NewerRecord,
    canonical,
    embedded,
    key_of,
    merkle,
    pixel_digest,
    record_of,
    seal,
    sha256,
    text_digest,
)
from lowpass.registry import Refusal
from lowpass.whole import whole_plan

ROOT = Path(__file__).parents[1]
LIMIT = 8000  # bytes of a compact record
RECIPE = {
    "stage": "attention",
    "params": {"kernel": "sinkhorn", "beta": 3.0, "depth": 4},
    "seed": 7,
    "block": 0,
}
PARENTS = [
    {"path": "results/data/a~00000000000a.nc", "key": "00000000000a", "digest": "a" * 64},
    {"path": "results/data/b~00000000000b.nc", "key": "00000000000b", "digest": "b" * 64},
]


def record(parents=PARENTS, **more):
    """Compose some record, with text that every format would have to escape."""
    made = record_of(RECIPE, {"why": '|λ₂|ᵗ < 1 & "so" on\'s'}, parents, "c" * 16, {"numpy": "2"})
    return {**made, **more}


# Canonical text.


def test_equal_data_have_one_text():
    assert canonical({"b": [1, 2.5], "a": None}) == canonical({"a": None, "b": [1, 2.5]})
    assert canonical({"b": [1, 2.5], "a": "λ"}) == '{"a":"λ","b":[1,2.5]}'


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (1, "1"), (True, 1), (None, "null"), ([1, 2], [2, 1]), ({"a": []}, {"a": {}})],
)
def test_different_data_have_different_texts(one, other):
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("number", [1e-3, 0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0])
def test_a_float_comes_back_bit_by_bit(number):
    back = json.loads(canonical(number))
    assert np.float64(back).tobytes() == np.float64(number).tobytes()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_json_cannot_write_is_refused(number):
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        canonical({"beta": number})


# Keys.

OTHER_RECIPES = {
    "stage": {**RECIPE, "stage": "spectra"},
    "seed": {**RECIPE, "seed": 8},
    "block": {**RECIPE, "block": 1},
    "no block": {name: value for name, value in RECIPE.items() if name != "block"},
    "value": {**RECIPE, "params": {**RECIPE["params"], "beta": 3.0000000000000004}},
    "type of a value": {**RECIPE, "params": {**RECIPE["params"], "depth": 4.0}},
    "name": {**RECIPE, "params": {"kernel": "sinkhorn", "bet": 3.0, "depth": 4}},
    "swapped values": {**RECIPE, "params": {"kernel": "sinkhorn", "beta": 4, "depth": 3.0}},
    "further parameter": {**RECIPE, "params": {**RECIPE["params"], "mask": "block"}},
    "missing parameter": {**RECIPE, "params": {"kernel": "sinkhorn", "beta": 3.0}},
}


@pytest.mark.parametrize("part", OTHER_RECIPES)
def test_every_part_of_a_recipe_shapes_the_key(part):
    assert key_of(RECIPE, ["a"]) != key_of(OTHER_RECIPES[part], ["a"])


def test_the_order_of_parameters_does_not_shape_the_key():
    turned = {
        name: dict(reversed(value.items())) if name == "params" else value
        for name, value in reversed(RECIPE.items())
    }
    assert list(turned) != list(RECIPE)
    assert key_of(turned, ["a"]) == key_of(RECIPE, ["a"])


def test_parents_and_their_order_shape_the_key():
    """Whoever lets the order be free, as an experiment does, sorts the keys first."""
    several = [[], ["a"], ["b"], ["a", "b"], ["b", "a"], ["ab"], ["a", "b", "b"]]
    assert len({key_of(RECIPE, parents) for parents in several}) == len(several)


def test_a_key_is_the_beginning_of_a_digest():
    said = '{"parents":["a"],"recipe":' + canonical(RECIPE) + "}"
    assert key_of(RECIPE, ["a"]) == sha256(said)[:KEY_LENGTH]


def test_a_list_of_parents_has_one_digest():
    turned = [dict(reversed(parent.items())) for parent in PARENTS]
    assert merkle(turned) == merkle(PARENTS)
    assert merkle(PARENTS[::-1]) != merkle(PARENTS) != merkle(PARENTS[:1])


@pytest.mark.parametrize("part", PARENTS[0])
def test_every_part_of_a_parent_shapes_the_digest_of_the_list(part):
    assert merkle([{**PARENTS[0], part: "0"}, PARENTS[1]]) != merkle(PARENTS)


# Records.


def test_a_record_bears_the_key_of_its_recipe_and_parents():
    assert record()["key"] == key_of(RECIPE, ["00000000000a", "00000000000b"])


def test_more_parents_than_fit_are_counted_and_digested():
    few, many = PARENTS[:1] * INLINE_PARENTS, PARENTS[:1] * (INLINE_PARENTS + 1)
    assert record(few)["parents"] == few
    assert record(many)["parents"] == {"count": len(many), "merkle": merkle(many)}


def test_no_record_of_the_paper_is_large():
    """Beside the sections that a product carries so that it answers alone when it is mailed."""
    plan = whole_plan(ROOT / "config/paper.yaml", "config/paper.yaml", ROOT)
    versions = {name: "10.10.10" for name in ("python", "numpy", "scipy", "xarray", "netCDF4")}
    for point in plan:
        parents = [
            {"path": parent.path, "key": parent.key, "digest": "d" * 64} for parent in point.parents
        ]
        carried = CARRIED.get(point.stage, set())
        own = {name: value for name, value in point.recipe["params"].items() if name not in carried}
        recipe = {**point.recipe, "params": own}
        made = record_of(recipe, complete(recipe), parents, "c" * 16, versions)
        assert len(canonical({**made, "digest": BLANK}).encode()) < LIMIT, point.path


# Digests of text and pixels.


def as_json(held) -> bytes:
    return json.dumps({NAME: held, "A01": {"says": "λ"}}, indent=1, ensure_ascii=False).encode()


@pytest.fixture(scope="module")
def figure():
    with look(PAPER):
        figure, (ax,) = canvas("column", 1.5, PAPER)
        ax.plot([0, 1], [1, 0])
    return figure


@pytest.fixture(scope="module")
def written(figure, tmp_path_factory):
    """Write one record into a file of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    held = record(digest=BLANK)
    contents = {
        ".json": seal(as_json(held).decode()),
        ".svg": seal(encode(figure, "svg", PAPER, canonical(held)).decode()),
        ".png": encode(figure, "png", PAPER, canonical(held)),
        ".pdf": encode(figure, "pdf", PAPER, canonical(record())),
    }
    for suffix, content in contents.items():
        (folder / f"some{suffix}").write_bytes(content)
    return folder


KINDS = [".json", ".svg", ".png", ".pdf"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_comes_back_as_it_was_embedded(kind, written):
    back = embedded(written / f"some{kind}")
    assert {name: value for name, value in back.items() if name != "digest"} == record()


@pytest.mark.parametrize("kind", [".json", ".svg"])
def test_a_sealed_text_states_its_own_digest(kind, written):
    text = (written / f"some{kind}").read_bytes().decode()
    stated = embedded(written / f"some{kind}")["digest"]
    assert text_digest(text, stated) == stated
    assert stated == sha256(text.replace(stated, BLANK))


def is_whole(path: Path) -> bool:
    """Say whether a text states its own digest."""
    try:
        stated = embedded(path)["digest"]
    except Refusal:
        return False
    return text_digest(path.read_bytes().decode(), stated) == stated


@pytest.mark.parametrize("kind", [".json", ".svg"])
def test_any_edit_of_a_sealed_text_is_noticed(kind, written, rng, tmp_path):
    whole = (written / f"some{kind}").read_bytes().decode()
    digest = whole.index(embedded(written / f"some{kind}")["digest"])
    edited = tmp_path / f"edited{kind}"
    for place in [*rng.integers(0, len(whole), 50), digest, digest + 63]:
        other = "x" if whole[place] != "x" else "y"
        for middle in (other, "", " " + whole[place]):
            edited.write_bytes((whole[:place] + middle + whole[place + 1 :]).encode())
            assert not is_whole(edited)
    edited.write_bytes(whole.encode())
    assert is_whole(edited)


def png(pixels: np.ndarray, **options) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format="png", **options)
    return stream.getvalue()


def test_pixels_are_digested_however_they_are_packed(rng):
    pixels = rng.integers(0, 256, (5, 7, 3), dtype=np.uint8)
    note = PngImagePlugin.PngInfo()
    note.add_text("lowpass", "a record")
    opaque = np.concatenate([pixels, np.full((5, 7, 1), 255, dtype=np.uint8)], axis=-1)
    forms = [png(pixels), png(pixels, compress_level=0), png(pixels, pnginfo=note), png(opaque)]
    assert len(set(forms)) == len(forms)
    assert len({pixel_digest(form) for form in forms}) == 1


@pytest.mark.parametrize("channel", range(4))
def test_one_level_of_one_pixel_is_noticed(channel, rng):
    pixels = rng.integers(1, 256, (5, 7, 4), dtype=np.uint8)
    edited = pixels.copy()
    edited[4, 6, channel] -= 1
    assert pixel_digest(png(edited)) != pixel_digest(png(pixels))


def test_the_shape_of_an_image_is_part_of_it():
    assert pixel_digest(png(np.zeros((2, 8, 3), np.uint8))) != pixel_digest(
        png(np.zeros((4, 4, 3), np.uint8))
    )


# Refusals.


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_not_there_is_named(kind, tmp_path):
    with pytest.raises(Refusal, match=rf"some\{kind}: there is no such file; check the path"):
        embedded(tmp_path / f"some{kind}")


def test_a_kind_of_file_without_records_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"files ending in '\.gif' carry no record; trace one that"):
        embedded(tmp_path / "some.gif")


@pytest.fixture(scope="module")
def foreign(figure, tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    for form in ("svg", "png", "pdf"):
        (folder / f"some.{form}").write_bytes(encode(figure, form, PAPER))
    (folder / "some.json").write_text("{}")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_product_of_another_program_carries_no_record(kind, foreign):
    with pytest.raises(Refusal, match=r"carries no record of lowpass .*; it was overwritten, or"):
        embedded(foreign / f"some{kind}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1, 2"])
def test_a_damaged_product_carries_no_record(kind, content, tmp_path):
    (tmp_path / f"some{kind}").write_bytes(content)
    with pytest.raises(Refusal, match="carries no record of lowpass"):
        embedded(tmp_path / f"some{kind}")


def without(name):
    held = record(digest=BLANK)
    del held[name]
    return held


@pytest.mark.parametrize(
    "held",
    [
        *(without(name) for name in ("key", "recipe", "parameters", "parents", "digest")),
        record(digest=7),
        record(digest=BLANK, recipe={"stage": "data"}),
        record(digest=BLANK, recipe=None),
        {**record(digest=BLANK), "parents": [{"path": "a"}]},
        {**record(digest=BLANK), "parents": {"count": 17, "merkle": BLANK}},
        {**record(digest=BLANK), "parents": 3},
        [],
        "a text",
    ],
)
def test_a_record_that_lacks_a_part_is_none(held, tmp_path):
    (tmp_path / "some.json").write_bytes(as_json(held))
    with pytest.raises(Refusal, match="carries no record of lowpass"):
        embedded(tmp_path / "some.json")


@pytest.mark.parametrize("schema", [0, -1, "1", 1.0, True, [1], None])
def test_a_schema_is_a_whole_number(schema, tmp_path):
    (tmp_path / "some.json").write_bytes(as_json(record(digest=BLANK, schema=schema)))
    stated = "states no schema" if schema is None else rf"has the schema {re.escape(repr(schema))}"
    with pytest.raises(
        Refusal,
        match=rf"some\.json: carries no record of lowpass \(it {stated}, where a whole number from "
        r"1 on belongs\), so it cannot be traced; it was overwritten, or made by something else\.$",
    ) as caught:
        embedded(tmp_path / "some.json")
    assert caught.type is Refusal


def test_a_record_without_a_schema_is_none(tmp_path):
    (tmp_path / "some.json").write_bytes(as_json(without("schema")))
    with pytest.raises(Refusal, match=r"carries no record of lowpass \(it states no schema, where"):
        embedded(tmp_path / "some.json")


@pytest.mark.parametrize("held", [record(digest=BLANK), {}], ids=["whole", "of another form"])
def test_a_record_of_a_later_schema_is_refused_before_it_is_misread(held, tmp_path):
    (tmp_path / "some.json").write_bytes(as_json({**held, "schema": SCHEMA + 1}))
    with pytest.raises(
        NewerRecord,
        match=rf"^{tmp_path}/some\.json: its record has the schema {SCHEMA + 1} and this code "
        rf"knows none above {SCHEMA}, so it would be misread; a later version of lowpass wrote it"
        r"\. Update lowpass, or delete the file and run again\.$",
    ):
        embedded(tmp_path / "some.json")
