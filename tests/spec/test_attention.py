"""Parameters of attention: every registered name is accepted, and every other value refused."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import pytest

from lowpass.integrators import INTEGRATORS
from lowpass.kernels import KERNELS, SCORES
from lowpass.masks import MASKS
from lowpass.registry import Refusal
from lowpass.spec.attention import Attention, parse
from lowpass.spec.depth import recorded_layers
from lowpass.starts import STARTS
from lowpass.weights import WEIGHTS

from ..configurations import edited, planned

ARITHMETIC = get_args(Attention.model_fields["arithmetic"].annotation)
NAMED = {
    "kernel": KERNELS,
    "score": SCORES,
    "mask": MASKS,
    "weights": WEIGHTS,
    "start": STARTS,
    "arithmetic": ARITHMETIC,
    "integrator": INTEGRATORS,
}
NEEDED = {"beta": 1.0, "depth": 4}
FLOW = {"integrator": "dop853", "skip": 1.0, "arithmetic": "float64"}


# Laws.


@pytest.mark.parametrize(
    ("parameter", "name"), [(parameter, name) for parameter in NAMED for name in NAMED[parameter]]
)
def test_every_registered_name_is_a_choice(parameter, name):
    beside = {"mask_width": 2} if name == "window" else {}
    if parameter == "integrator":
        beside = {"skip": 1.0, "arithmetic": "float64"}
    assert getattr(parse({**NEEDED, **beside, parameter: name}, "here"), parameter) == name


@pytest.mark.parametrize("parameter", sorted(NAMED))
def test_a_misspelt_name_is_answered_with_the_nearest(parameter, tmp_path):
    name = max(NAMED[parameter], key=len)
    wrong = name[:-2] + name[-1]
    line = f"{{{parameter}: {wrong}, beta: [1, 3]"
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.tokens\.attention\.{parameter}: .*'{wrong}'.*"
    ) as caught:
        planned(edited(("{beta: [1, 3]", line)), tmp_path)
    assert f"'{name}'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("parameter", sorted(NAMED))
def test_a_name_is_text(parameter):
    with pytest.raises(Refusal, match=f"^here: {parameter}: 3 is "):
        parse({**NEEDED, parameter: 3}, "here")


def test_every_parameter_says_what_it_is():
    fields = Attention.model_fields.items()
    assert [name for name, field in fields if not field.description] == []


# Numbers.


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("beta: [1, 3]", "beta: -1", "beta: -1 is below 0, the least it can be; write 0 or more"),
        ("beta: [1, 3]", "beta: 1e-3", r"beta: '1e-3' is text in YAML 1\.1; write 1\.0e-3\.$"),
        ("beta: [1, 3]", "beta: '3'", "beta: '3' is text, since it stands in quotes; write 3 wit"),
        ("beta: [1, 3]", "beta: true", "beta: true is not a number; write one, as 0"),
        ("beta: [1, 3]", "beta: .inf", "beta: inf is not finite, .*; write a finite number"),
        ("beta: [1, 3]", "beta: .nan", "beta: nan is not finite, .*; write a finite number"),
        ("beta: [1, 3]", "beta: [1, .nan]", "beta: nan is not finite"),
        ("beta: [1, 3]", "beta: [1, 1e-3]", "beta: '1e-3' is text in YAML 1"),
        ("beta: [1, 3], ", "", "beta: is not given and has no default; write a value for it"),
        (", depth: 4", "", "depth: is not given and has no default; write a value for it"),
        ("depth: 4", "depth: 0", "depth: 0 is below 1, the least it can be; write 1 or more"),
        ("depth: 4", "depth: true", "depth: true is not a whole number; write one, as 3"),
        ("depth: 4", "depth: 4.0", r"depth: 4\.0 is not a whole number; write one, as 3"),
        ("depth: 4", "depth: 4, bta: 1", r"bta: no parameter is called 'bta'; .* 'beta'\? Known"),
        ("depth: 4", "depth: 4, layers: own", "layers: 'own' is no choice here; write 'frozen'"),
        ("depth: 4", "depth: 4, record: some", "record: 'some' is no choice here; write 'all' or"),
        ("depth: 4", "depth: 4, record: [1, -2]", "record: -2 is below 0, the least it can be"),
    ],
)
def test_a_value_out_of_its_domain_is_told(old, new, message, tmp_path):
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.tokens\.attention\.{message}"
    ) as caught:
        planned(edited((old, new)), tmp_path)
    assert "\n" not in str(caught.value)


def test_a_layer_to_record_lies_within_the_run(tmp_path):
    with pytest.raises(
        Refusal,
        match=r"^mine\.yaml: experiments\.tokens\.attention\.record: layer 5 lies beyond the last "
        r"layer 4, .*record it in a deeper run or leave it out\.$",
    ):
        planned(edited(("depth: 4", "depth: 4, record: [2, 5]")), tmp_path)


# Recorded layers.


@pytest.mark.parametrize("record", ["all", "geometric", [], [1]])
@pytest.mark.parametrize("depth", [1, 2, 7, 8, 400])
def test_recorded_layers_ascend_from_the_start_to_within_the_run(record, depth):
    layers = recorded_layers(record, depth)
    assert layers[0] == 0
    assert layers[-1] <= depth
    assert layers == sorted(set(layers))


def test_all_layers_are_all_layers():
    assert recorded_layers("all", 5) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("depth", [1, 5, 64, 400])
def test_geometric_layers_thin_out_by_three_halves_at_most(depth):
    layers = recorded_layers("geometric", depth)
    assert layers[-1] == depth
    assert all(after <= max(1.5 * one, one + 1) for one, after in pairwise(layers))
    assert len(layers) <= 3 + 2 * depth.bit_length()


def test_the_start_is_recorded_beside_the_layers_that_are_named():
    assert recorded_layers([7, 3, 7], 9) == [0, 3, 7]


# What does not fit together.


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strength": 0.5}, "strength: 0.5 would not count, since the remedy 'none' has no 'stre"),
        ({"remedy": "gfsa", "featscale_dc": 1.0}, "featscale_dc: 1.0 would not count, since the r"),
        ({"gfsa_order": 4}, "gfsa_order: 4 would not count, since the remedy 'none' has no 'gfsa_"),
        ({"remedy": "residual", "layers": "waning"}, "remedy: 'residual' is a filter of attention"),
        ({"start": "second_mode", "layers": "recomputed"}, "start: 'second_mode' is said of the s"),
        ({"start": "no_stationary", "n_heads": 2}, "start: 'no_stationary' is said of the station"),
        ({"start": "second_mode", "norm": "post"}, "start: 'second_mode' is said of the stationar"),
        ({"projections": "fresh"}, "projections: 'fresh' would not count, since one matrix serves"),
        (
            {"value_unit": "inverse_slem", "layers": "recomputed"},
            r"value_unit: 'inverse_slem' needs the one \|λ₂\| of all layers; write 'layers:",
        ),
        (
            {"layers": "recomputed", "kernel": "sinkhorn"},
            "arithmetic: recomputed attention has a split form for the kernel 'softmax' .* not for "
            "'sinkhorn' of 'dot'; write 'arithmetic: float64'",
        ),
        ({"layers": "recomputed", "score": "cosine"}, "arithmetic: recomputed attention has a spl"),
        ({"mask": "window"}, "mask_width: the mask 'window' needs mask_width, which is not given"),
        ({"mask_width": 3}, "mask_width: the mask 'none' has no mask_width, and 3 is given"),
        (
            {"sublayers": 2},
            "skip: 0.0 does not go with 'sublayers: 2', since thinner layers tend to a flow only "
            r"where each adds to the tokens; write 'skip: 1'\.$",
        ),
        ({"integrator": "rk45", "skip": 1.0}, "arithmetic: 'split' does not go with 'integrator"),
        ({**FLOW, "norm": "pre"}, "norm: 'pre' does not go with 'integrator: dop853', since layer"),
        ({**FLOW, "sublayers": 2}, "sublayers: 2 would not count, since 'integrator: dop853' is"),
        ({**FLOW, "layers": "waning"}, "layers: 'waning' does not go with 'integrator: dop853', s"),
        (
            {**FLOW, "layers": "recomputed", "projections": "fresh"},
            "projections: 'fresh' does not go with 'integrator: dop853', since a flow has one fie",
        ),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused(given, message):
    with pytest.raises(Refusal, match=f"^here: {message}") as caught:
        parse({**NEEDED, **given}, "here")
    assert "\n" not in str(caught.value)


def test_a_strength_may_be_neutral_where_no_remedy_is_named():
    """So that plain attention can be a case beside its remedies."""
    assert parse({**NEEDED, "strength": 0.0}, "here").remedy == "none"
