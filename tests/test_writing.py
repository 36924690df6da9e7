"""Names that only whole files bear, whatever happens on the way, and a line that says what did."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lowpass.registry import Refusal
from lowpass.writing import KNOWN, put, refusal_of, refuse_two_steps, refusing, whole

from .disks import disk, obeying

ROOT = Path(__file__).parents[1]
PATIENCE = 60  # Seconds for a program of a second.
SOME, OTHER = b"some" * 999, b"another content"


def names(folder: Path) -> list[str]:
    """List the files of a folder."""
    return sorted(path.name for path in folder.iterdir())


def program(text: str, *arguments: str | Path, before: tuple[str, ...] = ()):
    """Run a few lines of Python on these sources."""
    return subprocess.run(
        [*before, sys.executable, "-c", text, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


# Laws.


def test_what_is_put_is_there_and_nothing_else(tmp_path):
    files = {tmp_path / "deep" / "a.svg": SOME, tmp_path / "deep" / "a.night.svg": OTHER}
    put(files)
    assert {path: path.read_bytes() for path in (tmp_path / "deep").iterdir()} == files


def test_no_file_has_its_name_before_all_are_there_and_confirmed(tmp_path):
    seen = []
    files = [tmp_path / "a", tmp_path / "b"]
    with whole(files, lambda: seen.append(names(tmp_path))) as parts:
        for part in parts:
            part.write_bytes(SOME)
        before = names(tmp_path)
        assert all(re.fullmatch(r"[ab]\.[0-9a-f]{8}\.part", name) for name in before)
    assert seen == [before]
    assert names(tmp_path) == ["a", "b"]


def test_what_confirm_raises_leaves_what_was_there(tmp_path):
    def never():
        raise Refusal("the code was edited")

    put({tmp_path / "a": SOME})
    with pytest.raises(Refusal, match="the code was edited"):
        put({tmp_path / "a": OTHER, tmp_path / "b": OTHER}, never)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == SOME


def test_a_file_is_on_disk_before_it_is_named_and_its_name_before_the_next_is_made(
    tmp_path, monkeypatch
):
    steps = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(number):
        steps.append(("on disk", os.stat(number).st_ino))
        fsync(number)

    def noted_replace(old, new):
        steps.append(("named", os.stat(old).st_ino))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    put({tmp_path / "a": SOME, tmp_path / "b": OTHER})
    a, b, folder = (path.stat().st_ino for path in (tmp_path / "a", tmp_path / "b", tmp_path))
    assert steps == [
        *(("on disk", a), ("on disk", b), ("named", a), ("named", b)),
        ("on disk", folder),
    ]


def test_rights_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    put({tmp_path / "a": SOME})
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


# A program that runs itself again and again, killed before its first, second ... step on a
# file below a folder, until it is killed no more.
KILLED = """
import os, signal, sys
from pathlib import Path

folder = Path(sys.argv[1])
STEPS = {"open", "os.mkdir", "os.listdir", "os.rename", "os.remove", "os.truncate"}

def killed_before(last):
    step = 0
    def hook(event, arguments):
        nonlocal step
        if event in STEPS and isinstance(arguments[0], (str, Path)):
            step += Path(arguments[0]).absolute().is_relative_to(folder)
            if step == last:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    work()
    os._exit(0)

def until_it_lives():
    steps, status = 0, None
    while status != 0:
        steps += 1
        prepare()
        number = os.fork()
        if number == 0:
            killed_before(steps)
        status = os.waitpid(number, 0)[1]
        assert status in (0, signal.SIGKILL), status
        look()
        work()
        look()
        left = [path.name for path in folder.rglob("*.part")]
        assert not left, left
    return steps
"""
PUT = """
from lowpass.writing import put

files = {folder / name: name.encode() * 99 for name in ("a.svg", "a.png")}

def prepare():
    for path in files:
        path.unlink(missing_ok=True)

def work():
    put(files)

def look():
    for path, content in files.items():
        assert not path.exists() or path.read_bytes() == content, path

print(until_it_lives())
"""
PUBLISH = """
import json
from lowpass.publish import publish
from lowpass.records import sha256

os.chdir(folder)
OUT = ["results/paper.pdf", "results/claims.json", "results/manifest.json"]

def write(version):
    made = []
    for stage, name in (("paper", "paper~%s.pdf"), ("claims", "claims~%s.json")):
        path = folder / "results" / stage / (name % version)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stage + version)
        made.append(str(path.relative_to(folder)))
    return made, [*OUT, f"results/publish/manifest~{version}.json"]

old, new = write("0" * 12), write("1" * 12)

def prepare():
    publish(*old)

def work():
    publish(*new)

def look():
    for manifest in folder.glob("results/**/manifest*.json"):
        for path, mark in json.loads(manifest.read_text())["sha256"].items():
            assert sha256((folder / path).read_bytes()) == mark, (manifest, path)

print(until_it_lives())
"""


@pytest.mark.parametrize(("work", "n_least"), [(PUT, 10), (PUBLISH, 20)], ids=["put", "publish"])
def test_killed_before_any_step_it_leaves_nothing_that_lies(work, n_least, tmp_path):
    """And the next attempt ends as if there had been none, and clears away what was left."""
    done = program(KILLED + work, tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= n_least


# What is particular.


def test_the_unfinished_file_of_another_product_is_left_alone(tmp_path):
    others = {"ab.nc.00000000.part", "a.svg.00000000.part", "a.nc.copy"}
    for name in (*others, "a.nc.00000000.part"):
        (tmp_path / name).touch()
    put({tmp_path / "a.nc": SOME})
    assert {*names(tmp_path)} == {*others, "a.nc"}


def test_of_two_that_write_one_product_the_later_ends_and_the_earlier_refuses(tmp_path):
    path = tmp_path / "a.nc"

    def earlier():
        with whole([path]) as (part,):
            part.write_bytes(SOME[:99])
            put({path: SOME})

    with pytest.raises(Refusal, match=r"a\.nc: its unfinished file was taken away, which a second"):
        earlier()
    assert names(tmp_path) == ["a.nc"]
    assert path.read_bytes() == SOME


def test_two_that_write_one_product_write_to_two_files(tmp_path):
    path = tmp_path / "a.nc"
    with whole([path]) as (first,):
        with whole([path]) as (second,):
            second.write_bytes(SOME)
            first.write_bytes(OTHER)
        assert path.read_bytes() == SOME
    assert path.read_bytes() == OTHER


def test_a_fault_of_the_mathematics_is_not_taken_for_one_of_the_disk(tmp_path):
    def fails():
        with whole([tmp_path / "a"]) as (part,), refusing(tmp_path / "a", part):
            raise RuntimeError("no convergence")

    with pytest.raises(RuntimeError, match="no convergence"):
        fails()
    assert names(tmp_path) == []


# Refusals.


@pytest.mark.parametrize("number", KNOWN, ids=errno.errorcode.get)
def test_what_the_system_refuses_is_said_with_its_words_and_what_to_do(number):
    why, advice = KNOWN[number]
    said = str(refusal_of(OSError(number, os.strerror(number), "results/a.nc")))
    assert said == f"results/a.nc: {why} ({os.strerror(number)}). {advice}, and run again."


def test_what_is_refused_for_no_known_reason_is_said_too():
    fault = OSError(errno.EIO, "Input/output error")
    assert str(refusal_of(fault, "a.nc")) == (
        "a.nc: it cannot be used (Input/output error). Correct that, and run again."
    )
    assert str(refusal_of(OSError("odd"))).startswith("it cannot be used (odd).")


def test_a_full_disk_is_refused_and_room_is_enough_to_go_on(tmp_path):
    with disk(tmp_path / "disk", "64k") as small:
        path = small.path / "a" / "b.json"
        put({path: OTHER})
        filling = small.fill(left=8192)
        with pytest.raises(Refusal, match=r"c: the disk is full \(No space left on device\)\. Fr"):
            put({path: SOME, small.path / "c": bytes(9999)})
        assert names(path.parent) == ["b.json"]
        assert path.read_bytes() == OTHER
        filling.unlink()
        put({path: SOME, small.path / "c": bytes(9999)})
        assert path.read_bytes() == SOME


def test_a_disk_without_room_for_a_name_is_refused(tmp_path):
    with disk(tmp_path / "disk", "64k") as small:
        small.remount("nr_inodes=2")
        (small.path / "last").touch()
        with pytest.raises(Refusal, match=r"a\.nc: the disk is full"):
            put({small.path / "a.nc": SOME})


@pytest.mark.parametrize("there_before", [True, False])
def test_a_disk_that_can_only_be_read_is_refused(there_before, tmp_path):
    with disk(tmp_path / "disk", "64k") as small:
        path = small.path / "a" / "b.json"
        if there_before:
            put({path: OTHER})
        small.remount("ro")
        with pytest.raises(Refusal, match=r"b\.json: the disk can only be read \(Read-only file "):
            put({path: SOME})
        small.remount("rw")
        put({path: SOME})
        assert path.read_bytes() == SOME


def test_a_folder_that_this_user_may_not_change_is_refused(tmp_path):
    line = "import sys; from pathlib import Path; from lowpass.writing import put;"
    line += "put({Path(sys.argv[1]): b'x'})"
    tmp_path.chmod(0o555)
    try:
        done = program(line, tmp_path / "a.nc", before=obeying())
    finally:
        tmp_path.chmod(0o755)
    assert re.search(r"a\.nc: this user may not do that \(Permission denied\)\. Cha", done.stderr)
    assert names(tmp_path) == []


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"its path is too long \(File name too long\)\. Move the "):
        put({tmp_path / ("n" * 250): SOME})


# Renaming.


@pytest.mark.parametrize("place", ["", "results", "results/data"])
def test_a_folder_whose_disk_renames_in_one_step_is_taken_and_left_as_it_was(place, tmp_path):
    (tmp_path / "results").mkdir()
    refuse_two_steps(tmp_path / place)
    assert names(tmp_path) == ["results"]
    assert names(tmp_path / "results") == []


def copies(source: Path, goal: Path) -> None:
    """Rename as a file system does that knows only to write and to delete."""
    Path(goal).write_bytes(Path(source).read_bytes())
    Path(source).unlink()


def refuses(source: Path, goal: Path) -> None:
    """Rename as a file system does that cannot."""
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


@pytest.mark.parametrize(
    ("rename", "why"), [(copies, "it copies instead"), (refuses, os.strerror(errno.ENOSYS))]
)
def test_a_folder_whose_disk_does_not_is_refused_in_one_line(rename, why, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", rename)
    with pytest.raises(Refusal) as refused:
        refuse_two_steps(tmp_path / "results")
    assert str(refused.value) == (
        f"{tmp_path}/results: its file system does not give a file the name of another in one step "
        f"({why}), so a job that is killed could leave half a file under a final name. Move the "
        "folder to a disk that does, such as a local one or NFS, and put a link in its place."
    )
    assert names(tmp_path) == []


def test_where_nothing_can_be_written_nothing_is_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    refuse_two_steps(tmp_path / "results")
