"""Rates and gains, as they are stored."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.figures.palette import PAPER
from lowpass.figures.residual import MARKED, residual

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in ("residual", "residual-values")}


@pytest.fixture
def panels(shown):
    return residual(shown, PAPER).axes


def of(ax, marker: str, colour: str) -> list:
    return [line for line in ax.lines if (line.get_marker(), line.get_color()) == (marker, colour)]


def is_of_one_replicate(line, variable) -> bool:
    scale, height = drawn(line).T
    return bool((variable.sel(value_scale=scale) == height[:, None]).all("value_scale").any())


def test_dots_and_dashes_are_stored_rates(panels, shown):
    runs, ax = shown["residual"].transpose(..., "value_scale", "replicate"), panels[0]
    (rate,), (other,) = of(ax, "o", PAPER.residual), of(ax, "o", PAPER.fails)
    (dashes,) = (line for line in ax.lines if line.get_linestyle() == "--")
    for line, name in [(rate, "tapered_rate"), (other, "hc_dc_rate"), (dashes, "predicted_rate")]:
        assert is_of_one_replicate(line, runs[name])
    assert len(drawn(dashes)) == len(drawn(other)) == runs.sizes["value_scale"]


def test_what_is_infinite_is_a_line_and_no_dot(panels, shown):
    (rate,) = of(panels[0], "o", PAPER.residual)
    missing = set(shown["residual"]["value_scale"].values) - set(drawn(rate)[:, 0])
    assert missing == {-1.0}
    vertical = [line for line in panels[0].lines if set(line.get_xdata()) == {-1.0}]
    assert [line.get_color() for line in vertical] == [PAPER.quiet]
    assert "infinite" in [text.get_text() for text in panels[0].texts]


def test_the_interval_of_sharpening_is_shaded(panels, shown):
    (fill,) = panels[0].collections
    left, right = fill.get_paths()[0].vertices[:, 0].min(), fill.get_paths()[0].vertices[:, 0].max()
    assert right == 0
    assert left in shown["residual"]["sharpening_edge"].isel(value_scale=0).values


def test_gains_are_those_of_one_layer(panels, shown):
    wide = shown["residual-values"].sel(values="random", value_scale=1)
    for kind, lines in [
        ("layer", of(panels[1], "o", PAPER.residual)),
        ("operator", of(panels[1], "None", PAPER.residual)),
        ("written", of(panels[1], "None", PAPER.fails)),
    ]:
        points = np.concatenate([drawn(line) for line in lines])
        some = wide.isel(mode=slice(MARKED if kind == "layer" else None))
        stored = np.stack([some[f"{kind}_gain_{part}"].values for part in ("real", "imag")], -1)
        found = np.sort(points.view(complex), axis=0)
        each = [np.sort(one.reshape(-1, 2).view(complex), axis=0) for one in stored]
        assert any((one == found).all() for one in each)


def test_measured_gains_that_crowd_at_one_are_left_out(panels, shown):
    """Those that are drawn are the farthest from it, of each mode of the values."""
    wide = shown["residual-values"].sel(values="random", value_scale=1)
    far = np.hypot(wide["layer_gain_real"] - 1, wide["layer_gain_imag"])
    far = far.transpose("replicate", "value_mode", "mode").values
    farthest = np.sort(far, axis=-1)[..., -MARKED:].reshape(len(far), -1)
    dots = np.concatenate([drawn(line) for line in of(panels[1], "o", PAPER.residual)])
    shown_far = np.sort(np.hypot(dots[:, 0] - 1, dots[:, 1]))
    assert MARKED < wide.sizes["mode"]
    assert any(np.allclose(shown_far, np.sort(one), rtol=1e-12) for one in farthest)


def test_axis_text_comes_from_the_cards(shown):
    runs = shown["residual"]
    other = runs.assign(
        tapered_rate=runs["tapered_rate"].assign_attrs(long_name="pace", symbol="p")
    )
    ax = residual({**shown, "residual": other}, PAPER).axes[0]
    assert ax.get_ylabel() == "pace  $p$"
