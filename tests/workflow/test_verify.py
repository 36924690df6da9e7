"""Real runs beside what is expected of them: here, with another BLAS kernel, after an edit."""

from __future__ import annotations

import shutil
import subprocess
import sys

import netCDF4
import pytest

from lowpass import store

from .project import EXPERIMENTS, Finished, Project, environment, succeeded

ALL = [*sorted(EXPERIMENTS), "claims"]
# Kernels that OpenBLAS can be told to take: the first runs on every x86-64, others on ARM.
KERNELS = ("Prescott", "Haswell", "ARMV8", "NEOVERSEN1")
SAMPLE = (
    "import hashlib, numpy as np; a = np.random.default_rng(0).standard_normal((16, 16)); "
    "print(hashlib.sha256((a @ a).tobytes() + np.linalg.eigvals(a).tobytes()).hexdigest())"
)


def verify(project: Project, *arguments: str) -> Finished:
    """Type the command for the configuration of the paper."""
    return project.lowpass("verify", *arguments)


def levels(finished: Finished) -> dict[str, str]:
    """Read the level that each product reaches."""
    lines = [line.split(maxsplit=1) for line in finished.stdout.splitlines() if line[:2] == "  "]
    return {
        name.strip(): level
        for level, rest in lines
        for name in rest.partition(" (")[0].partition(":")[0].split(",")
    }


@pytest.fixture(scope="module")
def accepted(finished, tmp_path_factory) -> Project:
    """Expect the results of the finished run; never change it."""
    project = finished.copy(tmp_path_factory.mktemp("accepted") / "project")
    shutil.rmtree(project.root / "config/expected")
    succeeded(verify(project, "--accept"))
    return project


@pytest.fixture
def edited(accepted, tmp_path) -> Project:
    """Copy that, to be changed at will."""
    return accepted.copy(tmp_path / "project")


def test_a_fresh_run_agrees_with_the_results_that_the_project_keeps(finished):
    """Where numbers changed on purpose, make smoke and then accept them (see the Makefile)."""
    said = verify(finished, "--configfile", "config/smoke.yaml", *sorted(EXPERIMENTS))
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_same_results_agree_byte_for_byte(accepted):
    said = verify(accepted)
    assert (said.returncode, said.stderr) == (0, "")
    assert levels(said) == dict.fromkeys(ALL, "file")
    assert said.stdout.endswith("level reached: file, byte for byte as expected\n")


def test_the_same_results_made_again_agree_byte_for_byte(edited):
    edited.run("nile", "--forceall")
    assert levels(verify(edited)) == dict.fromkeys(ALL, "file")


def test_what_is_expected_is_small_and_has_no_place_or_time(accepted):
    files = sorted((accepted.root / "config/expected/paper").iterdir())
    assert [file.stem for file in files] == sorted(ALL)
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert len(text) < 100_000
        assert str(accepted.root) not in text
        assert max(map(len, text.splitlines())) < 200


def rounded(kernel: str | None) -> str:
    """Digest what a BLAS kernel makes of a sample; nothing where the processor lacks it."""
    env = environment({"OPENBLAS_CORETYPE": kernel} if kernel else {})
    run = subprocess.run([sys.executable, "-c", SAMPLE], env=env, capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else ""


def test_another_kernel_agrees_by_its_numbers(accepted, tmp_path):
    here = rounded(None)
    kernel = next((each for each in KERNELS if rounded(each) not in ("", here)), None)
    if kernel is None:
        pytest.skip("no other BLAS kernel that this processor runs rounds otherwise")
    (tmp_path / "project").mkdir()
    other = Project.checkout(tmp_path / "project")
    other.run("claims", env={"OPENBLAS_CORETYPE": kernel})
    shutil.rmtree(other.root / "config/expected")
    shutil.copytree(accepted.root / "config/expected", other.root / "config/expected")
    said = verify(other)
    assert (said.returncode, said.stderr) == (0, ""), said.stdout
    assert "numbers" in levels(said).values()
    assert set(levels(said)) == set(ALL)
    assert "made by the same code and libraries on another machine" in said.stdout
    paths = [path.relative_to(other.root) for path in other.products("experiment")]
    pairs = [[(each.root / path).read_bytes() for each in (other, accepted)] for path in paths]
    assert any(one != same for one, same in pairs)


def test_a_number_that_changed_is_named(edited):
    (path,) = edited.root.glob("results/experiment/dc-limit~*.nc")
    with netCDF4.Dataset(path, "a") as file:
        slem = file["slem"][...]
        old = slem[2, 1].max()
        slem[2, 1, slem[2, 1].argmax()] *= 1 + 1e-7
        file["slem"][...] = slem
    mark = store.digest(path)
    with netCDF4.Dataset(path, "a") as file:
        file.setncattr("digest", mark)
    said = verify(edited, "dc-limit")
    assert said.returncode == 1
    named = (
        f"    slem at arithmetic split, beta 1: highest is {old * (1 + 1e-7):.12g} and not "
        f"{old:.12g}, which may differ by {old * 1e-8:.1e}\n"
    )
    assert named in said.stdout
    assert said.stdout.endswith("level reached: none, since 1 of 1 do not agree\n")


def test_code_that_changes_no_number_is_named_after_it_has_run(edited):
    edited.edit("src/lowpass/smoothing/weights.py", "(hidden, -np.inf", "(hidden, -abs(np.inf)")
    before = verify(edited)
    assert before.returncode == 1
    assert "is out of date (" in before.stdout
    edited.run("claims")
    after = verify(edited)
    assert after.returncode == 0, after.stdout
    reached = {"counterexamples": "file", "dc-limit": "file", "nile": "values", "claims": "values"}
    assert levels(after) == reached
    assert "(bytes differ: made by other code of experiment, smoothing)" in after.stdout


def test_another_configuration_is_not_compared(edited):
    edited.configure(nile={"smoothing": {"bandwidths": {"count": 23}}})
    said = verify(edited)
    assert said.returncode == 1
    assert (
        "  none    nile: nothing to compare, since the configuration asks other parameters than "
        "are expected: smoothing.bandwidths.count is 23 and not 21; " in said.stdout
    )
    assert levels(said)["dc-limit"] == "file"
