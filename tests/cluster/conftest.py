"""One cluster for all tests, one local run to compare with, and a copy of the project for each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .runs import ClusterProject
from .slurm import Slurm, missing


@pytest.fixture(scope="session", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Start Slurm, and stop it whatever comes."""
    if lack := missing():
        if os.environ.get("LOWPASS_SLURM") == "required":
            pytest.fail(f"no Slurm: {lack}")
        pytest.skip(f"no Slurm: {lack}")
    slurm = Slurm(tmp_path_factory.mktemp("slurm") / "cluster")
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
        assert slurm.processes() == []


@pytest.fixture
def slurm(cluster: Slurm) -> Iterator[Slurm]:
    """Give the cluster to a test, and mend it afterwards."""
    yield cluster
    cluster.mend()


@pytest.fixture
def project(slurm: Slurm, tmp_path: Path) -> Iterator[ClusterProject]:
    """Copy the project, with nothing in results/ and its profile filled in."""
    copy = ClusterProject.of(tmp_path / "project", slurm)
    try:
        yield copy
    finally:
        copy.close()


@pytest.fixture(scope="session")
def local(cluster: Slurm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterProject]:
    """Run everything on this machine, for comparison; never change it."""
    copy = ClusterProject.of(tmp_path_factory.mktemp("local") / "project", cluster)
    try:
        copy.submit("--cores", "2", profile=None).succeed(minutes=20)
        yield copy
    finally:
        copy.close()
