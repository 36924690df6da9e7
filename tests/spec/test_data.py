"""Parameters of generators: what their signatures declare, and nothing else."""

from __future__ import annotations

import inspect

import pytest

from lowpass.data import GENERATORS
from lowpass.registry import Refusal
from lowpass.spec.data import OBSERVATIONS, kind, model_of, parse

from ..configurations import edited, planned

VALUES = {
    "n_tokens": 8,
    "d_model": 3,
    "n_queries": 5,
    "n_keys": 9,
    "n_features": 2,
    "path": "a.csv",
    "key": "year",
    "keys": ["year"],
    "value": "flow",
}


def needed(generator: str) -> dict:
    """Give values for the parameters of a generator that have no default."""
    fields = model_of(generator).model_fields
    return {
        "generator": generator,
        **{name: VALUES[name] for name in fields if name in VALUES and fields[name].is_required()},
    }


# Laws.


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_parameters_are_the_keywords_of_the_generator(generator):
    signature = inspect.signature(GENERATORS[generator])
    keywords = {
        name: argument.default
        for name, argument in signature.parameters.items()
        if argument.kind is argument.KEYWORD_ONLY
    }
    fields = dict(model_of(generator).model_fields)
    del fields["generator"]
    assert set(fields) == set(keywords)
    for name, field in fields.items():
        required = keywords[name] is inspect.Parameter.empty
        assert field.is_required() == required
        assert required or field.default == keywords[name]


@pytest.mark.parametrize("generator", GENERATORS)
def test_what_is_left_out_has_its_default(generator):
    spec = parse(needed(generator), "here")
    assert spec.model_dump(exclude_defaults=True) == needed(generator)


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_parameter_of_no_generator_is_refused(generator):
    with pytest.raises(Refusal, match=r"^here: nn: no parameter is called 'nn'.* Known here: gen"):
        parse({**needed(generator), "nn": 3}, "here")


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_generator_gives_tokens_or_observations(generator):
    assert kind(generator) in ("tokens", OBSERVATIONS)


# Refusals.


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("gaussian", "gausian", "generator: no token generator is called 'gausian'; did you mean"),
        ("generator: gaussian, ", "", "generator: is not given; name the generator, as 'gaussian'"),
        ("gaussian", "", "generator: is not given; name the generator, as 'gaussian'"),
        ("gaussian", "3", "generator: 3 is no name; name the generator"),
        ("gaussian", "{a: 1}", r"generator: \{'a': 1\} is no name; name the generator"),
        ("n_tokens: 8", "n_token: 8", r"n_token: .*; did you mean 'n_tokens'\? Known here"),
        ("n_tokens: 8", "n_tokens: 0", "n_tokens: 0 is below 1, the least it can be; write 1 or"),
        ("n_tokens: 8", "n_tokens: -8", "n_tokens: -8 is below 1, the least it can be; write 1"),
        ("d_model: 4", "d_model: 0", "d_model: 0 is below 1, the least it can be; write 1 or"),
        ("n_tokens: 8", "n_tokens: 1e3", r"n_tokens: '1e3' is text in YAML 1\.1; write 1000\.$"),
        ("n_tokens: 8, ", "", "n_tokens: is not given and has no default; write a value for it"),
    ],
)
def test_a_fault_of_the_generator_is_told(old, new, message, tmp_path):
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.tokens\.data\.{message}"
    ) as caught:
        planned(edited((old, new)), tmp_path)
    assert "\n" not in str(caught.value)


def test_a_column_is_named_in_text(tmp_path):
    with pytest.raises(Refusal, match=r"table\.data\.key: 1871 is not text; write text, in quotes"):
        planned(edited(("key: year", "key: 1871")), tmp_path)
