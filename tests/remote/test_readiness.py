"""What is said where jobs cannot be sent."""

from __future__ import annotations

import getpass
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from lowpass.registry import Refusal
from lowpass.remote.readiness import given_to_all, refuse_unready, sent_by_slurm

PROFILE = "profiles/slurm/config.yaml"
GIVEN = {"slurm_account": "physics", "slurm_partition": "long"}
# What Slurm says, an account once for each partition it is good for.
KNOWN = {"sbatch": "", "sacctmgr": "printf 'physics\\nmaths\\nphysics\\n'", "sinfo": "echo long"}


def refused(**given: str) -> str:
    """Give what is said of default resources."""
    with pytest.raises(Refusal) as caught:
        refuse_unready("slurm", given)
    return str(caught.value)


def test_what_slurm_knows_is_not_refused(slurm):
    slurm(**KNOWN)
    refuse_unready("slurm", GIVEN)


def test_where_no_job_can_be_sent_the_machine_is_named(slurm):
    slurm(sinfo="echo long")
    assert refused(**GIVEN) == (
        f"{PROFILE}: there is no sbatch on PATH, so no job can be sent to Slurm; start the run on "
        "a machine that has it, or here without --profile (without PROFILE=)."
    )


@pytest.mark.parametrize("value", [{}, {"slurm_account": ""}])
def test_a_missing_account_is_told_with_the_line_to_add(slurm, value):
    slurm(**KNOWN)
    assert refused(**value) == (
        f"{PROFILE}: no account is given, so no job can be sent; add below default-resources the "
        "line '  slurm_account: maths' (there is maths, physics)."
    )


def test_a_missing_partition_is_told_with_the_line_to_add(slurm):
    slurm(**KNOWN)
    assert refused(slurm_account="maths") == (
        f"{PROFILE}: no partition is given, so no job can be sent; add below default-resources "
        "the line '  slurm_partition: long' (there is long)."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"slurm_account": "fysics"}, f"Slurm lists no account 'fysics' for {getpass.getuser()}"),
        ({"slurm_partition": "short"}, f"Slurm lists no partition 'short' for {getpass.getuser()}"),
    ],
)
def test_what_slurm_does_not_know_is_told_with_what_it_knows(slurm, given, said):
    slurm(**KNOWN)
    message = refused(**{**GIVEN, **given})
    assert message.startswith(f"{PROFILE}: {said}; correct the line '  slurm_")
    assert message.endswith(("(there is maths, physics).", "(there is long)."))


def test_where_slurm_keeps_no_accounts_any_is_taken_but_one_is_asked_for(slurm):
    slurm(sbatch="", sacctmgr="exit 1", sinfo="exit 1")
    refuse_unready("slurm", GIVEN)
    assert "the line '  slurm_account: NAME'." in refused()


PROFILES = Path(__file__).parents[2] / "profiles"
OWN = yaml.safe_load((PROFILES / "cluster-generic/config.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("executor", "command", "by_slurm"),
    [
        ("slurm", None, True),
        ("cluster-generic", OWN["cluster-generic-submit-cmd"], True),
        ("cluster-generic", "qsub -V -r n -A physics -q long", False),
        ("cluster-generic", "./sbatching -q long", False),
        ("lsf", None, False),
    ],
)
def test_slurm_is_asked_for_only_where_it_sends_the_jobs(executor, command, by_slurm):
    settings = SimpleNamespace(submit_cmd=command) if command else None
    workflow = SimpleNamespace(
        executor_plugin=SimpleNamespace(name=executor), executor_settings=settings
    )
    assert sent_by_slurm(workflow) is by_slurm


def test_resources_are_read_as_they_were_written():
    from snakemake.resources import Resources

    words = ["slurm_account=physics", "slurm_partition='long'"]
    for given in (Resources.parse(words, allow_expressions=True), {**GIVEN}):
        workflow = SimpleNamespace(resource_settings=SimpleNamespace(default_resources=given))
        assert GIVEN.items() <= given_to_all(workflow).items()
    workflow = SimpleNamespace(resource_settings=SimpleNamespace(default_resources=None))
    assert given_to_all(workflow) == {}
