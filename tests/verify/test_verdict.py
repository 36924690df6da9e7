"""Real products beside what is expected of them, spoilt in every way that has a name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import netCDF4
import pytest

from lowpass import __main__ as command_line
from lowpass import project
from lowpass.fingerprint import Code
from lowpass.plan.complete import complete
from lowpass.plan.roots import names_of, roots_of
from lowpass.registry import Refusal
from lowpass.verify import expected
from lowpass.verify.accepting import accept, forget
from lowpass.verify.answers import LISTED, as_text
from lowpass.verify.product import Product
from lowpass.verify.verdict import LEVELS, Answer, level_of, verify

from ..results_tree import CONFIG, EXPERIMENTS, Tree, edit_value, forge

BY = "take over the results that are there with --accept."
AGAIN = "run the workflow, as 'make paper' does."


def current(record) -> str:
    """Take every record for one of the code that is here."""
    return ""


@pytest.fixture(scope="module")
def whole(grown, tmp_path_factory) -> Tree:
    """Accept a copy of the project; never change it."""
    tree = grown.copy_all(tmp_path_factory.mktemp("accepted"))
    accept(products(tree), folder(tree), current)
    return tree


@pytest.fixture
def tree(whole, tmp_path) -> Tree:
    """Copy its results and what is expected of them, to be spoilt."""
    copied = whole.copy(tmp_path)
    shutil.copytree(folder(whole), folder(copied))
    return copied


def folder(tree: Tree) -> Path:
    return expected.folder_of(tree.root / CONFIG)


def products(tree: Tree) -> dict[str, Product]:
    """Look at every product of a plan that something is expected of."""
    points = {**tree.plan.experiments, "claims": tree.of("claims")}
    return {name: Product(point, tree.root) for name, point in points.items()}


def answer(tree: Tree, name: str = "dc-limit", judge=current) -> Answer:
    return verify(name, products(tree)[name], folder(tree) / f"{name}.json", judge)


def rewrite(tree: Tree, change, name: str = "dc-limit") -> None:
    """Change what is expected, and seal it."""
    file = folder(tree) / f"{name}.json"
    content = expected.read(file, file.name)
    change(content)
    del content["seal"], content["schema"]
    expected.write({file: content})


def store_value(path: Path, name: str, place: tuple, factor: float) -> None:
    """Multiply one stored value, and let the file vouch for it."""
    with netCDF4.Dataset(path, "a") as file:
        values = file[name][...]
        values[place] = values[place] * factor
        file[name][...] = values
    forge(path, lambda record: None, seal_again=True)


def relabel(path: Path) -> None:
    """Let a record state another fingerprint of the code, and the file vouch for it."""
    forge(path, lambda record: record.update(code="f" * 16), seal_again=True)


# Levels.


@pytest.mark.parametrize("name", [*EXPERIMENTS, "claims"])
def test_what_was_accepted_agrees_byte_for_byte(name, whole):
    assert answer(whole, name) == Answer(name, "file")


def test_the_same_content_in_another_file_agrees_by_its_digest(tree):
    path = tree.file("experiment", "dc-limit")
    with path.open("ab") as file:
        file.write(b"\0")
    assert answer(tree) == Answer("dc-limit", "digest")


@pytest.mark.parametrize("name", ["dc-limit", "claims"])
def test_the_same_values_of_other_code_agree_to_the_last_bit(name, tree):
    relabel(tree.root / products(tree)[name].point.path)
    found = answer(tree, name)
    assert (found.level, found.differences) == ("values", [])
    stage = "claims" if name == "claims" else "experiment"
    assert found.why == f"bytes differ: made by other code of {stage}"


def test_values_that_differ_in_the_last_bit_agree_by_their_numbers(tree):
    store_value(tree.file("experiment", "dc-limit"), "slem", (0, 3), 1 + 2**-50)
    found = answer(tree)
    assert (found.level, found.differences) == ("numbers", [])
    assert found.why == (
        "bytes differ: made by the same code and libraries on another machine, "
        "or with another BLAS kernel"
    )


def test_a_value_beyond_its_tolerance_is_named_with_both_values(tree):
    path = tree.file("experiment", "dc-limit")
    before = products(tree)["dc-limit"].content["slem"].values[1]
    place = (1, int(before.argmax()))
    store_value(path, "slem", place, 1 + 1e-6)
    found = answer(tree)
    assert found.level == ""
    (difference,) = found.differences
    assert (difference.variable, difference.place) == ("slem", "beta 3")
    assert difference.statistic == "highest"
    assert difference.expected == pytest.approx(before.max(), rel=1e-11)
    assert difference.found == before.max() * (1 + 1e-6)
    assert difference.tolerance == pytest.approx(1e-8 * before.max(), rel=1e-3)


def test_a_verdict_that_changed_is_named(tree):
    path = tree.file("claims")
    path.write_text(path.read_text().replace("holds", "refuted"))
    forge(path, lambda record: None, seal_again=True)
    found = answer(tree, "claims")
    assert [each.told for each in found.differences] == ["A01: verdict is refuted and not holds"]


def test_other_libraries_are_named_before_other_code(tree):
    rewrite(tree, lambda content: content.update(sha256="", digest="", values="", code={}))
    assert answer(tree).why.startswith("bytes differ: made by other code of attention, data, exp")
    rewrite(tree, lambda content: content["versions"].update(numpy="1.0", extra="3"))
    numpy = products(tree)["dc-limit"].record["versions"]["numpy"]
    assert answer(tree).why == (
        f"bytes differ: made by other library versions, numpy {numpy} for 1.0, extra None for 3"
    )


# What cannot be compared.


def asked(tree: Tree, change) -> str:
    def other(content):
        content["key"] = "0" * 12
        change(content["recipe"])

    rewrite(tree, other)
    found = answer(tree)
    assert found.level == ""
    return found.why


def test_other_parameters_are_named(tree):
    def change(recipe):
        recipe["params"]["section"]["attention"]["beta"] = [2.0]
        recipe["params"]["section"]["data"]["twist"] = 1
        recipe["seed"] = 5

    assert asked(tree, change) == (
        "nothing to compare, since the configuration asks other parameters than are expected: "
        "attention.beta is [1.0, 3.0] and not [2.0], seed is 7 and not 5, data.twist is nothing "
        f"and not 1; {BY}"
    )


def test_of_many_other_parameters_some_are_named(tree):
    def change(recipe):
        recipe["params"]["section"]["data"] |= {f"twist_{i}": "x" * 90 for i in range(9)}

    said = asked(tree, change)
    assert f"data.twist_3 is nothing and not {'x' * 57}..., and 5 more; " in said


def test_another_data_file_is_told(tree):
    assert "the recipe is the same, but a file that it reads has changed; " in asked(
        tree, lambda recipe: None
    )


def test_a_missing_result_says_what_to_run(tree):
    path = tree.file("experiment", "dc-limit")
    path.unlink()
    assert answer(tree).why == f"there is no {path.relative_to(tree.root)}; {AGAIN}"


def test_a_missing_intermediate_is_no_harm(tree):
    tree.file("attention", "softmax_beta-3").unlink()
    assert answer(tree).level == "file"


def test_an_edited_result_is_refused(tree):
    path = tree.file("experiment", "dc-limit")
    edit_value(path)
    assert answer(tree).why == (
        f"{path.relative_to(tree.root)} differs from its own record, so it was edited after it "
        f"was written; delete it, then {AGAIN}"
    )


def test_a_result_of_older_code_is_out_of_date(tree):
    def judge(record):
        return "it is old" if record["recipe"]["stage"] == "attention" else ""

    found = answer(tree, judge=judge)
    path = found.why.split(" ")[0]
    assert path.startswith("results/attention/softmax_beta-")
    assert found.why == f"{path} is out of date (it is old); {AGAIN}"


def test_a_result_that_was_made_from_something_else_is_out_of_date(tree):
    path = tree.file("spectra", "softmax_beta-3")
    relabel(path)
    child, parent = (each.relative_to(tree.root) for each in (tree.file("experiment"), path))
    assert answer(tree).why == f"{child} was not made from {parent} as it now is; {AGAIN}"


def test_a_record_of_a_later_schema_is_refused(tree):
    path = tree.file("experiment", "dc-limit")
    forge(path, lambda record: record.update(schema=2), seal_again=False)
    assert "its record has the schema 2 and this code knows none above 1" in answer(tree).why


def test_what_nothing_is_expected_of_is_named(tree):
    (folder(tree) / "dc-limit.json").unlink()
    assert answer(tree).why == f"nothing is expected, since there is no dc-limit.json; {BY}"


# Accepting.


def test_what_is_accepted_agrees_byte_for_byte_and_what_changed_is_said(tree):
    path = tree.file("experiment", "dc-limit")
    before = products(tree)["dc-limit"].content["slem"].values[1]
    store_value(path, "slem", (1, int(before.argmax())), 1 + 1e-6)
    count = answer(tree).count
    said = accept({"dc-limit": products(tree)["dc-limit"]}, folder(tree), current)
    assert said == [
        f"dc-limit: 1 of {count} numbers changed by more than their tolerance",
        f"  slem at beta 3: highest: {before.max():.12g} -> {before.max() * (1 + 1e-6):.12g}",
    ]
    assert answer(tree) == Answer("dc-limit", "file")
    assert answer(tree, "nile") == Answer("nile", "file")


def test_accepting_again_changes_nothing(tree):
    before = {path: path.read_bytes() for path in folder(tree).iterdir()}
    said = accept(products(tree), folder(tree), current)
    assert said == [f"{name}: nothing changed" for name in products(tree)]
    assert {path: path.read_bytes() for path in folder(tree).iterdir()} == before


def test_what_is_new_or_replaces_something_else_is_said(tree):
    (folder(tree) / "nile.json").unlink()
    (folder(tree) / "many.json").write_text("{}")
    rewrite(tree, lambda content: content.update(key="0" * 12))
    said = accept(products(tree), folder(tree), current)
    counts = {name: answer(tree, name) for name in products(tree)}
    written = json.loads((folder(tree) / "nile.json").read_text())["numbers"]
    first = len([one for places in written.values() for each in places.values() for one in each])
    assert {each.level for each in counts.values()} == {"file"}
    assert [line.partition(": ")[2] for line in said if not line.startswith("claims")] == [
        "other parameters are asked: the recipe is the same, but a file that it reads has changed",
        "20 numbers are expected anew; the file that was there could not be read",
        f"{first} numbers are expected for the first time",
    ]


def test_nothing_is_accepted_where_one_product_is_in_trouble(tree):
    edit_value(tree.file("experiment", "many"))
    before = {path: path.read_bytes() for path in folder(tree).iterdir()}
    store_value(tree.file("experiment", "dc-limit"), "slem", (0, 0), 2.0)
    with pytest.raises(Refusal, match=r"^many: nothing is accepted, since .* was edited after it"):
        accept(products(tree), folder(tree), current)
    assert {path: path.read_bytes() for path in folder(tree).iterdir()} == before


def test_what_is_no_longer_planned_is_forgotten(tree):
    stray = folder(tree) / "old.json"
    stray.write_text("{}")
    assert forget([stray]) == ["old: is no longer planned, and old.json is deleted"]
    assert not stray.exists()


# What is told.


def test_the_level_of_several_is_the_weakest():
    answers = [Answer(str(i), level) for i, level in enumerate(LEVELS)]
    assert [level_of(answers[: i + 1]) for i in range(4)] == list(LEVELS)
    assert level_of([*answers, Answer("x")]) == ""


def test_levels_are_told_in_short(tmp_path):
    answers = [
        Answer("b", "numbers", "why"),
        Answer("a", "file"),
        Answer("d", "numbers", "why"),
        Answer("c", "file"),
        Answer("e", "numbers", "why not"),
    ]
    assert as_text(tmp_path, answers, []).splitlines() == [
        f"expected: {tmp_path}",
        "  file    a, c",
        "  numbers b, d (why)",
        "  numbers e (why not)",
        "level reached: numbers, every named number as expected, within its tolerance",
    ]


def test_trouble_is_told_at_length(tree):
    def change(content):
        content["numbers"]["slem"] = {f"beta {i}": {"value": 1.0} for i in range(LISTED + 5)}
        content.update(sha256="", digest="", values="")

    rewrite(tree, change, "many")
    answers = [answer(tree, "many"), Answer("nile", "file"), Answer("x", why="it is not there.")]
    lines = as_text(folder(tree), answers, [folder(tree) / "old.json"]).splitlines()
    assert lines[1] == "  file    nile"
    assert lines[2].startswith("  none    many: ")
    assert lines[2].partition(": ")[2].startswith(f"{len(answers[0].differences)} of ")
    assert lines[3].startswith("    slem at beta 0: ")
    assert lines[LISTED + 3] == f"    and {len(answers[0].differences) - LISTED} more"
    assert lines[LISTED + 4] == "  none    x: it is not there."
    assert lines[LISTED + 5] == (
        "  none    old: old.json is there and no such experiment is planned; delete it, as "
        "--accept does"
    )
    assert lines[-1] == "level reached: none, since 3 of 4 do not agree"


# The command.


@pytest.fixture
def type_verify(tree, capsys):
    """Type the command for a project's configuration and results."""
    configfile = str(tree.root / CONFIG)
    shutil.copy(tree.source / CONFIG, configfile)

    def typed(*arguments: str) -> tuple[int, list[str], list[str]]:
        where = ["--configfile", configfile, "--directory", str(tree.root)]
        code = command_line.main(["verify", *where, *arguments])
        said = capsys.readouterr()
        return code, said.out.splitlines(), said.err.splitlines()

    return typed


def test_the_command_says_the_level(type_verify, tree):
    code, out, err = type_verify()
    assert (code, err) == (0, [])
    assert out == [
        f"expected: {folder(tree)}",
        "  file    dc-limit, many, nile, claims",
        "level reached: file, byte for byte as expected",
    ]


def test_the_command_compares_what_is_named(type_verify, tree):
    tree.file("experiment", "nile").unlink()
    assert type_verify("dc-limit", "claims")[0] == 0
    code, out, _ = type_verify()
    assert code == 1
    assert out[-1] == "level reached: none, since 1 of 4 do not agree"


def test_the_command_fails_by_what_is_expected_in_vain(type_verify, tree):
    (folder(tree) / "old.json").write_text("{}")
    assert type_verify()[0] == 1
    assert type_verify("nile")[0] == 0
    code, out, _ = type_verify("--accept")
    assert code == 0
    assert out[-1] == "old: is no longer planned, and old.json is deleted"
    assert type_verify()[0] == 0


def test_the_command_looks_at_the_code_that_is_here(type_verify, tree):
    relabel(tree.file("experiment", "nile"))
    code, out, _ = type_verify("nile")
    assert code == 1
    assert "is out of date (" in out[1]


def test_the_command_refuses_a_name_that_is_none(type_verify):
    code, out, err = type_verify("nil")
    assert (code, out) == (1, [])
    assert err == [
        "lowpass: command line: nothing that is expected is called 'nil'; did you mean 'nile'? "
        "Known: dc-limit, many, nile, claims."
    ]


def test_the_command_accepts_nothing_that_is_not_there(type_verify, tree):
    path = tree.file("experiment", "nile")
    path.unlink()
    code, out, err = type_verify("--accept")
    missing = path.relative_to(tree.root)
    assert (code, out) == (1, [])
    assert err == [f"lowpass: nile: nothing is accepted, since there is no {missing}; {AGAIN}"]


# No result depends on a tolerance.


def test_no_stage_reads_an_account_of_rounding(whole):
    code = Code.read(project.ROOT / "src")
    for point in whole.plan:
        names = names_of(point.stage, complete(point.recipe))
        units = code.closure(roots_of(point.recipe).definitions, names).units
        assert len(units) > 1
        assert not [unit for unit in units if "rounding:" in unit or "ROUNDING" in unit]
