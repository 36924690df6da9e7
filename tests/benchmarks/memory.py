"""Peak memory of a long trajectory that is computed and written as the stage does it.

As a program it makes one run and prints what it needed: ``python -m tests.benchmarks.memory
N_TOKENS DEPTH``. What is fixed (libraries, tokens, matrices) is there before the first layer
and is not counted; what the libraries need for any file is subtracted by the caller.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ..workflow.project import ROOT
from .measuring import Row, Samples
from .processes import python

D_MODEL = 64
N_TOKENS = 4096
SHALLOW, DEEP = 10, 200
ROUNDS = 2
# A run so small that all it needs is what the libraries need.
LITTLE = 16
FLOAT = 8


def rows(*, long: bool) -> Iterator[Row]:
    """Compare depths, and the peak with the layers that may be held."""
    if not can_measure():
        print("memory: this system keeps no resettable peak; nothing is measured")
        return
    case = f"n = {N_TOKENS}, d = {D_MODEL}, 1 at a time"
    deep, shallow, little = (
        [peaks(*size) for _ in range(ROUNDS)]
        for size in ((N_TOKENS, DEEP), (N_TOKENS, SHALLOW), (LITTLE, DEEP))
    )
    fixed = {"unit": "B", "clock": "memory"}
    yield Row(
        f"peak of {DEEP} layers",
        case,
        ours=growth(deep),
        theirs=growth(shallow),
        against=f"{SHALLOW} layers",
        limit=1.1,
        **fixed,
    )
    state = Samples((2 * N_TOKENS * D_MODEL * FLOAT,))
    own = Samples(tuple(value - growth(little).best for value in growth(deep).values))
    yield Row(
        "peak without libraries",
        case,
        ours=own,
        theirs=state,
        against="one state: HC and transient",
        limit=2.0,
        **fixed,
    )
    matrix = Samples((N_TOKENS**2 * FLOAT,))
    header = Samples(tuple(each["header"] for each in deep))
    yield Row(
        "peak before the first layer",
        case,
        ours=header,
        theirs=matrix,
        against="one matrix A",
        limit=4.5,
        **fixed,
    )


def growth(found: list[dict[str, float]]) -> Samples:
    """Take what the layers needed from every run."""
    return Samples(tuple(each["layers"] for each in found))


def peaks(n_tokens: int, depth: int) -> dict[str, float]:
    """Make one run in a process of its own, and give its peaks in bytes."""
    arguments = ["-m", "tests.benchmarks.memory", str(n_tokens), str(depth)]
    return json.loads(python(arguments, ROOT).splitlines()[-1])


def can_measure() -> bool:
    """Say whether the system keeps a peak that can be set back, as Linux does."""
    return Path("/proc/self/clear_refs").exists()


def status(name: str) -> float:
    """Read a size of this process in bytes, such as its peak ``VmHWM``."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return 1024 * float(line.split()[1])


def forget_peak() -> None:
    """Give free memory back, and let the peak be what is held now."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def measured(n_tokens: int, depth: int, folder: Path) -> dict[str, float]:
    """Run attention into a file, and give by how much memory rose before and while."""
    from lowpass import store

    from .layers import run, some_record, tokens

    data = tokens(1, n_tokens, D_MODEL)
    forget_peak()
    held = status("VmRSS")
    made = run(data, depth)
    header = status("VmHWM") - held
    forget_peak()
    held = status("VmRSS")
    store.write(folder / "run.nc", made, some_record())
    return {"header": header, "layers": status("VmHWM") - held}


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        print(json.dumps(measured(int(sys.argv[1]), int(sys.argv[2]), Path(folder))))
