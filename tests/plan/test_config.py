"""What YAML would let pass: read once, as text, in base 10, or refused with its line."""

from __future__ import annotations

import pytest

from lowpass.plan import load
from lowpass.registry import Refusal

from ..configurations import NAME, TABLE_LINE, TEXT, TOKENS_LINE, edited, planned

ATTENTION = "{beta: [1, 3], depth: 4}"
ATTENTION_LINE = TOKENS_LINE + 3
AT = rf"^mine\.yaml: line {ATTENTION_LINE}: "


def test_a_configuration_is_read_as_it_stands(tmp_path):
    (tmp_path / NAME).write_text(TEXT, encoding="utf-8")
    read = load(tmp_path / NAME, NAME)
    assert read.seed == 7
    assert [*read.experiments] == ["tokens", "table"]
    assert read.experiments["tokens"].attention == {"beta": [1, 3], "depth": 4}
    assert read.experiments["table"].smoothing == {
        "study": "selection",
        "bandwidths": {"low": 0.5, "high": 50, "count": 9},
    }


# Names that stand twice.


def test_two_experiments_of_one_name_are_found_on_their_lines(tmp_path):
    with pytest.raises(
        Refusal,
        match=rf"^mine\.yaml: 'tokens' is written twice, on lines {TOKENS_LINE} and {TABLE_LINE}; "
        r"YAML would silently keep the second, so rename or delete one\.$",
    ):
        planned(edited(("  table:", "  tokens:")), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed: 7", "seed: 7\nseed: 8", "'seed' is written twice, on lines 1 and 2"),
        (
            "    replicates: 20",
            "    replicates: 20\n    why: Again.",
            rf"'why' is written twice, on lines {TOKENS_LINE + 1} and {TOKENS_LINE + 6}",
        ),
        ("depth: 4", "depth: 4, depth: 4", f"'depth' is written twice, on line {ATTENTION_LINE}"),
        ("depth: 4", "depth: 4, 'depth': 4", f"'depth' is written twice, on line {ATTENTION_LINE}"),
        ("low: 0.5", "low: 0.5, low: 1", f"'low' is written twice, on line {TABLE_LINE + 3}"),
        (
            "[slem, min_attention]",
            "[{a: 1, a: 2}]",
            f"'a' is written twice, on line {TOKENS_LINE + 4}",
        ),
    ],
)
def test_a_name_stands_once_at_every_depth(old, new, message, tmp_path):
    with pytest.raises(Refusal, match=rf"^mine\.yaml: {message}; YAML would silently keep"):
        planned(edited((old, new)), tmp_path)


# What else YAML lets pass.


@pytest.mark.parametrize(
    ("new", "name"),
    [
        ("&all {beta: 1, depth: 4}", "&all"),
        ("{beta: &one 1, depth: 4}", "&one"),
        ("{beta: *one, depth: 4}", r"\*one"),
        ("{<<: {beta: 1}, depth: 4}", "<<"),
    ],
)
def test_every_value_stands_where_it_counts(new, name, tmp_path):
    with pytest.raises(
        Refusal,
        match=AT + f"'{name}' hides where a value comes from; write the value out at each place",
    ):
        planned(edited((ATTENTION, new)), tmp_path)


@pytest.mark.parametrize(
    ("new", "name"),
    [
        ("{3: 4, beta: 1}", "3"),
        ("{true: 4, beta: 1}", "true"),
        ("{yes: 4, beta: 1}", "yes"),
        ("{~: 4, beta: 1}", "~"),
        ("{[a]: 4, beta: 1}", "a list or mapping"),
    ],
)
def test_a_name_is_text(new, name, tmp_path):
    with pytest.raises(Refusal, match=AT + f"{name} stands where a name belongs; names are text"):
        planned(edited((ATTENTION, new)), tmp_path)


@pytest.mark.parametrize(
    ("written", "read"), [("010", "8"), ("-010", "-8"), ("1:30", "90"), ("1:30.5", "90.5")]
)
def test_a_number_is_read_in_base_10_or_not_at_all(written, read, tmp_path):
    with pytest.raises(
        Refusal,
        match=AT + rf"{written} is {read} in YAML 1\.1, which reads it in another base; write the",
    ):
        planned(edited((ATTENTION, f"{{beta: {written}, depth: 4}}")), tmp_path)


@pytest.mark.parametrize("written", ["0", "0.5", "-0.0", "10", "1_000", "1.0e-3", "1.0e+3"])
def test_ordinary_numbers_are_read(written, tmp_path):
    path = tmp_path / NAME
    path.write_text(edited((ATTENTION, f"{{beta: {written}, depth: 4}}")), encoding="utf-8")
    assert load(path, NAME).experiments["tokens"].attention["beta"] == float(written)


# What is no configuration.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty, so nothing would run; write 'seed:' and 'experiments:'"),
        ("# Only a comment.\n", "is empty, so nothing would run"),
        ("- a\n- b\n", r"holds \['a', 'b'\] and no names, so nothing would run"),
        ("seed", "holds 'seed' and no names, so nothing would run"),
        ("seed: 7\n", "experiments: is not given and has no default; write a value for it"),
        ("seed: 7\nexperiments:\n", "experiments: nothing is not a mapping; write names with"),
        ("seed: 7\nexperiments: {}\n", "experiments: is empty, so nothing would run; describe"),
        ("seed: 7\nexperiments: [a]\n", r"experiments: \['a'\] is not a mapping; write names"),
        ("seed: 7\nexperiments: {a: 1}\n", r"experiments\.a: 1 is not a mapping; write names with"),
        (f"{TEXT}name\n", "is not YAML on line 14: .*; correct it there"),
        (edited(("depth: 4}", "depth: 4")), "is not YAML on line 7: .*; correct it there"),
        (edited(("    why: Two", "\twhy: Two")), "is not YAML on line 4: .*; correct it there"),
        (edited(("why: Two", "why: a: Two")), "is not YAML on line 4: .*; correct it there"),
        (f"{TEXT}---\n{TEXT}", "is not YAML on line 13: .*; correct it there"),
        (edited(("depth: 4", "depth: !layers 4")), "is not YAML on line 6: .*; correct it there"),
        ("seed: \x00\n", "is not YAML: .*; correct it there"),
    ],
)
def test_what_is_no_configuration_is_told_in_one_line(text, message, tmp_path):
    with pytest.raises(Refusal, match=rf"^mine\.yaml: {message}") as caught:
        planned(text, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_file_in_another_encoding_is_refused(tmp_path):
    (tmp_path / NAME).write_bytes(TEXT.replace("Two", "Zwölf").encode("latin-1"))
    with pytest.raises(Refusal, match=r"^mine\.yaml: byte \d+ is not UTF-8 text; save the file as"):
        load(tmp_path / NAME, NAME)


def test_a_file_that_is_not_there_is_named_as_it_was_given(tmp_path):
    with pytest.raises(Refusal, match=r"^my/own\.yaml: there is no such file; check the path\.$"):
        load(tmp_path / NAME, "my/own.yaml")


def test_a_folder_is_no_configuration(tmp_path):
    with pytest.raises(Refusal, match=r"^here: cannot be read \(Is a directory\); check the path"):
        load(tmp_path, "here")


# The command line.


def test_a_value_on_the_command_line_replaces_that_of_the_file(tmp_path):
    (tmp_path / NAME).write_text(TEXT, encoding="utf-8")
    assert load(tmp_path / NAME, NAME, {"seed": 5}).seed == 5


def test_a_value_on_the_command_line_serves_where_the_file_has_none(tmp_path):
    (tmp_path / NAME).write_text(edited(("seed: 7\n", "")), encoding="utf-8")
    assert load(tmp_path / NAME, NAME, {"seed": 5}).seed == 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sede": 5}, r"sede: no parameter is called 'sede'; did you mean 'seed'\? Known here: se"),
        ({"seed": -5}, "seed: -5 is below 0, the least it can be; write 0 or more"),
        ({"seed": "five"}, "seed: 'five' is not a whole number; write one, as 3"),
        ({"seed": 1000.0}, "seed: 1000.0 is not a whole number; write one, as 3"),
        ({"seed": True}, "seed: true is not a whole number; write one, as 3"),
        ({"experiments": {"all": {}}}, r"experiments\.all: "),
    ],
)
def test_a_fault_of_the_command_line_is_told_as_such(given, message, tmp_path):
    with pytest.raises(Refusal, match=rf"^command line: {message}"):
        planned(TEXT, tmp_path, given)
