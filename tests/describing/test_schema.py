"""The schema and what reads a configuration agree: on every name, on faults, on mutants."""

from __future__ import annotations

import copy
import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

from lowpass.data import GENERATORS
from lowpass.describing.page import EXAMPLE
from lowpass.describing.parameters import generators, stages
from lowpass.describing.probing import accepted, examples, optional, sections, ways
from lowpass.describing.schema import schema
from lowpass.plan.sweep import expand
from lowpass.registry import Refusal
from lowpass.spec.base import build
from lowpass.spec.config import Config

from .mutants import Mutator

ROOT = Path(__file__).parents[2]
README = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.S)
BASE = """\
seed: 7
experiments:
  tokens:
    why: Two temperatures.
    data: {generator: gaussian, n_tokens: 8, d_model: 4}
    attention: {beta: [1, 3], kernel: softmax, depth: 4}
    spectra: [slem, min_attention]
    replicates: 20
"""
# Of many examples that differ in little.
SOME = 8
TABLE = "{generator: series, path: a.csv, key: year, value: flow}"
WHOLE = {
    "paper": (ROOT / "config/paper.yaml").read_text("utf-8"),
    "smoke": (ROOT / "config/smoke.yaml").read_text("utf-8"),
    "README": README[0],
    "page": EXAMPLE,
    "base": BASE,
}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema())


def refusal(config: Any) -> str:
    """Give the words by which a configuration is refused, none where it is read."""
    try:
        read = build(Config, config, "here")
        if not read.experiments:
            return "empty"
        for section in read.experiments.values():
            expand(section.model_dump(), "here")
    except Refusal as refused:
        return str(refused)
    return ""


def alone(section: dict[str, Any]) -> dict[str, Any]:
    """Give a configuration of one experiment."""
    return {"seed": 1, "experiments": {"a": {"why": "", **section}}}


@cache
def kinds() -> list[dict[str, Any]]:
    """Give an experiment of each kind, in a configuration of its own: generator and parts."""
    read = {
        (generator, *sorted(section)): section
        for generator, found in accepted().items()
        for section in found
    }
    return [alone(section) for section in read.values()]


def singles() -> list[dict[str, Any]]:
    """Give experiments in configurations of their own: those of files, and one of each kind."""
    whole = [yaml.safe_load(text)["experiments"].values() for text in WHOLE.values()]
    return [*map(alone, itertools.chain(*whole)), *kinds()]


# Laws.


def test_the_schema_is_one(validator):
    validator.check_schema(validator.schema)
    assert validator.schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_reference_leads_to_a_definition_and_every_definition_is_used(validator):
    used = set(re.findall(r"'\$ref': '#/\$defs/([^']+)'", str(validator.schema)))
    assert used == set(validator.schema["$defs"])


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_configuration_of_the_project_is_accepted(text, validator):
    config = yaml.safe_load(text)
    assert refusal(config) == ""
    assert [error.message for error in validator.iter_errors(config)] == []


def test_a_configuration_names_the_schema_on_its_first_line():
    for path in sorted((ROOT / "config").glob("*.yaml")):
        first = path.read_text("utf-8").splitlines()[0]
        _, mark, place = first.partition("# yaml-language-server: $schema=")
        assert mark
        assert (path.parent / place).resolve() == ROOT / "workflow/schemas/config.schema.json"


def names_of_registries() -> list[tuple[str, str, str]]:
    return [
        (stage, name, choice)
        for stage, read in stages().items()
        for name, field in read.fields.items()
        for choice in field.get("enum", field.get("items", {}).get("enum", []))
    ]


@pytest.mark.parametrize(("stage", "name", "choice"), names_of_registries())
def test_every_name_in_a_registry_is_accepted(stage, name, choice, validator):
    """By itself and in a sweep, wherever what reads the configuration accepts it."""
    for config in kinds():
        (section,) = config["experiments"].values()
        if stage in section:
            for value in (choice, [choice]):
                changed = copy.deepcopy(config)
                (part,) = changed["experiments"].values()
                if isinstance(part[stage], dict):
                    part[stage][name] = value
                else:
                    part[stage] = [choice]
                assert refusal(changed) != "" or validator.is_valid(changed)
    assert choice in str(validator.schema)


@pytest.mark.parametrize("generator", GENERATORS)
def test_what_may_stand_beside_a_generator_is_what_may(generator, validator):
    """Of every set of parts: what is read is valid, and of a set never read nothing is."""
    data = list(examples("data", generators()[generator], {"generator": generator}))
    known = {name: ways(name, read) for name, read in stages().items()}
    for count in range(len(optional()) + 1):
        for chosen in itertools.combinations(optional(), count):
            parts = {part: known.get(part, [1]) for part in chosen}
            read = [each for each in accepted()[generator] if set(each) == {"data", *chosen}]
            tried = read or list(sections(data, parts))
            some = tried[:: 1 + len(tried) // SOME]
            assert {validator.is_valid(alone(each)) for each in some} == {bool(read)}, chosen


# Faults.

FAULTS = {
    "a misspelt part of the file": ("seed: 7", "sede: 7"),
    "a seed that is text": ("seed: 7", "seed: seven"),
    "a negative seed": ("seed: 7", "seed: -7"),
    "no experiments": (BASE[8:], "experiments: {}"),
    "a name with capitals": ("  tokens:", "  Tokens:"),
    "a name that is a rule": ("  tokens:", "  data:"),
    "a long name": ("  tokens:", f"  {'x' * 61}:"),
    "no reason": ("    why: Two temperatures.\n", ""),
    "a misspelt part": ("    attention:", "    atention:"),
    "an unknown generator": ("gaussian", "gausian"),
    "no generator": ("generator: gaussian, ", ""),
    "a parameter of another generator": ("d_model: 4", "d_model: 4, contrast: 1"),
    "a parameter of no generator": ("d_model: 4", "d_modl: 4"),
    "a missing parameter of the generator": (", d_model: 4", ""),
    "no tokens": ("n_tokens: 8", "n_tokens: 0"),
    "half a token": ("n_tokens: 8", "n_tokens: 8.5"),
    "observations for attention": ("{generator: gaussian, n_tokens: 8, d_model: 4}", TABLE),
    "a kernel that is none": ("softmax", "sofmax"),
    "a kernel in a sweep that is none": ("softmax", "[softmax, sofmax]"),
    "an unknown parameter": ("kernel:", "kernl:"),
    "a missing parameter": (", depth: 4", ""),
    "a negative temperature": ("[1, 3]", "-1"),
    "a number in quotes": ("[1, 3]", "'1'"),
    "true for a number": ("[1, 3]", "true"),
    "an empty sweep": ("[1, 3]", "[]"),
    "a value that stands twice": ("[1, 3]", "[1, 1]"),
    "a sweep of lists": ("[1, 3]", "[[1, 3]]"),
    "a mapping for a number": ("[1, 3]", "{low: 1}"),
    "nothing for a number": ("n_tokens: 8", "n_tokens:"),
    "an unknown choice": ("depth: 4", "depth: 4, arithmetic: float16"),
    "a layer below zero": ("depth: 4", "depth: 4, record: [0, -1]"),
    "a record that is none": ("depth: 4", "depth: 4, record: some"),
    "an unknown measure": ("slem", "slme"),
    "a measure twice": ("slem,", "slem, slem,"),
    "no measure": ("[slem, min_attention]", "[]"),
    "a measure without a list": ("[slem, min_attention]", "slem"),
    "no spectra": ("    spectra: [slem, min_attention]\n", ""),
    "no replicates": ("    replicates: 20\n", ""),
    "zero replicates": ("replicates: 20", "replicates: 0"),
    "smoothing beside attention": (
        "    replicates: 20\n",
        "    replicates: 20\n"
        "    smoothing: {study: selection, bandwidths: {low: 1, high: 2, count: 3}}\n",
    ),
    "neither": ("    attention: {beta: [1, 3], kernel: softmax, depth: 4}\n", ""),
    "a single value inside": ("replicates: 20", "replicates: 20\n    inside: [kernel]"),
    "something inside that is nothing": ("replicates: 20", "replicates: 20\n    inside: [bet]"),
    "depth inside": ("depth: 4}", "depth: [4, 5]}\n    inside: [depth]"),
    "the same inside twice": ("replicates: 20", "replicates: 20\n    inside: [beta, beta]"),
    "inside without a list": ("replicates: 20", "replicates: 20\n    inside: beta"),
}  # fmt: skip
CASES = {
    "a case without labels": "{case: {attention.beta: [1, 2]}}",
    "labels without a parameter": "{case: {label: [a, b]}}",
    "a label twice": "{case: {label: [a, a], attention.beta: [1, 2]}}",
    "a label that is a number": "{case: {label: [1, 2], attention.beta: [1, 2]}}",
    "a name with capitals": "{Case: {label: [a, b], attention.beta: [1, 2]}}",
    "a stage that is none": "{case: {label: [a, b], atention.beta: [1, 2]}}",
    "a parameter that is none": "{case: {label: [a, b], attention.bet: [1, 2]}}",
    "a parameter without a stage": "{case: {label: [a, b], beta: [1, 2]}}",
    "a value out of its domain": "{case: {label: [a, b], attention.beta: [1, -2]}}",
    "a list in a list": "{case: {label: [a, b], attention.beta: [1, [2]]}}",
    "no list": "{case: {label: [a, b], attention.beta: 1}}",
    "a list of cases": "[case]",
    "a parameter that nobody gives": "{case: {label: [a, b], attention.kernel: [softmax, signed]}}",
}


@pytest.mark.parametrize(("old", "new"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_refused_by_both(old, new, validator):
    assert BASE.count(old) == 1
    config = yaml.safe_load(BASE.replace(old, new))
    assert refusal(config) != ""
    assert not validator.is_valid(config)


@pytest.mark.parametrize("zipped", CASES.values(), ids=CASES)
def test_a_fault_in_cases_is_refused_by_both(zipped, validator):
    text = BASE.replace(
        "{beta: [1, 3], kernel: softmax, depth: 4}", f"{{depth: 4}}\n    zip: {zipped}"
    )
    good = "{case: {label: [a, b], attention.beta: [1, 2]}}"
    config = yaml.safe_load(text)
    assert validator.is_valid(yaml.safe_load(text.replace(zipped, good)))
    assert refusal(config) != ""
    assert not validator.is_valid(config)


# Mutants.


@pytest.fixture(scope="module")
def judged(validator) -> list[tuple[dict[str, Any], str, bool]]:
    """Judge mutants by both."""
    rng = np.random.default_rng(20261129)
    mutator, bases = Mutator(rng), singles()
    made = [mutator.mutant(bases[rng.integers(len(bases))]) for _ in range(3000)]
    return [(config, refusal(config), validator.is_valid(config)) for config in made]


def test_what_is_read_is_never_rejected(judged):
    read = [(config, valid) for config, words, valid in judged if not words]
    assert len(read) > len(judged) / 20
    assert [config for config, valid in read if not valid] == []


def test_nearly_everything_that_is_refused_is_rejected(judged):
    """What is left are ties between values: lists of one length, depths beside measures."""
    words = [(words, valid) for _, words, valid in judged if words]
    passed = [each for each, valid in words if valid]
    assert len(words) > len(judged) / 2
    assert len(passed) < len(words) / 20
