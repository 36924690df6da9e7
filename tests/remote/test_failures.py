"""The cause of a failure, from what Slurm and logs say of a job."""

from __future__ import annotations

import logging
import shlex
from pathlib import Path

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from lowpass.remote.failures import Failures, State, cause_of, state_of

REFUSAL = (
    "lowpass: results/x.nc: the code of stage 'attention' is a and not b as planned. Run again."
)
TRACE = 'Traceback (most recent call last):\n  File "x.py", line 3\nValueError: three is odd\n'
USED = "lowpass: used 231 MB and 1.84 s of processor\n"
WORDS = (
    "Memory specification can not be satisfied",
    "Batch job submission failed: Requested node configuration is not available",
)
# As the plugin for Slurm quotes it.
SBATCH = (
    f"SLURM sbatch failed. The error message was 'sbatch: error: {WORDS[0]}\nsbatch: error: "
    f"{WORDS[1]}'.\n    sbatch call:\n        sbatch --parsable"
)
# How the log of Slurm ends, where a job is a run of Snakemake's.
AFTER = (
    "RuleException:\nCalledProcessError in file x.smk, line 3:\nError in rule attention:\n"
    "WorkflowError:\n"
    "At least one job did not complete successfully.\n"
)
AWAY = (
    "srun: error: Unable to confirm allocation for job 42: Unable to contact slurm controller "
    "(connect failure)"
)
NEVER = "its program ended without a word, as it does when it is killed"


@pytest.mark.parametrize(
    ("state", "said", "cause"),
    [
        (("OUT_OF_MEMORY", "n1", "700M"), "", "out of memory, with 700M on n1"),
        (("FAILED", "n1", "700M"), "slurmstepd: error: Detected 1 oom_kill event", "out of memory"),
        (
            ("FAILED", "n1"),
            "error: Job 7 exceeded memory limit (9 > 8), being killed",
            "out of mem",
        ),
        ((), "MemoryError: Unable to allocate 8 GiB", "out of memory, with what there was"),
        (("TIMEOUT", "n2", "1G", "00:10:00"), USED, "out of time, after 00:10:00 on n2"),
        ((), "*** JOB 7 CANCELLED AT 12:00 DUE TO TIME LIMIT ***", "out of time, after its limit"),
        (("NODE_FAIL", "n1"), "", "its node failed on n1"),
        ((), "*** JOB 7 ON n1 CANCELLED AT 12:00 DUE TO NODE FAILURE", "its node failed"),
        (
            ("FAILED", "n1"),
            f"srun: error: Task launch for StepId=24.0 failed on node n1: Communication\n{AFTER}",
            "its node failed on n1",
        ),
        (("CANCELLED by 0", "None assigned"), "", "somebody or the scheduler cancelled it"),
        (("FAILED", "n1"), f"{REFUSAL}\n{USED}", f"it refused: {REFUSAL[9:-1]}"),
        (("FAILED", "n1"), f"{TRACE}{USED}", "an error of the program: ValueError: three is odd"),
        (("FAILED", "n1"), f"{TRACE}{AFTER}", "an error of the program: ValueError: three is odd"),
        ((), "numpy.linalg.LinAlgError: it is singular", "an error of the program: numpy.linalg."),
        (("FAILED", "n1"), "", NEVER),
        (("FAILED", "n2"), f"{AWAY}\n{AFTER}", "Slurm's controller did not answer on n2"),
        ((), f"The error message was 'sbatch: error: {AWAY}'", "Slurm's controller did not answer"),
        ((), SBATCH, f"Slurm did not take it: {WORDS[0]}; {WORDS[1]}"),
        ((), "token 3 of 9, 4 s left\n", NEVER),
    ],
)
def test_a_cause_is_found(state, said, cause):
    assert cause_of(State(*state), said).startswith(cause)


def test_what_slurm_says_counts_more_than_what_a_job_said_before_it_was_ended():
    assert cause_of(State("TIMEOUT", "n1", "1G", "00:01:00"), TRACE).startswith("out of time")


def test_slurm_is_asked_for_the_job_itself(slurm):
    row = "OUT_OF_MEMORY|n1|700M|00:10:00"
    slurm(sacct=f'[ "$2" = 7 ] && [ "$3" = -X ] && echo {shlex.quote(row)}')
    assert state_of("7") == State("OUT_OF_MEMORY", "n1", "700M", "00:10:00")


@pytest.mark.parametrize("sacct", ["exit 1", "exit 0"])
def test_where_slurm_keeps_no_accounts_nothing_is_known(slurm, sacct):
    slurm(sacct=sacct)
    assert state_of("7") == state_of(None) == State()


# In the words of Snakemake's records.


def record(event: LogEvent, **extra) -> logging.LogRecord:
    """Make a record as Snakemake makes it."""
    made = logging.LogRecord("snakemake", logging.ERROR, "", 0, "Error", None, None)
    made.__dict__.update(event=event, **extra)
    return made


def failed(product: Path, log: Path, **extra) -> logging.LogRecord:
    """Make the record of a failed job."""
    words = {"rule_name": "attention", "rule_msg": None, "indent": False, "aux": {}}
    return record(LogEvent.JOB_ERROR, output=[str(product)], log=[str(log)], **{**words, **extra})


@pytest.fixture
def job(here: Path) -> tuple[Path, Path]:
    """Name a product that is not there, and write a log."""
    (here / "job.log").write_text(TRACE, encoding="utf-8")
    return here / "x.nc", here / "job.log"


def test_the_record_of_a_failed_job_says_why(job):
    made = failed(*job, rule_msg="For details see the log.")
    assert Failures().filter(made)
    assert made.rule_msg == (
        f"lowpass: {job[0]}: an error of the program: ValueError: three is odd. "
        "For details see the log."
    )


def test_a_product_that_names_itself_is_named_once(job):
    job[1].write_text(f"lowpass: {job[0]}: its code was edited. Run again.\n", encoding="utf-8")
    made = failed(*job)
    Failures().filter(made)
    assert made.rule_msg == f"lowpass: {job[0]}: it refused: its code was edited. Run again."


def test_words_that_only_snakemake_has_are_heard(job):
    made = failed(job[0], job[0].with_name("none.log"), rule_msg=SBATCH)
    Failures().filter(made)
    assert made.rule_msg.startswith(f"lowpass: {job[0]}: Slurm did not take it: {WORDS[0]}; ")


def test_other_records_pass_as_they_are(here):
    made = record(LogEvent.JOB_FINISHED, job_id=1)
    before = {**made.__dict__}
    plain = logging.LogRecord("snakemake", logging.INFO, "", 0, "words", None, None)
    assert Failures().filter(made)
    assert Failures().filter(plain)
    assert made.__dict__ == before


def test_the_end_tells_what_is_not_there_how_often_it_failed_and_what_to_type(job, slurm, capsys):
    slurm(sacct="echo 'OUT_OF_MEMORY|n1|700M|00:10:00'")
    failures = Failures()
    there = job[0].with_name("there.nc")
    there.touch()
    for product in (job[0], job[0], there):
        failures.filter(failed(product, job[1], aux={"external_jobid": "7"}))
    failures.tell()
    assert capsys.readouterr().err == (
        f"lowpass: {job[0]}: out of memory, with 700M on n1 (2 times). Give it more, and run "
        "again: --set-resources attention:mem_mb=MEGABYTES.\n"
    )


def test_the_jobs_of_a_group_share_what_slurm_says_of_it(job, slurm):
    slurm(sacct='[ "$2" = 9 ] && echo "TIMEOUT|n2|1G|00:01:00"')
    failures, made = Failures(), failed(*job, indent=True)
    failures.filter(record(LogEvent.GROUP_ERROR, external_jobid="9", aux_logs=["no.log"]))
    failures.filter(made)
    assert "out of time, after 00:01:00 on n2" in made.rule_msg
