"""Every way in which a product can fail to be what its record says, told by its right name."""

from __future__ import annotations

import json
import shutil

import netCDF4
import pytest

from lowpass import __main__ as command_line
from lowpass import project
from lowpass.provenance import record_in
from lowpass.records import SCHEMA, canonical, key_of
from lowpass.registry import Refusal
from lowpass.trace import MANIFEST, OK, Tracer, base_of, find

from .laboratory import SEED
from .results_tree import (
    CONFIG,
    TOKENS,
    contents,
    drawn,
    edit_value,
    forge,
    keeping_times,
)

KINDS = (".svg", ".png", ".pdf", ".night.svg")
NETCDF = ("data", "attention", "spectra", "experiment", "smoothing")
PRODUCTS = [
    *((stage, ".nc") for stage in NETCDF),
    ("claims", ".json"),
    *(("figures", kind) for kind in KINDS),
    ("paper", ".pdf"),
]


@pytest.fixture(scope="module")
def whole(grown):
    """Take the project, which nobody changes."""
    return grown


@pytest.fixture
def tree(whole, tmp_path):
    """Copy its results, to be spoilt."""
    return whole.copy(tmp_path)


def troubles(node) -> dict[str, str]:
    """Give the status of every product in trouble, by its folder."""
    return {each.path.parent.name: each.status for each in node.walk() if each.status != OK}


def why(node, stage: str) -> str:
    """Give the reason of the first product of a stage that is in trouble."""
    return next(e.why for e in node.walk() if e.path.parent.name == stage and e.status != OK)


# What is whole.


def test_every_file_below_results_is_traced_to_its_end(whole):
    assert len(whole.files) > 60
    for path in whole.files:
        assert {each.status for each in whole.trace(path).walk()} == {OK}, path


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_leads_to_parameters_and_seed(kind, whole):
    nodes = list(whole.trace(whole.file("figures", "decay", kind)).walk())
    stages = [node.record["recipe"]["stage"] for node in nodes]
    order = ["figures", "experiment", "spectra", "attention", "data"]
    assert list(dict.fromkeys(stages)) == order
    first = nodes[-1].record
    assert first["parameters"] == TOKENS
    assert first["recipe"]["seed"] == SEED
    runs = [node.record["parameters"] for node in nodes if node.path.parent.name == "attention"]
    assert {run["beta"] for run in runs} == {1.0, 3.0}
    assert {run["kernel"] for run in runs} == {"softmax"}  # A default that nobody wrote.


def test_a_paper_leads_to_every_product_it_shows(whole):
    reached = {node.record["key"] for node in whole.trace(whole.root / "results/paper.pdf").walk()}
    assert reached == whole.planned


def test_a_product_with_many_parents_leads_to_all_of_them(whole):
    node = whole.trace(whole.file("experiment", "many"))
    assert len(node.parents) == 18
    assert {each.record["recipe"]["stage"] for each in node.parents} == {"spectra"}


# What was tampered with.


@pytest.mark.parametrize("stage", NETCDF)
def test_one_value_edited_by_one_step_is_tampered(stage, tree):
    path = tree.file(stage)
    keeping_times(path, edit_value)
    node = tree.trace(path)
    assert troubles(node) == {stage: "tampered"}
    assert "content differs from its own record" in node.why


def test_an_edited_intermediate_is_found_from_the_paper(tree):
    keeping_times(tree.file("spectra", "softmax_beta-3"), edit_value)
    found = troubles(tree.trace(tree.root / "results/paper.pdf"))
    assert found == {"spectra": "tampered", "experiment": "stale parent"}


def alter(record):
    """Alter the first number or text of the parameters, in the recipe alone."""
    holder = record["recipe"]["params"]
    name = next(iter(holder))
    holder[name] = holder[name] + 1 if isinstance(holder[name], int | float) else "other"


@pytest.mark.parametrize("sealed", [True, False], ids=["digest recomputed", "digest left"])
@pytest.mark.parametrize(("stage", "kind"), PRODUCTS)
def test_an_altered_parameter_is_tampered(stage, kind, sealed, tree):
    path = tree.file(stage, suffix=kind)
    keeping_times(path, lambda path: forge(path, alter, seal_again=sealed))
    node = tree.trace(path)
    assert node.status == "tampered"
    assert "the key" in node.why or "content differs" in node.why
    if sealed:
        assert f"but it states {node.record['key']}" in node.why


@pytest.mark.parametrize(("stage", "kind"), PRODUCTS)
def test_an_altered_completion_of_the_parameters_is_tampered(stage, kind, tree):
    """The key is that of the recipe; the parameters beside it are altered alone."""
    path = tree.file(stage, suffix=kind)
    forge(path, lambda record: record["parameters"].update(extra=1), seal_again=True)
    node = tree.trace(path)
    assert (node.status, node.why) == ("tampered", "its parameters are not those of its recipe")


@pytest.mark.parametrize("stage", NETCDF)
@pytest.mark.parametrize("field", ["recipe", "parameters", "parents", "key"])
def test_a_record_that_lacks_a_part_is_tampered(field, stage, tree):
    path = tree.file(stage)
    forge(path, lambda record: record.pop(field), seal_again=False)
    node = tree.trace(path)
    assert node.status == "tampered"
    assert "carries no record of lowpass" in node.why


def reseed(record):
    """Change the seed, and the key with it."""
    record["recipe"]["seed"] += 1
    record["key"] = key_of(record["recipe"], [parent["key"] for parent in record["parents"]])


@pytest.mark.parametrize("stage", ["data", "attention"])
def test_a_consistent_forgery_is_betrayed_by_its_name(stage, tree):
    """Recipe, parents, key and digest agree with each other, but not with the file's name."""
    path = tree.file(stage)
    forge(path, reseed, seal_again=True)
    node = tree.trace(path)
    assert node.status == "tampered"
    assert node.why == f"it bears another product's name; its own key is {node.record['key']}"


def test_a_file_under_another_products_name_is_tampered(tree):
    one, other = (tree.file("attention", f"softmax_beta-{beta}") for beta in (1, 3))
    shutil.copyfile(one, other)
    node = tree.trace(other)
    assert node.status == "tampered"
    assert "it bears another product's name" in node.why


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_overwritten_by_another_of_ours_is_tampered(kind, tree):
    slugs = [point.slug for point in tree.plan if point.stage == "figures"]
    path = tree.file("figures", slugs[0], kind)
    shutil.copyfile(tree.file("figures", slugs[1], kind), path)
    node = tree.trace(path)
    assert node.status == "tampered"
    assert "it bears another product's name" in node.why


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_overwritten_by_a_foreign_one_is_tampered(kind, tree):
    path = tree.file("figures", "decay", kind)
    path.write_bytes(drawn(path.suffix[1:], "foreign"))
    node = tree.trace(path)
    assert node.status == "tampered"
    assert "carries no record of lowpass" in node.why


REDRAWN = {
    ".svg": lambda path: path.write_text(path.read_text().replace("</svg>", "<g/></svg>")),
    ".png": lambda path: path.write_bytes(drawn("png", "other", canonical(record_in(path)[0]))),
    ".pdf": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
}


@pytest.mark.parametrize("kind", REDRAWN)
def test_a_picture_that_was_redrawn_under_its_record_is_tampered(kind, tree):
    path = tree.file("figures", "decay", kind)
    keeping_times(path, REDRAWN[kind])
    node = tree.trace(path)
    assert node.status == "tampered"
    reason = (
        f"its bytes are not those that {MANIFEST} lists" if kind == ".pdf" else "content differs"
    )
    assert reason in node.why


@pytest.mark.parametrize("name", ["paper.pdf", "claims.json"])
def test_a_fixed_name_that_stands_for_something_else_is_tampered(name, tree):
    """Another product of ours, whole in itself, was copied over it."""
    other = {"paper.pdf": ("figures", "", ".pdf"), "claims.json": ("claims", "", ".json")}
    path = tree.root / "results" / name
    shutil.copyfile(tree.file(*other[name]), path)
    if name == "claims.json":
        path.write_bytes(contents(path, unsealed(path), "").replace(b"holds", b"refuted"))
        forge(path, lambda record: None, seal_again=True)
    node = tree.trace(path)
    assert (node.status, node.why) == (
        "tampered",
        f"its bytes are not those that {MANIFEST} lists",
    )


def unsealed(path):
    """Read a record without its digest."""
    record, _ = record_in(path)
    return {name: value for name, value in record.items() if name != "digest"}


def test_a_manifest_names_the_first_file_that_is_not_as_listed(tree):
    manifest = tree.root / MANIFEST
    path = tree.file("figures", "decay", ".png")
    path.write_bytes(drawn("png", "other", canonical(record_in(path)[0])))
    node = tree.trace(manifest)
    assert node.status == "tampered"
    assert node.why == f"{path.relative_to(tree.root)} is not as listed"


def test_a_manifest_names_a_file_that_is_gone(tree):
    path = tree.file("claims")
    path.unlink()
    node = tree.trace(tree.root / MANIFEST)
    assert (node.status, node.why) == (
        "tampered",
        f"{path.relative_to(tree.root)} is listed and missing",
    )


def test_an_edited_manifest_is_tampered(tree):
    manifest = tree.root / MANIFEST
    manifest.write_text(manifest.read_text().replace('": "', '": "0', 3))
    assert "content differs from its own record" in tree.trace(manifest).why


@pytest.mark.parametrize("content", ["", "[]", "{", '{"sha256": 3}'])
def test_a_damaged_manifest_troubles_nothing_but_itself(content, tree):
    (tree.root / MANIFEST).write_text(content)
    assert tree.trace(tree.root / MANIFEST).status == "tampered"
    assert troubles(tree.trace(tree.file("figures", "decay", ".pdf"))) == {}


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
@pytest.mark.parametrize(("stage", "kind"), PRODUCTS)
def test_a_product_whose_end_was_lost_is_tampered(stage, kind, share, tree):
    path = tree.file(stage, suffix=kind)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert tree.trace(path).status == "tampered"


def test_a_row_of_the_table_of_parents_cannot_be_altered(tree):
    path = tree.file("experiment", "many")
    with netCDF4.Dataset(path, "a") as file:
        file["parent_digest"][7] = "0" * 64
    node = tree.trace(path)
    assert node.status == "tampered"
    assert "the table of parents does not belong to the record" in node.why


# What is stale, planned no more, or gone.


def test_a_parent_made_anew_with_other_content_makes_its_child_stale(tree):
    """The parent is whole in itself: only the child knows that it was another."""
    parent = tree.file("attention", "softmax_beta-3")
    edit_value(parent)
    forge(parent, lambda record: None, seal_again=True)
    node = tree.trace(tree.file("figures", "decay", ".svg"))
    assert troubles(node) == {"spectra": "stale parent"}
    assert why(node, "spectra") == f"{parent.relative_to(tree.root)} is not what this was made from"


def test_a_parents_digest_that_was_altered_in_the_record_is_stale(tree):
    path = tree.file("spectra", "softmax_beta-3")
    forge(path, lambda record: record["parents"][0].update(digest="0" * 64), seal_again=True)
    assert tree.trace(path).status == "stale parent"


def test_a_pdf_that_was_edited_makes_the_paper_stale(tree):
    """The figure's own record cannot tell, but the paper's and the manifest can."""
    path = tree.file("figures", "decay", ".pdf")
    path.write_bytes(path.read_bytes() + b"\n")
    found = troubles(tree.trace(tree.file("paper")))
    assert found == {"paper": "stale parent", "figures": "tampered"}
    (tree.root / MANIFEST).unlink()
    again = Tracer(tree.source, tree.planned).trace(tree.file("paper"))
    assert troubles(again) == {"paper": "stale parent"}


@pytest.mark.parametrize("spoil", ["edited", "deleted"])
def test_a_data_file_that_changed_makes_what_was_read_from_it_stale(spoil, whole, tmp_path):
    tree = whole.copy_all(tmp_path)
    resource = tree.root / "workflow/resources/nile.csv"
    if spoil == "edited":
        resource.write_text(resource.read_text().replace("1120", "1121"))
    else:
        resource.unlink()
    node = Tracer(tree.source, whole.planned).trace(tree.root / whole.of("smoothing").path)
    assert troubles(node) == {"data": "stale parent"}
    assert why(node, "data") == "workflow/resources/nile.csv is not what this was made from"


CODE = {
    "a kernel in use": (
        "kernels.py",
        "weight = np.exp(scores - ",
        "weight = np.exp(-",
        "attention",
    ),
    "a kernel out of use": ("balance.py", "HANDOVER = 1e-3", "HANDOVER = 1e-4", ""),
    "a docstring": ("kernels.py", "Exponentiate each row and", "Exponentiate rows and", ""),
    "a generator": ("data.py", "return rng.standard_normal((n", "return -rng.random((n", "data"),
    "a measure in use": (
        "measures/matrices.py",
        "return of_matrices(mixing(trajectory), eigen.slem)",
        "return +of_matrices(mixing(trajectory), eigen.slem)",
        "spectra",
    ),
    "a measure out of use": ("measures/decay.py", "LATER = 2", "LATER = 3", ""),
    "a card": (
        "measures/decay.py",
        "decimal logarithm of the HC/DC ratio",
        "logarithm of the HC/DC ratio",
        "spectra experiment",
    ),
    "the form of a figure": ("figures/saving.py", '"Software": None', "", "figures"),
}


@pytest.mark.parametrize("part", CODE)
def test_edited_code_makes_stale_exactly_what_it_made(part, whole, tmp_path):
    module, old, new, stages = CODE[part]
    tree = whole.copy_all(tmp_path)
    path = tree.root / "src/lowpass" / module
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    node = Tracer(tree.root, whole.planned).trace(tree.file("figures", "decay", ".svg"))
    stale = {*stages.split()} | ({"experiment"} if "spectra" in stages else set())
    assert troubles(node) == dict.fromkeys(stale, "stale code")
    for stage in stale:
        assert ", the code here is " in why(node, stage)


def test_stale_code_names_the_definitions_that_changed(whole, tmp_path):
    tree = whole.copy_all(tmp_path)
    path = tree.root / "src/lowpass/kernels.py"
    path.write_text(path.read_text().replace("weight = np.exp(scores - ", "weight = np.exp(-"))
    product = tree.file("attention", "softmax_beta-3")
    node = Tracer(tree.root, whole.planned).trace(product)
    assert node.why.endswith(": lowpass.kernels.softmax changed")
    shutil.rmtree(tree.root / "results/code")
    node = Tracer(tree.root, whole.planned).trace(product)
    assert node.why.endswith(": the code changed (what it was is not on record)")


def test_another_minor_version_of_python_is_stale_code(tree):
    path = tree.file("data", "gaussian")
    forge(path, lambda record: record["versions"].update(python="3.9.1"), seal_again=True)
    node = tree.trace(path)
    assert node.status == "stale code"
    assert "made with Python 3.9.1, here 3." in node.why


def rename(path, change):
    """Give a netCDF product another recipe, consistently, under the name of its new key."""

    def consistent(record):
        change(record)
        record["key"] = key_of(record["recipe"], [parent["key"] for parent in record["parents"]])

    forge(path, consistent, seal_again=True)
    return path.rename(path.with_name(f"other~{record_in(path)[0]['key']}.nc"))


@pytest.mark.parametrize("gone", ["a kernel", "a stage"])
def test_what_the_code_no_longer_knows_is_stale_code(gone, tree):
    def change(record):
        recipe = record["recipe"]
        if gone == "a kernel":
            recipe["params"]["kernel"] = "sparsemax"
        else:
            recipe["stage"], record["parameters"] = "sharpening", recipe["params"]

    node = tree.trace(rename(tree.file("attention"), change))
    assert node.status == "stale code"
    assert node.why.startswith("the code here cannot make it: ")


def test_what_the_configuration_plans_no_more_is_an_orphan(tree):
    planned = tree.planned - {tree.of("attention", "softmax_beta-3").key}
    node = Tracer(tree.source, planned).trace(tree.file("figures", "decay", ".svg"))
    assert troubles(node) == {"attention": "orphan"}
    assert (
        why(node, "attention")
        == "the configuration plans no product with this key; --configfile names another"
    )


def test_without_a_configuration_nothing_is_an_orphan(tree):
    node = Tracer(tree.source, None).trace(tree.file("figures", "decay", ".svg"))
    assert troubles(node) == {}


def test_a_parent_that_is_gone_is_missing(tree):
    path = tree.file("data", "gaussian")
    path.unlink()
    node = tree.trace(tree.file("figures", "decay", ".svg"))
    assert troubles(node) == {"data": "missing"}
    assert why(node, "data") == "there is no such file; check the path."


# What left the project.


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_by_mail_still_tells_parameters_and_seed(kind, tree, tmp_path, monkeypatch):
    away = tmp_path / "mail"
    away.mkdir()
    copy = shutil.copyfile(tree.file("figures", "decay", kind), away / f"figure{kind}")
    monkeypatch.chdir(away)
    node = tree.trace(copy)
    assert node.status == OK
    assert troubles(node) == {"experiment": "missing"}
    assert node.record["recipe"]["seed"] == SEED
    section = node.record["parameters"]["experiments"]["dc-limit"]
    assert section["data"] == TOKENS
    assert section["attention"] == {"beta": [1.0, 3.0], "depth": 4}


def test_a_mailed_figure_finds_its_parents_from_the_projects_folder(tree, tmp_path, monkeypatch):
    copy = shutil.copyfile(tree.file("figures", "decay", ".png"), tmp_path / "figure.png")
    monkeypatch.chdir(tree.root)
    nodes = list(tree.trace(copy).walk())
    assert {node.status for node in nodes} == {OK}
    assert {node.record["recipe"]["stage"] for node in nodes} >= {"attention", "data"}


def test_recorded_paths_start_where_the_last_folder_called_results_lies(tmp_path, monkeypatch):
    inner = tmp_path / "results" / "project"
    assert base_of(inner / "results" / "figures" / "some.svg") == inner
    assert base_of(inner / "results" / "paper.pdf") == inner
    monkeypatch.chdir(tmp_path)
    assert base_of(tmp_path / "results.svg") == tmp_path


# The command line.


@pytest.fixture
def ask(tree, monkeypatch, capsys):
    """Ask the command line of the project, from its folder."""
    monkeypatch.setattr(project, "ROOT", tree.source)
    monkeypatch.chdir(tree.root)

    def asked(*arguments):
        code = command_line.main(["trace", *map(str, arguments)])
        return code, capsys.readouterr()

    return asked


def test_a_key_a_path_and_a_name_find_the_same_product(ask, tree):
    point = tree.of("spectra", "softmax_beta-3")
    answers = {ask(what)[1].out for what in (point.key, point.path, tree.root / point.path)}
    assert len(answers) == 1
    assert find(point.key) == [tree.root / point.path]


def test_a_file_that_was_never_finished_is_no_product(tmp_path, monkeypatch):
    (tmp_path / "results" / "data").mkdir(parents=True)
    product = tmp_path / "results" / "data" / "ring~0123456789ab.nc"
    product.with_name(f"{product.name}.00000000.part").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refusal, match="'0123456789ab' is neither a file nor the key of a product"):
        find("0123456789ab")
    product.touch()
    assert find("0123456789ab") == [product]


def test_all_is_well_is_said_with_exit_code_zero(ask, tree):
    code, said = ask("results/paper.pdf")
    assert code == 0
    assert said.out.splitlines()[-1] == (
        f"all {len(tree.planned)} products verified: content, key, parents, code and plan"
    )


def test_the_answer_names_parameters_seed_key_and_code(ask, tree):
    point = tree.of("data", "gaussian")
    lines = ask(point.path)[1].out.splitlines()
    assert lines[:6] == [
        f"{point.path}  ok",
        "  | d_model: 2",
        "  | generator: gaussian",
        "  | n_tokens: 4",
        f"  | seed: {SEED}",
        "  | block: 0",
    ]
    assert lines[6].startswith(f"  | key {point.key}, code ")


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_trouble_anywhere_is_exit_code_one(form, ask, tree):
    path = tree.file("attention", "softmax_beta-3")
    keeping_times(path, edit_value)
    code, said = ask("results/paper.pdf", *form)
    assert code == 1
    assert "tampered" in said.out
    assert str(path.relative_to(tree.root)) in said.out


def test_a_long_list_of_parents_shows_those_in_trouble(ask, tree):
    path = tree.file("experiment", "many")
    spoilt = tree.trace(path).parents[9].path
    edit_value(spoilt)
    _, said = ask(path)
    assert len([line for line in said.out.splitlines() if line.startswith("  results/")]) == 2
    assert f"{spoilt.relative_to(tree.root)}  tampered" in said.out
    assert "and 17 parents that are ok, such as" in said.out


def test_json_tells_every_product_with_its_parents(ask, tree):
    code, said = ask("results/paper.pdf", "--json")
    (answer,) = json.loads(said.out)
    assert code == 0
    assert answer["product"] == "results/paper.pdf"
    assert {each["status"] for each in answer["products"].values()} == {OK}
    assert {each["record"]["key"] for each in answer["products"].values()} == tree.planned
    for each in answer["products"].values():
        assert {*each["parents"]} <= {*answer["products"]}


def test_json_of_two_products_is_one_list(ask, tree):
    paths = [tree.of("spectra", f"softmax_beta-{beta}").path for beta in (1, 3)]
    answers = json.loads(ask(*paths, "--json")[1].out)
    assert [answer["product"] for answer in answers] == paths


def test_the_key_of_a_figure_stands_for_each_of_its_files(ask, tree):
    figure = tree.of("figures", "decay")
    assert [path.name for path in find(figure.key)] == sorted(
        f"{figure.name}{end}" for end in (".svg", ".png", ".pdf", ".night.svg")
    )
    (tree.root / figure.path).with_suffix(".png").write_bytes(b"not ours")
    code, said = ask(figure.key)
    assert code == 1
    assert f"{figure.name}.png  tampered" in said.out


def changed(said) -> set[str]:
    return {line.split(": ")[0] for line in said.out.splitlines()}


def test_a_difference_names_exactly_the_parameters_that_differ(ask, tree):
    paths = [tree.of("spectra", f"softmax_beta-{beta}").path for beta in (1, 3)]
    code, said = ask("--diff", *paths)
    assert (code, said.out) == (0, "attention.beta: 1.0 | 3.0\n")


def test_a_difference_in_several_stages_names_each(ask, tree):
    one = tree.of("spectra", "softmax_beta-1")
    other = next(p for p in tree.plan if p.stage == "spectra" and "depth-1" in p.parents[0].slug)
    _, said = ask("--diff", one.path, other.path)
    assert changed(said) == {
        "attention.beta",
        "attention.depth",
        "spectra.measures",
        "spectra.code",  # Other measures are computed by other code.
    }


def test_a_product_does_not_differ_from_itself(ask, tree):
    path = tree.of("spectra").path
    assert ask("--diff", path, path)[1].out == "no parameter differs\n"


def test_a_difference_tells_seed_and_code(ask, tree, tmp_path):
    path = tree.file("data", "gaussian")
    other = tmp_path / "results/data/other.nc"
    shutil.copyfile(path, other)
    forge(
        other,
        lambda record: (record["recipe"].update(seed=8), record.update(code="0" * 16)),
        seal_again=True,
    )
    _, said = ask("--diff", path, other)
    assert changed(said) == {"seed", "data.code"}
    assert f"seed: {SEED} | 8" in said.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["nothing.svg"],
            "'nothing.svg' is neither a file nor the key of a product under results/",
        ),
        (["0123456789ab"], "'0123456789ab' is neither a file nor the key of a product"),
        (["--diff", "results/paper.pdf"], "command line: --diff compares two products, not 1."),
        (["results/paper.pdf", "--configfile", "no.yaml"], "no.yaml: there is no such file"),
    ],
)
def test_a_question_without_an_answer_is_one_line(arguments, message, ask):
    code, said = ask(*arguments)
    assert code == 1
    assert said.out == ""
    assert said.err.startswith(f"lowpass: {message}")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(("stage", "kind"), PRODUCTS)
def test_a_product_of_later_code_ends_a_trace_in_one_line(stage, kind, ask, tree):
    """It is neither whole nor tampered, and what it was made from cannot be known here."""
    path = tree.file(stage, suffix=kind)
    forge(path, lambda record: record.update(schema=SCHEMA + 1), seal_again=False)
    for arguments in ([path], ["--json", path], ["--diff", path, path]):
        code, said = ask(*arguments)
        assert (code, said.out) == (1, "")
        assert said.err == (
            f"lowpass: {path}: its record has the schema {SCHEMA + 1} and this code knows none "
            f"above {SCHEMA}, so it would be misread; a later version of lowpass wrote it. Update "
            f"lowpass, or delete the file and run again.\n"
        )


def test_an_ancestor_of_later_code_is_named(ask, tree):
    path = tree.file("data", "gaussian")
    forge(path, lambda record: record.update(schema=SCHEMA + 1), seal_again=False)
    code, said = ask("results/paper.pdf")
    assert (code, said.out) == (1, "")
    assert said.err.startswith(f"lowpass: {path}: its record has the schema {SCHEMA + 1} and this")


def test_a_record_that_states_no_schema_is_tampered(ask, tree):
    path = tree.file("spectra")
    forge(path, lambda record: record.pop("schema"), seal_again=False)
    code, said = ask(path)
    assert code == 1
    assert "  tampered: carries no record of lowpass (it states no schema, where" in said.out


def test_another_configuration_makes_orphans(ask, tree):
    config = json.loads((tree.source / CONFIG).read_text())
    (tree.root / "other.yaml").write_text(json.dumps({**config, "seed": SEED + 1}))
    path = tree.of("attention").path
    assert ask(path)[0] == 0
    code, said = ask(path, "--configfile", "other.yaml")
    assert code == 1
    assert said.out.count("  orphan: ") == 2


def test_what_cannot_be_found_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refusal, match="give a path, or the twelve digits after the ~ in a name"):
        find("../*")
