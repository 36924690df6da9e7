"""One way to the record and the digest of a product, whatever kind of file it is."""

from __future__ import annotations

import json
from pathlib import Path

import netCDF4
import pytest
import xarray as xr

from lowpass import store
from lowpass.figures.palette import PAPER
from lowpass.figures.saving import encode
from lowpass.figures.style import canvas, look
from lowpass.provenance import digest_of, history, mismatch, parent_of, record_in
from lowpass.records import (
    BLANK,
    INLINE_PARENTS,
    NAME,
    SCHEMA,
    NewerRecord,
    canonical,
    image_digest,
    record_of,
    seal,
)
from lowpass.registry import Refusal

KINDS = ["nc", "json", "svg", "png", "pdf"]
RECIPE = {"stage": "figures", "params": {"figure": "some"}}
PARENT = {"path": "results/data/a~00000000000a.nc", "key": "00000000000a", "digest": "a" * 64}
RECORD = record_of(RECIPE, RECIPE["params"], [PARENT], "c" * 16, {"numpy": "2"})


def drawn(form, held=None, end=0.0):
    with look(PAPER):
        figure, (ax,) = canvas("column", 1.5, PAPER)
        ax.plot([0, 1], [1, end])
    return encode(figure, form, PAPER, held)


def written(folder, record):
    """Write a product of each kind."""
    blank = {**record, "digest": BLANK}
    store.write(folder / "some.nc", xr.Dataset({"bandwidth_selected": 4.5}), record, [PARENT])
    (folder / "some.json").write_bytes(seal(json.dumps({NAME: blank, "A01": 1.5})))
    (folder / "some.svg").write_bytes(seal(drawn("svg", canonical(blank)).decode()))
    mark = image_digest(drawn("png"), record)
    (folder / "some.png").write_bytes(drawn("png", canonical({**record, "digest": mark})))
    (folder / "some.pdf").write_bytes(drawn("pdf", canonical(record)))
    return folder


@pytest.fixture(scope="module")
def products(tmp_path_factory):
    return written(tmp_path_factory.mktemp("products"), RECORD)


@pytest.fixture(scope="module")
def later(tmp_path_factory):
    """Write products as a later version would, each whole by itself."""
    return written(tmp_path_factory.mktemp("later"), {**RECORD, "schema": SCHEMA + 1})


@pytest.fixture(scope="module")
def nameless(tmp_path_factory):
    """Write products whose records state no schema, each whole by itself."""
    record = {name: value for name, value in RECORD.items() if name != "schema"}
    return written(tmp_path_factory.mktemp("nameless"), record)


@pytest.mark.parametrize("kind", KINDS)
def test_a_product_tells_its_record_and_parents(kind, products):
    record, parents = record_in(products / f"some.{kind}")
    record.pop("digest", None)
    assert record == RECORD
    assert parents == [PARENT]


@pytest.mark.parametrize("kind", KINDS)
def test_a_product_states_the_digest_of_its_content(kind, products):
    """A PDF states none; that of the file serves its children."""
    path = products / f"some.{kind}"
    record, _ = record_in(path)
    assert digest_of(path, record) == record.get("digest", digest_of(path, record))
    assert ("digest" in record) == (kind != "pdf")


@pytest.mark.parametrize("kind", KINDS)
def test_a_parent_is_described_by_path_key_and_digest(kind, products, monkeypatch):
    monkeypatch.chdir(products)
    record, _ = record_in(products / f"some.{kind}")
    assert parent_of(f"some.{kind}") == {
        "path": f"some.{kind}",
        "key": RECORD["key"],
        "digest": digest_of(products / f"some.{kind}", record),
    }


def test_many_parents_are_told_from_their_table(tmp_path):
    parents = [PARENT] * (INLINE_PARENTS + 1)
    record = record_of(RECIPE, {}, parents, "c" * 16, {})
    store.write(tmp_path / "some.nc", xr.Dataset({"bandwidth_selected": 1.0}), record, parents)
    assert record_in(tmp_path / "some.nc")[1] == parents


# What an edit does to a parent.


def edit_nc(path):
    with netCDF4.Dataset(path, "a") as file:
        file["bandwidth_selected"][...] = 5.0


EDITS = {
    "nc": edit_nc,
    "json": lambda path: path.write_text(path.read_text().replace("1.5", "1.6")),
    "svg": lambda path: path.write_text(path.read_text().replace("#", "##", 1)),
    "png": lambda path: path.write_bytes(
        drawn("png", canonical(record_in(path)[0]), end=0.5),
    ),
}


@pytest.fixture
def copied(products, tmp_path):
    def copy(kind):
        path = tmp_path / f"some.{kind}"
        path.write_bytes((products / path.name).read_bytes())
        return path

    return copy


@pytest.mark.parametrize("kind", EDITS)
def test_an_edited_parent_is_refused(kind, copied):
    path = copied(kind)
    EDITS[kind](path)
    with pytest.raises(Refusal, match="content differs from its own record; it was edited after"):
        parent_of(str(path))


def test_an_edited_pdf_has_another_digest(copied):
    path = copied("pdf")
    before = parent_of(str(path))
    path.write_bytes(path.read_bytes() + b"\n")
    assert parent_of(str(path))["digest"] != before["digest"]


@pytest.mark.parametrize("kind", ["nc", "png"])
def test_a_parent_whose_end_is_lost_is_refused(kind, copied):
    path = copied(kind)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - len(content) // 3])
    with pytest.raises(Refusal, match=r"cannot be decoded|carries no record"):
        parent_of(str(path))


@pytest.mark.parametrize("kind", KINDS)
def test_a_parent_that_is_not_there_is_named(kind, tmp_path):
    with pytest.raises(Refusal, match=rf"some\.{kind}: there is no such file; check the path"):
        parent_of(str(tmp_path / f"some.{kind}"))


@pytest.mark.parametrize("read", [parent_of, lambda path: record_in(Path(path))])
@pytest.mark.parametrize("kind", KINDS)
def test_a_product_of_later_code_is_refused_wherever_it_is_read(kind, read, later):
    with pytest.raises(
        NewerRecord,
        match=rf"^{later}/some\.{kind}: its record has the schema {SCHEMA + 1} and this code knows "
        rf"none above {SCHEMA}, .* Update lowpass, or delete the file and run again\.$",
    ):
        read(str(later / f"some.{kind}"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_product_whose_record_states_no_schema_carries_none(kind, nameless):
    with pytest.raises(
        Refusal, match=r"carries no record of lowpass \(it states no schema, .*overwritten, or made"
    ):
        parent_of(str(nameless / f"some.{kind}"))


# What lies on the way to a product.


def chain(folder: Path, *names: str) -> None:
    """Write products, each made from the one before."""
    parents: list[dict[str, str]] = []
    for name in names:
        record = record_of(RECIPE, {}, parents, "c" * 16, {"numpy": "2"})
        store.write(folder / name, xr.Dataset({"bandwidth_selected": 4.5}), record, parents)
        parents = [{"path": name, "key": record["key"], "digest": store.digest(folder / name)}]


def test_a_history_holds_the_records_on_the_way_the_own_one_first(tmp_path):
    chain(tmp_path, "a.nc", "b.nc", "c.nc")
    known = history("c.nc", tmp_path)
    assert list(known) == ["c.nc", "b.nc", "a.nc"]
    assert known["b.nc"] == record_in(tmp_path / "b.nc")
    assert mismatch(known) == ""


def test_what_is_no_longer_there_is_left_out_of_a_history(tmp_path):
    chain(tmp_path, "a.nc", "b.nc", "c.nc")
    (tmp_path / "b.nc").unlink()
    assert list(history("c.nc", tmp_path)) == ["c.nc"]
    with pytest.raises(Refusal, match=r"b\.nc: there is no such file"):
        history("b.nc", tmp_path)


def test_what_was_made_anew_does_not_match_what_was_made_from_it(tmp_path):
    chain(tmp_path, "a.nc", "b.nc", "c.nc")
    record = record_of(RECIPE, {}, [], "d" * 16, {"numpy": "2"})
    store.write(tmp_path / "a.nc", xr.Dataset({"bandwidth_selected": 5.0}), record)
    assert mismatch(history("c.nc", tmp_path)) == "b.nc was not made from a.nc as it now is"
