"""Keys follow from what is asked, and from nothing else."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import pytest

from lowpass.plan import Plan, load
from lowpass.plan.plan import BLOCK, LONGEST_RECIPE, file_digest
from lowpass.registry import Refusal
from lowpass.spec.attention import Attention
from lowpass.spec.data import model_of

from ..configurations import (
    ROOT,
    TABLE,
    TEXT,
    TOKENS,
    adding,
    edited,
    keys,
    lost,
    planned,
    zipping,
)

ATTENTION = "{beta: [1, 3], depth: 4}"
DEFAULTS = {
    name: "null" if field.default is None else field.default
    for name, field in Attention.model_fields.items()
    if not field.is_required()
}


def written(**parameters) -> str:
    """Write parameters as a flow mapping of YAML."""
    return "{" + ", ".join(f"{name}: {value}" for name, value in parameters.items()) + "}"


# Laws: what does not matter.

SAME = {
    "the order of a sweep": [("[1, 3]", "[3, 1]")],
    "the order of measures": [("[slem, min_attention]", "[min_attention, slem]")],
    "the order of parameters": [(ATTENTION, "{depth: 4, beta: [1, 3]}")],
    "the order of experiments": [(TOKENS, ""), (TABLE, TABLE + TOKENS)],
    "the order of keys": [
        ("    replicates: 20\n", ""),
        ("    why: Two", "    replicates: 20\n    why: Two"),
    ],
    "a point in a number": [("[1, 3]", "[1.0, 3.0]"), ("high: 50", "high: 50.0")],
    "an exponent": [("low: 0.5", "low: 5.0e-1")],
    "quotes": [("generator: gaussian", "'generator': \"gaussian\"")],
    "block style": [
        ("seed: 7", "seed:\n  7"),
        (ATTENTION, "\n      beta:\n      - 1\n      - 3\n      depth: 4"),
    ],
    "a comment": [("seed: 7", "# Mine.\nseed: 7  # Drawn by lot.")],
    "defaults written out": [(ATTENTION, written(**{**DEFAULTS, "beta": [1, 3], "depth": 4}))],
    "the level written out": [("count: 9}", "count: 9}, level: 0.95")],
    "nothing inside and nothing zipped": [adding("    inside: []\n    zip: {}\n")],
    "what is not given, as nothing": [adding("    smoothing:\n")],
}


@pytest.mark.parametrize("changes", SAME.values(), ids=SAME)
def test_the_way_of_writing_does_not_matter(changes, tmp_path):
    text = edited(*changes)
    assert text != TEXT
    assert keys(planned(text, tmp_path)) == keys(planned(TEXT, tmp_path))


CASES = "label: [a, b], attention.beta: [1, 3], attention.start: [tokens, no_stationary]"


@pytest.mark.parametrize(
    "columns",
    [
        "label: [b, a], attention.beta: [3, 1], attention.start: [no_stationary, tokens]",
        "attention.start: [tokens, no_stationary], attention.beta: [1, 3], label: [a, b]",
        "label: ['a', \"b\"], attention.beta: [1.0, 3], attention.start: [tokens, no_stationary]",
    ],
)
def test_the_way_of_writing_cases_does_not_matter(columns, tmp_path):
    text, other = edited(zipping(CASES)), edited(zipping(columns))
    assert keys(planned(other, tmp_path)) == keys(planned(text, tmp_path))


def test_the_order_inside_does_not_matter(tmp_path):
    two = (ATTENTION, "{beta: [1, 3], mask: [none, block], depth: 4}")
    one = planned(edited(two, adding("    inside: [beta, mask]\n")), tmp_path)
    assert keys(planned(edited(two, adding("    inside: [mask, beta]\n")), tmp_path)) == keys(one)


def test_a_name_does_not_depend_on_the_order_of_what_is_swept_inside(tmp_path):
    """An experiment's job plans its points again, from sweeps that ascend."""
    both = "{beta: 1, depth: 4, kernel: [%s]}"
    texts = [
        edited((ATTENTION, both % order), adding("    inside: [kernel]\n"))
        for order in ("softmax, sinkhorn", "sinkhorn, softmax")
    ]
    names = [{point.name for point in planned(text, tmp_path)} for text in texts]
    assert names[0] == names[1]


# Laws: what does matter.

# Another value of every parameter of attention.
OTHER = {
    "kernel": "sinkhorn",
    "score": "l2",
    "weights": "tied",
    "mask": "block",
    "start": "no_stationary",
    "beta": 1.5,
    "depth": 5,
    "record": "all",
    "arithmetic": "float64",
    "n_heads": 2,
    "mask_width": 2,
    "values": "random",
    "output": "random",
    "value_scale": 2.0,
    "value_unit": "inverse_slem",
    "skip": 1.0,
    "step": 0.5,
    "norm": "post",
    "remedy": "residual",
    "strength": 0.5,
    "featscale_dc": 0.5,
    "gfsa_w0": 0.5,
    "gfsa_w1": 0.5,
    "gfsa_order": 4,
    "layers": "recomputed",
    "projections": "fresh",
    "matrix": "summarised",
    "integrator": "dop853",
    "sublayers": 3,
}
MANY = {
    "beta": [1.23456789e-300, 1e300],
    "kernel": "sinkhorn",
    "weights": "symmetric",
    "mask": "block",
    "start": "no_stationary",
    "value_unit": "inverse_slem",
    "arithmetic": "float64",
    "depth": 5,
}
# What some of them ask for beside them.
BESIDE = {
    "strength": {"remedy": "residual"},
    "featscale_dc": {"remedy": "featscale"},
    "gfsa_w0": {"remedy": "gfsa"},
    "gfsa_w1": {"remedy": "gfsa"},
    "gfsa_order": {"remedy": "gfsa"},
    "projections": {"layers": "recomputed"},
    "mask_width": {"mask": "window", "mask_width": 1},
    "integrator": {"skip": 1.0, "arithmetic": "float64"},
    "sublayers": {"skip": 1.0},
}


def test_every_parameter_of_attention_is_changed_below():
    assert {*OTHER} == set(Attention.model_fields)


@pytest.mark.parametrize("name", OTHER)
def test_a_parameter_of_attention_changes_what_stands_below_it(name, tmp_path):
    one = {"beta": 1, "depth": 4, **BESIDE.get(name, {})}
    # Of a matrix that is not stored there is one measure only.
    spectra = [("[slem, min_attention]", "[slem]")] if name == "matrix" else []
    before = planned(edited((ATTENTION, written(**one)), *spectra), tmp_path)
    other = {**one, name: OTHER[name]}
    after = planned(edited((ATTENTION, written(**other)), *spectra), tmp_path)
    wanted = Counter(attention=2, spectra=2, experiment=1, paper=1)
    assert lost(before, after) == lost(after, before) == wanted


@pytest.mark.parametrize(
    ("change", "gone", "new"),
    [
        (("[1, 3]", "[1, 5]"), {"attention": 2, "spectra": 2}, {"attention": 2, "spectra": 2}),
        (("[1, 3]", "[1, 3, 5]"), {}, {"attention": 2, "spectra": 2}),
        (("[1, 3]", "[1]"), {"attention": 2, "spectra": 2}, {}),
        (("[slem, min_attention]", "[slem]"), {"spectra": 4}, {"spectra": 4}),
        (
            ("n_tokens: 8", "n_tokens: 9"),
            {"data": 2, "attention": 4, "spectra": 4},
            {"data": 2, "attention": 4, "spectra": 4},
        ),
        (("replicates: 20", "replicates: 19"), {}, {}),
        (
            ("replicates: 20", "replicates: 21"),
            {},
            {"data": 1, "attention": 2, "spectra": 2},
        ),
        (
            ("replicates: 20", "replicates: 10"),
            {"data": 1, "attention": 2, "spectra": 2},
            {},
        ),
        (
            adding("    inside: [beta]\n"),
            {"attention": 4, "spectra": 4},
            {"attention": 2, "spectra": 2},
        ),
        (("count: 9", "count: 10"), {"smoothing": 1}, {"smoothing": 1}),
        (("low: 0.5", "low: 0.6"), {"smoothing": 1}, {"smoothing": 1}),
        (("count: 9}", "count: 9}, level: 0.9"), {"smoothing": 1}, {"smoothing": 1}),
        (("key: year", "key: flow"), {"data": 1, "smoothing": 1}, {"data": 1, "smoothing": 1}),
    ],
)
def test_a_change_is_felt_downstream_and_nowhere_else(change, gone, new, tmp_path):
    before, after = planned(TEXT, tmp_path), planned(edited(change), tmp_path)
    always = {"experiment": 1, "paper": 1}
    assert lost(before, after) == Counter(gone | always)
    assert lost(after, before) == Counter(new | always)


def test_the_seed_is_felt_by_what_is_drawn(tmp_path):
    before, after = planned(TEXT, tmp_path), planned(edited(("seed: 7", "seed: 8")), tmp_path)
    wanted = Counter(data=2, attention=4, spectra=4, experiment=1, paper=1)
    # Spectra draw nothing themselves, but their parents do; what is smoothed is not drawn.
    assert lost(before, after) == wanted
    assert [p.stage for p in after if p.recipe.get("seed", 8) != 8] == []


def test_two_parameters_that_swap_values_change_the_key(tmp_path):
    before = planned(TEXT, tmp_path)
    after = planned(edited(("n_tokens: 8, d_model: 4", "n_tokens: 4, d_model: 8")), tmp_path)
    assert lost(before, after)["data"] == 2


def test_the_reason_why_is_felt_by_the_paper_alone(tmp_path):
    before = planned(TEXT, tmp_path)
    after = planned(edited(("why: Two temperatures.", "why: Because.")), tmp_path)
    assert lost(before, after) == Counter(paper=1)


# Blocks, sharing, names.


@pytest.mark.parametrize(("replicates", "blocks"), [(1, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
def test_replicates_are_stored_in_full_blocks(replicates, blocks, tmp_path):
    assert BLOCK == 10
    plan = planned(edited(("replicates: 20", f"replicates: {replicates}")), tmp_path)
    drawn = [
        point.recipe["block"]
        for point in plan
        if point.recipe.get("seed") and "block" in point.recipe
    ]
    assert sorted(drawn) == list(range(blocks))


def test_observations_are_one_block(tmp_path):
    (cell,) = planned(TEXT, tmp_path).cells["table"]
    assert cell[1] == 0
    assert "block" not in cell[2].parents[0].recipe


def test_equal_recipes_of_two_experiments_are_one_point(tmp_path):
    more = TOKENS.replace("  tokens:", "  more:").replace("[1, 3]", "[3, 5]").replace("20", "10")
    plan, alone = planned(TEXT + more, tmp_path), planned(TEXT, tmp_path)
    # Of the second experiment only β = 5 is new, in one block.
    wanted = Counter(attention=1, spectra=1, experiment=1, paper=1)
    assert lost(plan, alone) == wanted
    shared = {point.key for _, _, point in plan.cells["more"]}
    assert len(shared & {point.key for _, _, point in plan.cells["tokens"]}) == 1


def test_an_experiment_has_each_parent_once_in_the_order_of_keys(tmp_path):
    for experiment in planned(TEXT, tmp_path).experiments.values():
        found = [parent.key for parent in experiment.parents]
        assert found == sorted(set(found))


def test_a_case_repeated_under_another_label_is_computed_once(tmp_path):
    columns = "label: [a, b, c], attention.beta: [1, 3, 1]"
    plan = planned(edited(zipping(columns)), tmp_path)
    assert len(plan.experiments["tokens"].parents) == 2 * 2
    assert len(plan.cells["tokens"]) == 3 * 2


LONG = "{n_tokens: 123456789, d_model: 987654321, contrast: 0.123456789, generator: two_levels}"


@pytest.mark.parametrize(
    "text",
    [
        (ROOT / "config/paper.yaml").read_text(encoding="utf-8"),
        (ROOT / "config/smoke.yaml").read_text(encoding="utf-8"),
        edited(("  tokens:", f"  {'x' * 60}:")),
        edited(
            ("{generator: gaussian, n_tokens: 8, d_model: 4}", LONG),
            (ATTENTION, written(**MANY)),
        ).replace("1e+300", "1.0e+300"),
    ],
    ids=["paper", "smoke", "a long name", "long values"],
)
def test_a_file_name_is_short_safe_and_ends_in_its_key(text, tmp_path):
    for point in planned(text, tmp_path):
        assert len(point.name) <= 80
        assert re.fullmatch(rf"[A-Za-z0-9._-]+~{point.key}", point.name)
        assert re.fullmatch("[0-9a-f]{12}", point.key)


def test_no_two_points_have_one_file(tmp_path):
    paths = [path for point in planned(TEXT, tmp_path) for path in point.paths]
    assert len(paths) == len(set(paths))


def test_ten_thousand_points_are_planned(tmp_path):
    many = [(8 * i + 1) / 8 for i in range(5000)]
    plan = planned(edited(("[1, 3]", str(many)), ("replicates: 20", "replicates: 10")), tmp_path)
    assert Counter(point.stage for point in plan) >= Counter(attention=5000, spectra=5000)
    assert len(plan.experiments["tokens"].parents) == 5000
    assert max(len(point.text.encode()) for point in plan) < LONGEST_RECIPE


# Finding.


def test_every_point_is_found_by_stage_and_name(tmp_path):
    plan = planned(TEXT, tmp_path)
    assert all(plan.find(point.stage, point.name) is point for point in plan)


def test_what_is_not_planned_is_not_found(tmp_path):
    plan = planned(TEXT, tmp_path)
    name = plan.experiments["table"].name
    for stage, wrong in [("data", name), ("experiment", f"x{name}"), ("experiment", "x~0")]:
        with pytest.raises(
            Refusal,
            match=rf"^results/{stage}/{wrong}: no such product is planned by this configuration; "
            r"ask for a target of the workflow, such as an experiment's name\.$",
        ):
            plan.find(stage, wrong)


# Data files.


def test_a_data_file_is_a_parameter_by_its_content(tmp_path):
    section = load(ROOT / "config/paper.yaml", "paper").experiments["nile"].model_dump()
    (tmp_path / "workflow/resources").mkdir(parents=True)
    copy = tmp_path / section["data"]["path"]
    content = (ROOT / section["data"]["path"]).read_bytes()

    def plan_of(content: bytes) -> Plan:
        copy.write_bytes(content)
        return Plan(7, {"nile": section}, "here", tmp_path)

    here = Plan(7, {"nile": section}, "here", ROOT)
    assert keys(plan_of(content)) == keys(here)
    assert keys(plan_of(content + b"2000,1\n")).isdisjoint(keys(here))
    assert file_digest(tmp_path, section["data"]["path"], "here") == (
        hashlib.sha256(content + b"2000,1\n").hexdigest()
    )


PATH = "workflow/resources/nile.csv"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("workflow/nile.csv", r"cannot be read \(No such file or directory\); paths are relative"),
        ("workflow/resources", r"cannot be read \(Is a directory\); paths are relative to the"),
        ("''", r"cannot be read \(Is a directory\); paths are relative to the project's folder"),
        (
            "../nile.csv",
            r"leads out of the project's folder, so a copy of the project would lack it; put the "
            r"file into workflow/resources/ and name it from there, or a link to it: ln -s "
            r"\.\./nile\.csv workflow/resources/\.$",
        ),
        ("workflow/../../nile.csv", r"leads out of the project's folder"),
        ("/etc/passwd", r"leads out of the project's folder, .*: ln -s /etc/passwd workflow/res"),
        ("/my data/a.csv", r"leads out .*: ln -s '/my data/a\.csv' workflow/resources/\.$"),
        ("'workflow/{a}.csv'", "has braces, which Snakemake takes for wildcards; rename the file"),
    ],
)
def test_a_data_file_lies_in_the_project_and_can_be_read(path, message, tmp_path):
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.table\.data\.path: '.*' {message}"
    ):
        planned(edited((PATH, path)), tmp_path)


def test_a_link_in_the_project_stands_for_the_file_it_leads_to(tmp_path):
    outside, project = tmp_path / "large.npz", tmp_path / "project"
    project.mkdir()
    outside.write_bytes(b"numbers" * 300_000)
    (project / "mine.npz").symlink_to(outside)
    wanted = hashlib.sha256(outside.read_bytes()).hexdigest()
    assert file_digest(project, "mine.npz", "here") == wanted
    outside.unlink()
    with pytest.raises(
        Refusal,
        match=rf"^here: 'mine\.npz', a link to '{outside}', cannot be read \(No such file or "
        r"directory\); paths are relative to the project's folder, so check it there\.$",
    ):
        file_digest(project, "mine.npz", "here")


def test_a_large_file_is_digested_in_parts(tmp_path, monkeypatch):
    """A model's tensors may be larger than what memory has left."""
    (tmp_path / "mine.npz").write_bytes(b"numbers")
    monkeypatch.delattr("pathlib.Path.read_bytes")
    assert file_digest(tmp_path, "mine.npz", "here") == hashlib.sha256(b"numbers").hexdigest()


# Commands.


def test_a_recipe_has_room_in_a_command(tmp_path):
    many = [i + 1 / 3 for i in range(6500)]
    with pytest.raises(
        Refusal,
        match=r"^results/experiment/tokens: its recipe is \d{6} bytes long, and the command of a "
        r"job has room for 100000; divide the sweep between several experiments\.$",
    ):
        planned(edited(("[1, 3]", str(many)), ("replicates: 20", "replicates: 1")), tmp_path)


def test_the_parameters_of_a_generator_are_all_in_its_key(tmp_path):
    """Another value of each, so that none is forgotten in the recipe."""
    for name, other in {"n_tokens": 10, "d_model": 5, "contrast": 0.25}.items():
        assert name in model_of("two_levels").model_fields
        given = {"generator": "two_levels", "n_tokens": 8, "d_model": 4}
        texts = [
            edited(("{generator: gaussian, n_tokens: 8, d_model: 4}", written(**each)))
            for each in (given, given | {name: other})
        ]
        before, after = (planned(text, tmp_path) for text in texts)
        assert lost(before, after)["data"] == 2
