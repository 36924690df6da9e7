"""How far a long loop has come, as plain lines for the log of its job.

It owns when a line is due and what it says. What passes through is never looked at, so no
result can depend on being watched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

# Seconds between two lines, and before the first: a loop that is over by then says nothing.
EVERY = 5.0
# Later lines come after this share of the time so far: hours need not fill a log either.
SHARE = 0.05
WIDTH = 20


class Progress:
    """Watch loops.

    Parameters
    ----------
    say : callable
        Takes each line.
    clock : callable
        Gives seconds that never go back.
    """

    def __init__(
        self, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._clock = clock

    def watch(self, items: Iterable[T], what: str, total: int) -> Iterator[T]:
        """Hand on the items of a loop, and tell now and then how many are done.

        Parameters
        ----------
        items : iterable
            An item is done when the next one is asked for and there, so it does not matter
            whether the iterable or the loop does the work.
        what : str
            What an item is, in the singular.
        total : int
            How many there are.
        """
        start = last = self._clock()
        for done, item in enumerate(items):
            now = self._clock()
            if done and now - last >= max(EVERY, SHARE * (now - start)):
                self._say(line(what, done, total, now - start))
                last = now
            yield item
        if last > start:
            self._say(line(what, total, total, self._clock() - start))


def line(what: str, done: int, total: int, seconds: float) -> str:
    """Say how much is done, how long that took, and how long the rest takes at that pace.

    Examples
    --------
    >>> line("layer", 120, 400, 12.0)
    'layer 120 of 400   30 %  [######--------------]  12 s, about 28 s to go'
    >>> line("layer", 400, 400, 41.0)
    'layer 400 of 400  100 %  [####################]  41 s'
    """
    bar = "#" * (WIDTH * done // total)
    rest = duration(seconds * (total - done) / done)
    return (
        f"{what} {done:{len(str(total))}} of {total}  {100 * done // total:3} %  "
        f"[{bar:-<{WIDTH}}]  {duration(seconds)}{f', about {rest} to go' * (done < total)}"
    )


def duration(seconds: float) -> str:
    """Write a time with the digits that matter.

    Examples
    --------
    >>> duration(7.4), duration(150), duration(4000), duration(10_000)
    ('7 s', '2.5 min', '67 min', '2.8 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.{int(seconds < 600)}f} min"
    return f"{seconds / 3600:.1f} h"
