"""The shape of a configuration, and names that would not work as targets, files or dimensions."""

from __future__ import annotations

import pytest

from lowpass.registry import Refusal
from lowpass.spec.base import build
from lowpass.spec.config import LONGEST_NAME, TAKEN, Config, Section

from ..configurations import adding, edited, planned, zipping


@pytest.mark.parametrize("name", ["a", "dc-limit", "e1", "a--b", "x" * LONGEST_NAME])
def test_a_lower_case_word_names_an_experiment(name, tmp_path):
    assert name in planned(edited(("  tokens:", f"  {name}:")), tmp_path).experiments


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_a_rule_or_target_names_no_experiment(name, tmp_path):
    with pytest.raises(
        Refusal,
        match=rf"^mine\.yaml: experiments\.{name}: '{name}' is a rule or target of the workflow "
        rf"already, .* rename the experiment, as '{name}-runs'\.$",
    ):
        planned(edited(("  tokens:", f"  {name}:")), tmp_path)


@pytest.mark.parametrize(
    "name",
    ["Tokens", "to_kens", "to kens", "-tokens", "1st", "a/b", "a~b", "a.b", "ä", "x" * 61],
)
def test_other_names_could_not_be_targets_and_files(name, tmp_path):
    with pytest.raises(
        Refusal,
        match=rf"^mine\.yaml: experiments\.{name}: '{name}' cannot be a target and a file name; "
        rf".*at most 60 of them\. Rename it\.$",
    ):
        planned(edited(("  tokens:", f"  {name}:")), tmp_path)


def test_a_name_cannot_end_in_a_line_break(tmp_path):
    with pytest.raises(Refusal, match=r"'tokens\\n' cannot be a target and a file name"):
        planned(edited(("  tokens:", r'  "tokens\n":')), tmp_path)


@pytest.mark.parametrize("name", ["Case", "my-case", "1st", "a.b"])
def test_a_zipped_dimension_has_a_name_that_an_expression_can_use(name, tmp_path):
    columns = zipping("label: [a, b], attention.beta: [1, 2]")
    with pytest.raises(
        Refusal,
        match=rf"^mine\.yaml: experiments\.tokens\.zip\.{name}: '{name}' cannot name a dimension "
        rf"of a dataset; .* Rename it\.$",
    ):
        planned(edited(columns).replace("case:", f"{name}:"), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seed: 7", "sede: 7"), r"sede: no parameter is called 'sede'; did you mean 'seed'\?"),
        (adding("    insid: [beta]\n"), r"experiments\.tokens\.insid: .*did you mean 'inside'\?"),
        (("    attention:", "    atention:"), r"experiments\.tokens\.atention: .*'attention'\?"),
        (("seed: 7\n", ""), "seed: is not given and has no default; write a value for it"),
        (("seed: 7", "seed: -1"), "seed: -1 is below 0, the least it can be; write 0 or more"),
        (("seed: 7", "seed: seven"), "seed: 'seven' is not a whole number; write one, as 3"),
        (("    why: Real input.\n", ""), r"experiments\.table\.why: is not given and has no def"),
        (("replicates: 20", "replicates: 0"), r"experiments\.tokens\.replicates: 0 is below 1"),
        (("replicates: 20", "replicates: -3"), r"experiments\.tokens\.replicates: -3 is below 1"),
        (("[slem, min_attention]", "slem"), r"experiments\.tokens\.spectra: 'slem' is not a list"),
        (adding("    inside: beta\n"), r"experiments\.tokens\.inside: 'beta' is not a list"),
        (adding("    zip: [case]\n"), r"experiments\.tokens\.zip: \['case'\] is not a mapping"),
        (zipping("label: a"), r"experiments\.tokens\.zip\.case\.label: 'a' is not a list; write"),
    ],
)
def test_a_fault_of_shape_is_told_with_its_key_path(change, message, tmp_path):
    with pytest.raises(Refusal, match=f"^mine.yaml: {message}"):
        planned(edited(change), tmp_path)


def test_what_a_section_leaves_out_is_nothing_or_empty():
    section = build(Section, {"why": "x", "data": {}}, "here")
    assert section.model_dump(exclude={"why", "data"}) == {
        "attention": None,
        "diffusion": None,
        "smoothing": None,
        "spectra": None,
        "replicates": None,
        "inside": [],
        "zip": {},
    }


def test_every_parameter_of_the_configuration_says_what_it_is():
    fields = {**Config.model_fields, **Section.model_fields}
    assert [name for name, field in fields.items() if not field.description] == []
