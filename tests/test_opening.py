"""An experiment opens by its name from anywhere, or one line says why it would mislead."""

from __future__ import annotations

import json
import re
import shutil

import pytest
import xarray as xr

import lowpass
from lowpass import store
from lowpass.figures.names import FIGURES
from lowpass.labels import DIMENSIONS, VARIABLES
from lowpass.records import SCHEMA, NewerRecord
from lowpass.registry import Refusal

from .results_tree import CONFIG, edit_value, forge, keeping_times

NAME = "dc-limit"


@pytest.fixture(scope="module")
def whole(grown):
    """Take the project, which nobody changes."""
    return grown


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder that has nothing to do with the project, as a notebook does."""
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")


@pytest.fixture
def opened(whole, elsewhere, monkeypatch):
    """Open what nobody has touched."""
    monkeypatch.setattr("lowpass.opening.ROOT", whole.root)
    return lowpass.open(NAME)


@pytest.fixture
def tree(whole, elsewhere, tmp_path, monkeypatch):
    """Copy the whole project, to be edited."""
    copied = whole.copy_all(tmp_path / "project")
    monkeypatch.setattr("lowpass.opening.ROOT", copied.root)
    return copied


def edit(tree, path: str, old: str, new: str) -> None:
    """Replace a text that stands in a file once."""
    text = (tree.root / path).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (tree.root / path).write_text(text.replace(old, new), encoding="utf-8")


def configure(tree, **changes) -> None:
    """Change the parameters of the experiment's attention."""
    config = json.loads((tree.root / CONFIG).read_text())
    config["experiments"][NAME]["attention"] |= changes
    (tree.root / CONFIG).write_text(json.dumps(config))


# What is opened.


def test_an_experiment_is_what_its_file_holds(opened, whole):
    assert opened.identical(store.read(whole.file("experiment", NAME)))
    assert json.loads(opened.attrs["record"])["key"] == whole.of("experiment", NAME).key


def test_every_variable_says_what_it_is(opened):
    for name in ("slem", "log10_hc_dc_ratio"):
        card = VARIABLES[name]
        assert opened[name].attrs == {
            "symbol": card.symbol, "long_name": card.long_name, "units": card.units
        }  # fmt: skip
    assert opened["layer"].attrs["long_name"] == DIMENSIONS["layer"].long_name


def test_a_run_is_selected_by_its_parameter(opened):
    assert opened["slem"].dims == ("beta", "replicate")
    assert opened["beta"].attrs["parameter"] == "attention.beta"
    assert opened["slem"].sel(beta=3).sizes == {"replicate": 11}


def test_a_figure_and_a_notebook_read_the_same(opened, whole):
    assert NAME in FIGURES.facts("decay")["experiments"]
    (shown,) = whole.of("figures", "decay").parents
    assert opened.identical(store.read(whole.root / shown.path))


def test_results_of_another_folder_are_opened_from_there(tree):
    (tree.root / "trial").mkdir()
    shutil.move(tree.root / "results", tree.root / "trial/results")
    assert isinstance(lowpass.open(NAME, folder="trial"), xr.Dataset)


def test_what_an_experiment_was_made_from_may_be_gone(tree):
    for stage in ("spectra", "attention", "data"):
        shutil.rmtree(tree.root / "results" / stage)
    assert isinstance(lowpass.open(NAME), xr.Dataset)


def test_edits_that_cannot_matter_are_none(tree):
    edit(tree, "src/lowpass/kernels.py", '"""Exponentiate each row', '"""Take the exponential')
    edit(
        tree,
        "src/lowpass/kernels.py",
        "    return weight / total\n",
        "    return weight / +total\n",
    )
    assert isinstance(lowpass.open(NAME), xr.Dataset)


def test_other_libraries_are_no_reason_not_to_read(tree, monkeypatch):
    monkeypatch.setattr("lowpass.fingerprint._version", lambda name: "0.0")
    assert isinstance(lowpass.open(NAME), xr.Dataset)


def test_another_python_reads_without_comparing_code(tree):
    """It reads the code in another way, so a difference would mean nothing."""
    for path in tree.root.glob("results/*/*.nc"):
        forge(path, lambda record: record["versions"].update(python="3.9.1"), seal_again=True)
    edit(tree, "src/lowpass/kernels.py", "weight = np.exp(scores", "weight = +np.exp(scores")
    for stage in ("spectra", "attention", "data"):
        shutil.rmtree(tree.root / "results" / stage)
    assert isinstance(lowpass.open(NAME), xr.Dataset)


# What is refused.


def test_a_name_that_no_experiment_has_is_refused(tree):
    with pytest.raises(
        Refusal,
        match=rf"^{CONFIG}: no experiment is called 'dc-limt'; did you mean 'dc-limit'\? "
        r"Known: dc-limit, many, nile\.$",
    ):
        lowpass.open("dc-limt")


def test_a_configuration_that_is_not_there_is_named(tree):
    with pytest.raises(Refusal, match=r"^mine\.yaml: there is no such file; check the path"):
        lowpass.open(NAME, "mine.yaml")


@pytest.mark.parametrize(
    ("config", "folder", "command"),
    [
        (CONFIG, ".", "snakemake dc-limit"),
        (CONFIG, "trial", "snakemake dc-limit --directory trial"),
        ("mine.yaml", ".", "snakemake dc-limit --configfile mine.yaml"),
        ("my own.yaml", "a b", "snakemake dc-limit --directory 'a b' --configfile 'my own.yaml'"),
    ],
)
def test_what_has_not_been_run_is_told_with_the_command(config, folder, command, tree):
    if config != CONFIG:
        shutil.copy(tree.root / CONFIG, tree.root / config)
    shutil.rmtree(tree.root / "results")
    place = re.escape(str(tree.root / folder / "results/experiment/dc-limit~"))
    with pytest.raises(
        Refusal,
        match=rf"^{config}: experiments\.dc-limit: has not been run \({place}[0-9a-f]{{12}}\.nc is "
        rf"not there\); type '\.venv/bin/{command}' in {tree.root}\.$",
    ):
        lowpass.open(NAME, config, folder=folder)


def test_what_was_run_with_other_parameters_is_told(tree):
    there = tree.file("experiment", NAME)
    configure(tree, beta=[1, 4])
    with pytest.raises(
        Refusal,
        match=rf"^{CONFIG}: experiments\.dc-limit: has not been run as it now stands \({there} has "
        rf"other parameters\); type '\.venv/bin/snakemake dc-limit' in {tree.root}\.$",
    ):
        lowpass.open(NAME)


def test_an_edited_experiment_is_refused(tree):
    keeping_times(tree.file("experiment", NAME), edit_value)
    with pytest.raises(Refusal, match=r"dc-limit~.*: content differs from its own record; it was"):
        lowpass.open(NAME)


@pytest.mark.parametrize(
    ("path", "term", "stage"),
    [
        ("kernels.py", "np.exp(scores - scores.max", "attention"),
        ("data.py", "rng.standard_normal((n_tokens, d_model))", "data"),
        # What an experiment holds is measured by the spectra, so their code is its own too.
        ("measures/matrices.py", "of_matrices(mixing(trajectory), eigen.slem)", "experiment"),
    ],
)
def test_results_of_older_code_are_refused(path, term, stage, tree):
    edit(tree, f"src/lowpass/{path}", term, f"+{term}")
    with pytest.raises(
        Refusal,
        match=rf"^{tree.file('experiment', NAME)}: results/{stage}/\S+\.nc was made by other code "
        r"than is here, so its numbers may not be what this code computes; type '\.venv/bin/"
        rf"snakemake dc-limit' in {tree.root}, or read the file as it is with "
        r"xarray\.open_dataset\.$",
    ):
        lowpass.open(NAME)


@pytest.mark.parametrize(("stage", "child"), [("attention", "spectra"), ("spectra", "experiment")])
def test_a_run_that_stopped_half_way_leaves_an_experiment_of_older_parts(stage, child, tree):
    """The parts are made anew, and what is made from them is not."""
    path = tree.file(stage, "softmax_beta-3")
    forge(path, lambda record: record.update(remade=True), seal_again=True)
    with pytest.raises(
        Refusal,
        match=rf"results/{child}/\S+ was not made from {tree.of(stage, 'softmax_beta-3').path} as "
        r"it now is, so its numbers may not",
    ):
        lowpass.open(NAME)


def test_an_experiment_of_later_code_is_refused(tree):
    path = tree.file("experiment", NAME)
    forge(path, lambda record: record.update(schema=SCHEMA + 1), seal_again=False)
    with pytest.raises(NewerRecord, match=rf"^{path}: its record has the schema {SCHEMA + 1} and"):
        lowpass.open(NAME)
