"""What every figure promises, whatever it shows."""

from __future__ import annotations

import itertools
from unittest.mock import patch

from matplotlib.figure import Figure
from matplotlib.text import Text

# Points. The box of a text is a line high, and its ink is a little less.
SLACK = 0.6
SMALLEST = 7.0


def drawn_texts(figure: Figure) -> list[Text]:
    """Draw the figure and give the texts that were drawn: a hidden tick label is none."""
    seen: dict[int, Text] = {}
    draw = Text.draw

    def note(text, renderer):
        if text.get_visible() and text.get_text().strip():
            seen[id(text)] = text
        return draw(text, renderer)

    # An annotation that is clipped away never reaches Text.draw.
    with patch.object(Text, "draw", note):
        figure.draw_without_rendering()
    return list(seen.values())


def box_of(text: Text):
    """Give the box of a drawn text in pixels, without the tie an annotation may have."""
    return Text.get_window_extent(text)


def assert_clean(figure: Figure) -> None:
    """Assert that texts are large enough, apart, inside, and that there is no legend."""
    texts = drawn_texts(figure)
    boxes = [box_of(text) for text in texts]
    width, height = figure.get_size_inches() * figure.dpi
    for text, box in zip(texts, boxes, strict=True):
        assert text.get_fontsize() >= SMALLEST, f"'{text.get_text()}' is too small to read"
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height
        assert inside, f"'{text.get_text()}' leaves the canvas: {box.extents.round(1)}"
    for one, other in itertools.combinations(range(len(texts)), 2):
        clash = _shrunk(boxes[one]).overlaps(_shrunk(boxes[other]))
        assert not clash, f"'{texts[one].get_text()}' overlaps '{texts[other].get_text()}'"
    hull = figure.get_tightbbox()
    inches = figure.get_size_inches()
    assert min(hull.x0, hull.y0) >= -1e-9, f"something leaves the canvas: {hull.extents}"
    assert hull.x1 <= inches[0] + 1e-9, f"something leaves the canvas: {hull.extents}"
    assert hull.y1 <= inches[1] + 1e-9, f"something leaves the canvas: {hull.extents}"
    assert not figure.legends, "a figure has a legend; label its lines at their ends"
    assert all(ax.get_legend() is None for ax in figure.axes), "a panel has a legend"


def _shrunk(box):
    """Take the slack off a box."""
    return box.padded(-SLACK)
