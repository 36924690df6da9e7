"""What a job used of memory and processor, as the last line of its log.

It owns the measuring, the words of that line, and how it is read again.
"""

from __future__ import annotations

import re
import resource
import sys
import time
from pathlib import Path
from typing import NamedTuple

WORDS = re.compile(r"lowpass: used (\d+) MB and (\d+\.\d\d) s of processor")
STATUS = Path("/proc/self/status")
MEGABYTE = 1e6


class Usage(NamedTuple):
    """Hold what a process used.

    Parameters
    ----------
    megabytes : int
        Most memory that it ever held, libraries included, in 10⁶ bytes.
    seconds : float
        Of processor, from the start of the interpreter on.
    """

    megabytes: int
    seconds: float


def used() -> Usage:
    """Measure what this process used so far."""
    return Usage(round(peak() / MEGABYTE), time.process_time())


def peak() -> int:
    """Give the most memory that this program ever held, in bytes.

    Linux hands the largest peak so far from a process to the program it becomes, so that a job
    that a large process starts would seem as large; a peak of its own stands in its status.
    """
    try:
        said = re.search(r"VmHWM:\s*(\d+) kB", STATUS.read_text(encoding="ascii"))
    except OSError:
        said = None
    if said:
        return 1024 * int(said[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def line(usage: Usage) -> str:
    """Say what was used.

    Examples
    --------
    >>> line(Usage(231, 1.839))
    'lowpass: used 231 MB and 1.84 s of processor'
    """
    return f"lowpass: used {usage.megabytes} MB and {usage.seconds:.2f} s of processor"


def read(log: str) -> Usage | None:
    """Find what a job said at the end of its log; none where it said nothing.

    Examples
    --------
    >>> read("layer 3 of 3\\nlowpass: used 231 MB and 1.84 s of processor\\n")
    Usage(megabytes=231, seconds=1.84)
    """
    last = log.rstrip("\n").rpartition("\n")[2]
    said = WORDS.fullmatch(last)
    return Usage(int(said[1]), float(said[2])) if said else None
