"""Code, configuration or a file edited while a run is in progress: never a false record.

A run on one core is watched until its first new trajectory appears; then a hand edits, and
the run goes on with what it planned, or refuses.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import netCDF4
import pytest

from lowpass import usage
from lowpass.provenance import record_in
from lowpass.records import canonical
from lowpass.store import read

from .project import Finished, Project, outputs_in

KERNELS = "src/lowpass/kernels.py"
# Other code of the same length, so that neither size nor a restored time gives the edit away,
# and of the same meaning, so that it can run.
SOFTMAX = (
    "weight / weight.sum(axis=-1, keepdims=True)",
    "weight / weight.sum(keepdims=True, axis=-1)",
)
EDITED = (
    r"lowpass: \S+: the code of stage 'attention' is [0-9a-f]{16} and not [0-9a-f]{16} as "
    r"planned; it was edited while the workflow ran\. Run again\."
)
PATIENCE = 60  # Seconds until a run that makes nothing is a failure, on a busy machine.


def edit_unseen(project: Project, path: str, old: str, new: str) -> None:
    """Edit a file without changing its size or its time."""
    before = (project.root / path).stat()
    project.edit(path, old, new)
    os.utime(project.root / path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (project.root / path).stat().st_size == before.st_size


class Run(NamedTuple):
    """Hold a run in progress: the file it was asked for, and what was there before."""

    process: subprocess.Popen[str]
    target: str
    before: set[Path]

    @classmethod
    def until_first_trajectory(cls, project: Project) -> Run:
        """Start a run that has two trajectories to make, and return when it has made one."""
        project.configure(dc_limit={"attention": {"depth": 60}})
        (target,) = outputs_in(project.dry(), "experiment")
        run = cls(project.start(target), target, set(project.products()))
        deadline = time.monotonic() + PATIENCE
        while not set(project.products("attention", "nc")) - run.before:
            if run.process.poll() is not None or time.monotonic() > deadline:
                run.process.kill()
                raise AssertionError(run.end())
            time.sleep(0.01)
        return run

    def end(self) -> str:
        """Wait for the end, and give all that was printed."""
        return self.process.communicate()[0]

    def made(self, project: Project) -> list[str]:
        """List the products that the run made."""
        assert not list(project.root.glob("results/**/*.part"))
        return [
            str(path.relative_to(project.root))
            for path in project.products()
            if path not in self.before
        ]


def statuses(told: Finished) -> set[str]:
    """Collect what a trace in JSON says of all products."""
    (answer,) = json.loads(told.stdout)
    return {each["status"] for each in answer["products"].values()}


def test_a_kernel_edited_while_a_run_is_in_progress_ends_it(project):
    run = Run.until_first_trajectory(project)
    edit_unseen(project, KERNELS, *SOFTMAX)
    said = run.end()
    assert run.process.returncode == 1
    assert re.search(f"^{EDITED}$", said, re.MULTILINE)
    made = run.made(project)
    (first,) = (path for path in made if path.startswith("results/attention/"))
    # The old code made all that is there, and all of it says so.
    assert statuses(project.trace(first, "--json")) == {"stale code", "ok"}
    edit_unseen(project, KERNELS, *SOFTMAX[::-1])
    assert project.trace(*made).returncode == 0
    # Under the new code the first trajectory is made again, and then the second.
    edit_unseen(project, KERNELS, *SOFTMAX)
    assert project.run(run.target) == {"attention": 2, "spectra": 2, "experiment": 1}
    assert project.trace(run.target).returncode == 0


def test_a_configuration_edited_while_a_run_is_in_progress_leaves_it_to_its_own(project):
    run = Run.until_first_trajectory(project)
    project.configure(dc_limit={"attention": {"depth": 40}})
    said = run.end()
    assert run.process.returncode == 0, said
    assert read(project.root / run.target).sizes["layer"] == 61
    # The tokens belong to both; what was made of them is planned no more.
    told = project.trace(run.target, "--json")
    assert told.returncode == 1
    assert statuses(told) == {"orphan", "ok"}
    project.configure(dc_limit={"attention": {"depth": 60}})
    assert project.trace(*run.made(project)).returncode == 0


# One job, asked for something else than it finds.


class Job(NamedTuple):
    """Hold the command of a job whose product is there, to be made again in another place."""

    project: Project
    product: Path
    recipe: str
    code: str
    inputs: list[str]

    @classmethod
    def of(cls, project: Project, beginning: str) -> Job:
        """Read the job of a product off its record."""
        (product,) = project.root.glob(f"results/{beginning}*.*")
        record, parents = record_in(product)
        inputs = [parent["path"] for parent in parents] or [record["parameters"]["path"]]
        return cls(project, product, canonical(record["recipe"]), record["code"], inputs)

    def arguments(self, code: str = "", name: str = "") -> list[str]:
        """Write the command line, as planned where nothing else is given."""
        out = f"again/{name or self.product.name}"
        return [
            "make",
            self.recipe,
            "--code",
            code or self.code,
            "--in",
            *self.inputs,
            "--out",
            out,
        ]

    def again(self, **other: str) -> Finished:
        """Run the job, asked for other code or another name where those are given."""
        return self.project.python("-m", "lowpass", *self.arguments(**other))

    def written(self) -> list[Path]:
        """List what the job left, finished or not."""
        return list(self.project.root.glob("again/*"))


@pytest.fixture
def trajectory(project: Project) -> Job:
    return Job.of(project, "attention/sinkhorn")


def test_a_job_that_finds_what_was_planned_makes_the_same_bytes(trajectory):
    done = trajectory.again()
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (0, "", 1)
    assert usage.read(done.stderr)
    (again,) = trajectory.written()
    assert again.read_bytes() == trajectory.product.read_bytes()


def refused(job: Job, message: str, **other: str) -> None:
    """Check that a job says one line and writes nothing."""
    done = job.again(**other)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(f"{message}\n", done.stderr), done.stderr
    assert job.written() == []


def test_a_job_refuses_when_the_code_is_not_as_planned(trajectory):
    refused(trajectory, EDITED, code="0" * 16)


def test_a_job_refuses_when_its_key_is_not_as_planned(trajectory):
    name = "sinkhorn~000000000000.nc"
    message = (
        f"lowpass: again/{name}: this recipe and these parents have the key [0-9a-f]{{12}}; "
        r"the configuration or a parent changed after the plan was made\. Run again\."
    )
    refused(trajectory, message, name=name)


def test_a_job_refuses_a_parent_that_was_edited(trajectory):
    (parent,) = trajectory.inputs
    with netCDF4.Dataset(trajectory.project.root / parent, "a") as file:
        file["x"][0, 0, 0] += 1
    message = (
        f"lowpass: {parent}: content differs from its own record; it was edited after it was "
        r"written\. Delete it and run again\."
    )
    refused(trajectory, message)


def test_a_job_refuses_a_data_file_that_was_edited(project):
    project.edit("workflow/resources/nile.csv", "1871,1120", "1871,1121")
    message = (
        r"lowpass: workflow/resources/nile\.csv: its content changed after the plan was made "
        r"\(sha256 [0-9a-f]{12} was planned, [0-9a-f]{12} is there\)\. Run again\."
    )
    refused(Job.of(project, "data/series"), message)


def test_the_paper_refuses_a_section_that_was_edited(project):
    project.append("workflow/paper/sections/limit.typ", "\n")
    message = (
        r"lowpass: again/paper~[0-9a-f]{12}\.pdf: workflow/paper/sections/limit\.typ: its content "
        r"changed after the plan was made \(sha256 [0-9a-f]{12} was planned, "
        r"[0-9a-f]{12} is there\)\. Run again\."
    )
    refused(Job.of(project, "paper/paper"), message)


HAND = """
import sys
from pathlib import Path
from lowpass import store
from lowpass.__main__ import main

write, kernels = store.write, Path({path!r})

def edit_and_write(*given):
    kernels.write_text(kernels.read_text().replace({old!r}, {new!r}))
    return write(*given)

store.write = edit_and_write
sys.exit(main(sys.argv[1:]))
"""


def test_a_job_refuses_when_the_code_was_edited_while_it_computed(trajectory):
    """The edit comes after the job has found everything as planned, and before it is done."""
    # Sinkhorn scaling is what this job runs; it has imported all of it by then.
    old, new = "plan = np.empty(scores.shape)", "plan = np.zeros(scores.shape)"
    hand = HAND.format(path=KERNELS, old=old, new=new)
    done = trajectory.project.python("-c", hand, *trajectory.arguments())
    assert done.returncode == 1
    assert re.fullmatch(f"{EDITED}\n", done.stderr), done.stderr
    assert trajectory.written() == []
