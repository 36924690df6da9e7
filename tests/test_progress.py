"""Lines about a long loop: when one is due, what it says, and that nothing else changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from lowpass.progress import EVERY, Progress, duration, line


class Watched:
    """Run loops by a clock that each item puts forward, and note what is said when."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.said: list[tuple[float, str]] = []
        self.progress = Progress(lambda text: self.said.append((self.now, text)), lambda: self.now)

    def run(self, costs: Iterable[float], total: int, *, lazy: bool = False) -> list[float]:
        """Spend the seconds each item costs, in the loop or, if lazy, in making the item."""
        taken = []
        for cost in self.progress.watch(self.made(costs) if lazy else costs, "layer", total):
            self.now += 0.0 if lazy else cost
            taken.append(cost)
        return taken

    def made(self, costs: Iterable[float]) -> Iterable[float]:
        for cost in costs:
            self.now += cost
            yield cost

    @property
    def lines(self) -> list[str]:
        return [text for _, text in self.said]


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("costs", [[], [0.0], [1.0] * 3, [EVERY - 0.5], [0.01] * 400])
def test_a_loop_of_some_seconds_says_nothing(costs, lazy, watched):
    assert watched.run(costs, len(costs), lazy=lazy) == costs
    assert watched.said == []


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("cost", [0.1, 1.0, 4.9, 5.0, 7.5, 100.0])
def test_two_lines_are_never_close(cost, lazy, watched):
    watched.run([cost] * 60, 60, lazy=lazy)
    times = [time - 1000 for time, _ in watched.said]
    assert times[0] >= EVERY
    # The last line, at the end, is not waited for.
    assert all(b - a >= EVERY for a, b in itertools.pairwise(times[:-1]))
    assert len(times) > 1


def test_a_loop_of_a_day_fills_no_log(watched):
    watched.run([1.0] * 86_400, 86_400)
    assert len(watched.said) < 200
    assert watched.said[40][0] - watched.said[39][0] < 30


@pytest.mark.parametrize("lazy", [False, True])
def test_what_passes_through_is_what_was_there(lazy, watched):
    costs = [float(i % 7) for i in range(100)]
    assert watched.run(costs, 100, lazy=lazy) == costs


def test_an_item_is_done_when_the_next_is_asked_for(watched):
    watched.run([3.0] * 5, 5)
    assert watched.lines == [
        line("layer", 2, 5, 6),
        line("layer", 4, 5, 12),
        line("layer", 5, 5, 15),
    ]


def test_an_item_that_is_being_made_is_not_done(watched):
    watched.run([3.0] * 5, 5, lazy=True)
    assert watched.lines == [
        line("layer", 1, 5, 6),
        line("layer", 3, 5, 12),
        line("layer", 5, 5, 15),
    ]


def test_each_loop_has_a_time_of_its_own(watched):
    watched.run([3.0] * 2, 2)
    watched.now += 1000
    watched.run([3.0] * 2, 2)
    assert watched.said == []


def test_a_loop_that_fails_says_nothing_more(watched):
    with pytest.raises(ZeroDivisionError):
        watched.run((6 / speed for speed in [2, 1, 1, 0]), 4)
    assert watched.lines == [line("layer", 2, 4, 9.0)]


def test_items_are_not_asked_for_before_they_are_wanted(watched):
    endless = watched.progress.watch(itertools.count(), "layer", 10)
    assert list(itertools.islice(endless, 3)) == [0, 1, 2]


@pytest.mark.parametrize(("done", "marks"), [(1, 0), (19, 0), (20, 1), (399, 19), (400, 20)])
def test_a_bar_is_full_only_at_the_end(done, marks):
    said = line("layer", done, 400, 9.0)
    assert f"[{'#' * marks}{'-' * (20 - marks)}]" in said
    assert ("100 %" in said) == (done == 400)


def test_the_lines_of_a_loop_stand_below_each_other():
    lines = [line("point", done, 12_000, 7.0) for done in (1, 60, 800, 11_999, 12_000)]
    assert len({text.index("[") for text in lines}) == 1
    assert all(text.isprintable() for text in lines)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (99.4, "99 s"),
        (120, "2.0 min"),
        (599, "10.0 min"),
        (601, "10 min"),
        (5999, "100 min"),
        (6001, "1.7 h"),
        (9e5, "250.0 h"),
    ],
)
def test_a_time_has_the_digits_that_matter(seconds, text):
    assert duration(seconds) == text


def test_the_rest_goes_on_at_the_pace_so_far():
    assert line("layer", 30, 120, 10.0).endswith("10 s, about 30 s to go")
