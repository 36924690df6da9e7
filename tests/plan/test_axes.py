"""Sweeps from file to file, inside a job and side by side: what they are, and are not."""

from __future__ import annotations

import pytest
import yaml

from lowpass.measures import MEASURES
from lowpass.plan.axes import Option, inside_axes, outer_axes
from lowpass.registry import Refusal

from ..configurations import adding, edited, planned, zipping

WHERE = "mine.yaml: experiments.tokens"


def section(**changes) -> dict:
    """Compose a section whose attention has the given parameters."""
    return {"data": {"n_tokens": [8, 16]}, "attention": {"beta": [3, 1], "depth": 4}, **changes}


# What they are.


def test_each_list_is_an_axis_of_options():
    assert outer_axes(section(), WHERE) == [
        (
            "n_tokens",
            [Option(None, {("data", "n_tokens"): 8}), Option(None, {("data", "n_tokens"): 16})],
        ),
        (
            "beta",
            [Option(None, {("attention", "beta"): 3}), Option(None, {("attention", "beta"): 1})],
        ),
    ]


def test_an_axis_lies_inside_or_outside():
    within = section(inside=["beta"])
    assert [name for name, _ in outer_axes(within, WHERE)] == ["n_tokens"]
    assert inside_axes(within, WHERE) == {"attention": {"beta": [3, 1]}}
    assert inside_axes(section(), WHERE) == {}


def test_a_list_of_layers_to_record_is_no_axis():
    recorded = section(attention={"beta": 1, "depth": 4, "record": [0, 2]})
    assert [name for name, _ in outer_axes(recorded, WHERE)] == ["n_tokens"]


def test_zipped_columns_are_one_axis_whose_options_set_several_parameters():
    zipped = section(
        data={},
        attention={"depth": 4},
        zip={"case": {"data.n_tokens": [8, 9], "label": ["a", "b"], "attention.beta": [1, 2]}},
    )
    assert outer_axes(zipped, WHERE) == [
        (
            "case",
            [
                Option("a", {("data", "n_tokens"): 8, ("attention", "beta"): 1}),
                Option("b", {("data", "n_tokens"): 9, ("attention", "beta"): 2}),
            ],
        )
    ]


def test_zipped_columns_lie_inside_or_outside():
    columns = {"label": ["a", "b"], "attention.beta": [2, 1], "attention.mask": ["none", "block"]}
    within = section(attention={"depth": 4}, zip={"case": columns}, inside=["case"])
    assert [name for name, _ in outer_axes(within, WHERE)] == ["n_tokens"]
    assert inside_axes(within, WHERE) == {
        "attention": {"case": {"label": ["a", "b"], "beta": [2, 1], "mask": ["none", "block"]}}
    }


# Refusals.

BETA = "beta: [1, 3]"
TWO = "label: [a, b], attention.beta: [1, 2]"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((BETA, "beta: []"), r"attention\.beta: the sweep is empty, so nothing would run; fill it"),
        ((BETA, "beta: [1, 3, 1]"), r"attention\.beta: 1 stands there twice, and .*; delete one"),
        ((BETA, "beta: [1, 1.0]"), r"attention\.beta: 1\.0 stands there twice"),
        ((BETA, "beta: [1, true]"), r"attention\.beta: true is not a number"),
        ((BETA, "beta: [[1], 3]"), r"attention\.beta: \[1\] is no scalar; sweep scalars only"),
        ((BETA, "beta: [{a: 1}]"), r"attention\.beta: \{'a': 1\} is no scalar; sweep scalars"),
        (
            ("gaussian, n_tokens: 8", "[gaussian, gaussian], n_tokens: 8"),
            r"data\.generator: 'gaussian' stands there twice",
        ),
        (
            ("d_model: 4", "d_model: []"),
            r"data\.d_model: the sweep is empty, so nothing would run",
        ),
    ],
)
def test_a_sweep_has_different_scalars(change, message, tmp_path):
    with pytest.raises(Refusal, match=rf"^mine\.yaml: experiments\.tokens\.{message}"):
        planned(edited(change), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            adding("    inside: [depth]\n"),
            r"'depth' is not a swept parameter of attention or diffusion or smoothing\. "
            r"Swept there: beta\. "
            r"Sweep it there, or take it out",
        ),
        (adding("    inside: [betta]\n"), r"'betta' is .*; did you mean 'beta'\? Swept there: b"),
        (adding("    inside: [n_tokens]\n"), "'n_tokens' is not a swept parameter of attention"),
        (adding("    inside: [beta, beta]\n"), "'beta' stands there twice, and .*; delete one"),
    ],
)
def test_inside_names_what_is_swept_in_one_stage(change, message, tmp_path):
    with pytest.raises(Refusal, match=rf"^mine\.yaml: experiments\.tokens\.inside: {message}"):
        planned(edited(change), tmp_path)


def test_the_sweep_of_another_stage_is_not_inside_a_job(tmp_path):
    changes = adding("    inside: [n_tokens]\n"), ("n_tokens: 8", "n_tokens: [8, 9]")
    with pytest.raises(Refusal, match="'n_tokens' is not a swept parameter of attention or diff"):
        planned(edited(*changes), tmp_path)


def test_depth_changes_the_shape_and_is_not_inside_a_job(tmp_path):
    changes = adding("    inside: [depth]\n"), ("depth: 4", "depth: [4, 5]")
    with pytest.raises(
        Refusal,
        match=r"^mine\.yaml: experiments\.tokens\.inside: 'depth' changes the shape of what is "
        r"computed, .*; take it out of 'inside'\.$",
    ):
        planned(edited(*changes), tmp_path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            "attention.beta: [1, 2], data.n_tokens: [8, 9]",
            "'case' advances parameters of attention and data, and a job is of one stage, .*; take "
            "'case' out of 'inside'",
        ),
        ("data.n_tokens: [8, 9]", "'case' advances parameters of data, and a job is of one stage"),
        (
            "attention.beta: [1, 2], attention.depth: [4, 5]",
            "'depth' changes the shape of .*; take 'case' out of 'inside'",
        ),
    ],
)
def test_columns_inside_are_of_one_stage_and_keep_shapes(columns, message):
    listed = yaml.safe_load(f"{{label: [a, b], {columns}}}")
    each = {"data": {}, "attention": {}, "zip": {"case": listed}, "inside": ["case"]}
    with pytest.raises(Refusal, match=rf"^{WHERE}\.inside: {message}"):
        inside_axes(each, WHERE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (zipping("label: [a], attention.beta: [1, 2]"), r"\.attention\.beta: has 2 values where"),
        (zipping("label: [a, b], attention.beta: []"), r"\.attention\.beta: the sweep is empty"),
        (zipping("label: [], attention.beta: []"), r"\.label: the sweep is empty, so nothing wo"),
        (zipping("label: [a, b], attention.beta: [[1], 2]"), r"\.attention\.beta: \[1\] is no sc"),
        (zipping("attention.beta: [1, 2]"), ": needs 'label', a name for each case, and the para"),
        (zipping("label: [a, b]"), ": needs 'label', a name for each case, and the parameters th"),
        (zipping("label: [a, a], attention.beta: [1, 2]"), r"\.label: 'a' stands there twice"),
        (zipping("label: [1, 2], attention.beta: [1, 2]"), r"\.label: 1 is not text, and a case"),
        (zipping("label: [no, b], attention.beta: [1, 2]"), r"\.label: false is not text, .* quot"),
        (zipping("label: [a, b], beta: [1, 2]"), ": 'beta' names no parameter of a stage of this"),
        (zipping("label: [a, b], atention.beta: [1, 2]"), ": 'atention.beta' names no parameter"),
        (zipping("label: [a, b], attention: [1, 2]"), ": 'attention' names no parameter of a sta"),
        (zipping("label: [a, b], smoothing.level: [0.5, 0.9]"), ": 'smoothing.level' names no pa"),
        (zipping("label: [a, b], spectra.measures: [a, b]"), ": 'spectra.measures' names no para"),
        (zipping(TWO, "beta: 1, "), r"\.attention\.beta: is also given as attention\.beta, and o"),
        (zipping(TWO, "beta: [1, 2], "), r"\.attention\.beta: is also given as attention\.beta"),
    ],
)
def test_zipped_columns_fit_their_labels_and_the_section(change, message, tmp_path):
    with pytest.raises(Refusal, match=rf"^mine\.yaml: experiments\.tokens\.zip\.case{message}"):
        planned(edited(change), tmp_path)


def test_a_zipped_parameter_has_to_exist(tmp_path):
    change = zipping("label: [a, b], attention.betta: [1, 2]", "beta: 1, ")
    with pytest.raises(Refusal, match=r"tokens\.attention\.betta: .*; did you mean 'beta'\?"):
        planned(edited(change), tmp_path)


# Names of dimensions.


def test_two_axes_of_one_name_are_refused(tmp_path):
    text = edited(
        adding("    zip: {beta: {label: [a, b], attention.start: [tokens, second_mode]}}\n")
    )
    with pytest.raises(
        Refusal,
        match=r"^mine\.yaml: experiments\.tokens: 2 swept parameters are called 'beta', .*; sweep "
        r"one of them, or rename what stands under 'zip'\.$",
    ):
        planned(text, tmp_path)


def test_a_parameter_advances_along_one_axis(tmp_path):
    start = "attention.start: [tokens, no_stationary]"
    text = edited(
        adding(f"    zip: {{a: {{label: [a, b], {start}}}, b: {{label: [a, b], {start}}}}}\n")
    )
    with pytest.raises(Refusal, match="tokens: 2 swept parameters are called 'start'"):
        planned(text, tmp_path)


@pytest.mark.parametrize(
    "name", ["layer", "replicate", "attention", "parent", *sorted(MEASURES)[:2]]
)
def test_an_axis_is_not_called_like_what_results_hold_already(name, tmp_path):
    text = edited(zipping(TWO)).replace("case:", f"{name}:")
    with pytest.raises(
        Refusal,
        match=rf"^mine\.yaml: experiments\.tokens: '{name}' cannot be swept, since results have a "
        rf"dimension or variable of that name; describe one experiment for each value\.$",
    ):
        planned(text, tmp_path)


def test_the_column_that_positions_are_taken_from_is_not_swept(tmp_path):
    with pytest.raises(Refusal, match=r"^mine\.yaml: experiments\.table: 'key' cannot be swept"):
        planned(edited(("key: year", "key: [year, flow]")), tmp_path)
