"""Both sides of every benchmark do the same, at sizes of milliseconds; nothing here is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass import store
from lowpass.__main__ import main

from ..workflow.project import ROOT
from . import (
    attention,
    consensus,
    heat,
    integrators,
    layers,
    memory,
    overhead,
    plan,
    smoothing,
    spectra,
    startup,
)
from .__main__ import TOPICS
from .measuring import Row, Samples, alternate, divided
from .report import amount, save, table


class Ticking:
    """Stand in for a clock: every side of a race moves it by what it costs."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds


def row(*, theirs: float = 2.0, **changes) -> Row:
    """Find that ours takes one to three seconds."""
    return Row("work", "n = 1", "s", Samples((1.0, 3.0, 2.0)), Samples((theirs,)), "it", **changes)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_rows_and_a_place_in_the_readme(topic):
    assert callable(import_module(f".{topic}", __package__).rows)
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    assert f"## {topic}\n" in text


# What is compared.


@pytest.mark.parametrize("replicates", [1, 3])
def test_split_form_records_and_plain_products_are_the_same_layers(replicates):
    data = layers.tokens(replicates, 6, 3)
    running = layers.sides(data)
    for split, row, plain in islice(zip(*running.values(), strict=False), 5):
        whole = np.ldexp(split.rest, split.exponent[:, None, None])
        assert_allclose(split.kept[:, None, :] + whole, plain, rtol=1e-12, atol=1e-14)
        high = np.linalg.norm(plain - plain.mean(axis=1, keepdims=True), axis=(1, 2))
        assert_allclose(10 ** row["log10_hc_norm"][1], high, rtol=1e-9)


@pytest.mark.parametrize("replicates", [1, 3])
def test_a_recomputed_layer_is_that_of_whole_tokens(replicates):
    running = consensus.sides(replicates, 6, 3)
    split, plain = running["far"](), running["plain"]()
    rest = np.ldexp(split.rest, split.exponent[:, None, None])
    kept = np.ldexp(split.kept, split.kept_exponent[:, None])
    assert_allclose(kept[:, None, :] + rest, plain, rtol=1e-12, atol=1e-14)
    assert (running["near"]().exponent < -250).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tiles_rows_and_the_whole_matrix_are_one_layer(dtype):
    case = attention.Case(20, 4, 2.0, dtype)
    ours, records = attention.layer(case, attention.mix_recorded)()
    sides = attention.plain(case)
    for other in (attention.layer(case), sides["whole"], sides["rows"]):
        assert_allclose(other(), ours, atol=30 * np.finfo(dtype).eps)
    mixed, theirs = attention.plain_recorded(case)()
    assert_allclose(mixed, ours, atol=30 * np.finfo(dtype).eps)
    names = ("entropy", "edge_energy", "mean_cosine", "dc_norm", "hc_norm", "column_sums")
    kept = np.hstack([getattr(records, name) for name in names])
    assert_allclose(theirs, kept, rtol=200 * np.finfo(dtype).eps, atol=30 * np.finfo(dtype).eps)
    attention.roofline(case)()


def test_soft_attention_needs_no_shift_and_sharp_attention_is_clipped():
    soft, sharp = (
        attention.layer(attention.Case(256, beta=beta), attention.mix_recorded)()[1]
        for beta in (attention.SOFT, attention.SHARP)
    )
    assert soft.clipped == 0
    assert sharp.clipped > 0.5 * 256**2


def test_every_integrator_reaches_the_error_that_is_asked_for():
    flow, x = integrators.problem(6, 3)
    [exact] = flow.solution(x, [integrators.TIME])
    for name, error in (("euler", 0.02), ("RK45", 1e-5), ("DOP853", 1e-9)):
        way = integrators.cheapest(flow, x, name, error)
        assert integrators.relative_distance(way(), exact) <= error
        coarser = next(integrators.ways(flow, x, name))
        assert integrators.relative_distance(coarser(), exact) > error


def test_heat_is_the_same_by_every_method_and_as_near_as_is_asked():
    given = heat.problem(12, 3)
    exact = heat.exponentials(given)
    for method in ("eigh", "chebyshev"):
        assert_allclose(heat.at_all_times(given, method)[heat.SAMPLED], exact, atol=1e-13)
    apart = exact - np.einsum("i,tia->ta", given.stationary, exact)[:, None]
    norm = np.sqrt(12 * np.einsum("i,tia->t", given.stationary, apart**2))
    assert_allclose(heat.norms(given)[heat.SAMPLED], np.log10(norm), atol=1e-11)
    for goal in heat.GOALS:
        for name in (goal.ours, goal.theirs):
            way = heat.cheapest(given, name, goal.error)
            near = heat.flowed(given, "eigh", 1)
            assert heat.relative_distance(way(), near) <= goal.error


def test_both_ways_to_a_modulus_and_to_a_rank_agree():
    for weights in ("untied", "symmetric"):
        a = spectra.attention(150, weights=weights)
        assert_allclose(spectra.slem(a), spectra.all_eigenvalues(a), rtol=1e-10)
    modes = np.linalg.eigvals(a)
    assert_allclose(spectra.reversible_eigenvalues(a), np.sort(modes.real)[::-1], atol=1e-13)
    crowded = spectra.scores_alone(150)
    assert_allclose(spectra.slem(crowded), spectra.all_eigenvalues(crowded), rtol=1e-10)
    tokens = np.random.default_rng(0).standard_normal((20, 3))
    assert_allclose(spectra.rank_by_gram(tokens), spectra.rank_by_svd(tokens), rtol=1e-12)


@pytest.mark.parametrize("n_features", [1, 2])
def test_every_way_to_smooth_is_the_formula(n_features):
    case = smoothing.Case(60, n_features, 0.3)
    exact = smoothing.theirs(case)()
    for run in (smoothing.by_cdist, smoothing.library):
        assert_allclose(smoothing.theirs(case, run)(), exact, rtol=1e-10)
    for method in ("tiled", "gridded"):
        assert_allclose(smoothing.ours(case, method)(), exact, atol=1e-11)
    assert_allclose(smoothing.tiled_single(case)(), exact, atol=1e-5)
    if n_features == 1:
        assert_allclose(smoothing.ours(case, "binned")(), exact, atol=1e-3)
    key, value = case.arrays()[1:]
    curve = smoothing.loo_curve(key[:, :1], value, [0.3])
    total = smoothing.loo_formula(key[:, :1], value, 0.3, 60)
    assert_allclose(curve, total / 60, rtol=1e-12)


def test_numpy_is_not_there_before_it_is_told_how_many_threads_to_use():
    """BLAS reads the settings when it is loaded; later ones would change what is said alone."""
    seen = "import sys, tests.benchmarks.__main__; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", seen], cwd=ROOT).returncode == 0


def test_advancing_computes_as_many_layers_as_it_says():
    running = iter(range(10))
    assert [layers.advance(running, 3), layers.advance(running, 1)] == [2, 3]


def test_a_run_is_written_layer_by_layer(tmp_path):
    made = layers.run(layers.tokens(2, 6, 3), 4)
    store.write(tmp_path / "run.nc", made, layers.some_record())
    assert store.read(tmp_path / "run.nc")["log10_hc_norm"].shape == (2, 5)


@pytest.mark.parametrize("count", [10, 100])
def test_a_configuration_makes_as_many_points_as_it_says(count, tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text(plan.configuration(count), encoding="utf-8")
    assert len(list(plan.expand(path))) == count
    assert len(plan.fingerprint(path)) == 4
    assert f"range({count})" in plan.BARE.format(count=count)


def test_the_smallest_job_makes_its_product(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    point, (*_, module, command, text, flag, code, inputs, out, path) = startup.job()
    assert (module, path) == ("lowpass", point.path)
    assert main([command, text, flag, code, inputs, out, path]) == 0
    assert store.read(tmp_path / point.path).sizes["token"] == 4


@pytest.mark.skipif(not memory.can_measure(), reason="only Linux can set back a peak")
def test_a_peak_rises_with_what_is_held(tmp_path):
    memory.forget_peak()
    before = memory.status("VmRSS")
    held = np.ones(2**21)
    assert memory.status("VmHWM") - before > 0.9 * held.nbytes
    found = memory.measured(6, 3, tmp_path)
    assert found.keys() == {"header", "layers"}
    assert store.read(tmp_path / "run.nc").sizes["layer"] == 4


def test_all_products_of_a_configuration_are_made_and_metered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some.yaml"
    path.write_text(plan.configuration(4), encoding="utf-8")
    spent = overhead.metered(str(path))
    made = {each.parent.name for each in tmp_path.glob("results/*/*~*")}
    assert {"data", "attention", "spectra", "experiment", "figures", "claims", "paper"} <= made
    assert set(spent) == {*overhead.PARTS.values(), "other work of jobs"}


@pytest.mark.parametrize("place", overhead.PARTS)
def test_a_metered_function_is_there(place):
    assert callable(resolve_name(place))


def test_an_inner_part_is_not_counted_twice(monkeypatch):
    clock = Ticking()
    monkeypatch.setattr("time.process_time", clock)
    meter = overhead.Meter()
    with meter.part("outer"):
        clock.spend(1)
        items = meter.each("inner", (clock.spend(4) for _ in range(2)))
        assert list(items) == [None, None]
        clock.spend(2)
    assert meter.total() == {"other work of jobs": 0, "outer": 3, "inner": 8}


# How it is measured.


def test_sides_take_turns_in_an_order_that_turns():
    clock, calls = Ticking(), []
    sides = {name: lambda name=name: (calls.append(name), clock.spend(len(name))) for name in "ab"}
    found = alternate(sides, 3, {"some": clock})["some"]
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"
    assert found == {"a": Samples((1, 1, 1)), "b": Samples((1, 1, 1))}


def test_the_least_value_counts_and_the_median_tells_the_spread():
    samples = divided(Samples((4.0, 2.0, 3.0)), 2)
    assert (samples.best, samples.spread) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("changes", "met"),
    [
        ({}, None),
        ({"limit": 0.5}, True),
        ({"limit": 0.4}, False),
        ({"ceiling": 1.0}, True),
        ({"ceiling": 0.9}, False),
    ],
)
def test_a_target_is_about_the_quotient_or_about_ours_alone(changes, met):
    assert row(**changes).is_met is met


def test_a_table_shows_both_sides_the_quotient_and_the_target():
    head, line = table([row(limit=0.4)]).splitlines()
    assert line.split() == "work n = 1 1 s (+100%) it 2 s 0.5 ratio ≤ 0.4 missed".split()
    assert head.index("target") == line.index("ratio")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, "s", "12.3 ms"),
        (75.0, "s", "75 s"),
        (3 * 2**20, "B", "3 MiB"),
        (-0.5, "s", "-500 ms"),
    ],
)
def test_amounts_are_written_in_a_unit_that_suits_them(value, unit, text):
    assert amount(value, unit) == text


def test_a_file_keeps_every_sample(tmp_path):
    save(tmp_path / "bench" / "latest.json", {"some": [row(limit=0.6)]}, {"cores": 2})
    read = json.loads((tmp_path / "bench" / "latest.json").read_text(encoding="utf-8"))
    assert read["machine"] == {"cores": 2}
    [kept] = read["topics"]["some"]
    assert kept["ours"]["values"] == [1.0, 3.0, 2.0]
    assert (kept["ratio"], kept["is_met"], kept["against"]) == (0.5, True, "it")
