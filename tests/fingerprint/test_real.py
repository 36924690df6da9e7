"""The package itself: mutants of what its stages can reach, run on small experiments.

Every stage reads the same inputs, made by the unedited code, so what it writes is a function
of its recipe and its code alone. A seeded sample of mutants is run by default; all of them,
one for each definition, take some minutes::

    FINGERPRINT_MUTANTS=all pytest tests/fingerprint/test_real.py

A number instead of ``all`` asks for so many; a larger sample holds every smaller one.
"""

from __future__ import annotations

import ast
import compileall
import os
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import lowpass.registry
from lowpass.fingerprint import Code, check_asked
from lowpass.plan import Plan, Point
from lowpass.plan.complete import complete
from lowpass.plan.roots import names_of, roots_of

from .harness import Subject, caught, fingerprints, missed, run, strays
from .mutation import mutants, mutants_at, write_mutants
from .sabotage import forget_entries, forget_imports

SEED = 20261129
COUNT = os.environ.get("FINGERPRINT_MUTANTS", "12")
PROJECT = Path(__file__).parents[2]
SOURCE = Path(lowpass.registry.__file__).parents[1]
# Mathematics, specifications (but for that of the whole configuration), stages, and what
# writes; not the registry, which notes what is asked for.
REACHABLE = (
    "balance",
    "consensus",
    "data",
    "diffusion",
    "domains",
    "eigen",
    "flows",
    "fourier",
    "frozen",
    "graphs",
)
REACHABLE += (
    "kernels",
    "layernorm",
    "remedies",
    "labels",
    "laplacians",
    "layers",
    "masks",
    "measures/*",
    "modes",
    "pictures",
)
REACHABLE += (
    "records",
    "ring",
    "rows",
    "spectra",
    "splits",
    "starts",
    "store",
    "streams",
    "tables",
)
REACHABLE += ("rows", "weights", "smoothing/*", "studies/*", "spec/[!c]*", "stages/*")
REACHABLE += ("compact", "heat_equation", "scaling", "scores", "shapes", "stating", "taylor")
REACHABLE += ("collapse", "contraction", "diversity", "energy", "gains", "normality", "powers")
REACHABLE += ("equations", "integrators", "continuum", "matching")
REACHABLE += ("pairs",)
REACHABLE += ("impulses",)
REACHABLE += ("designs",)
REACHABLE += ("gauge", "heat_fit", "symmetrised", "walk", "residual")
REACHABLE += ("textbook",)
OUTSIDE = ("numpy", "xarray", "netCDF4", "pydantic", "scipy.special", "scipy.sparse.csgraph")
OUTSIDE += ("scipy.fft", "scipy.linalg", "scipy.sparse.linalg", "scipy.optimize", "scipy.integrate")
OUTSIDE += ("PIL.Image",)
SECTIONS = {
    "limit": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 3},
        "attention": {"kernel": "softmax", "beta": 1.0, "depth": 6,
                      "arithmetic": ["split", "float32"]},
        "inside": ["arithmetic"],
        "spectra": ["log10_hc_dc_ratio", "log10_transient_ratio", "log10_predicted_ratio",
                    "slem", "transient_rate", "row_sum_defect", "dft_mean_defect",
                    "projective_diameter", "henrici_number", "log10_power_gain",
                    "log10_mixing_distance", "stable_rank", "log10_cosine_gap",
                    "log10_dirichlet_energy", "log10_dong_bound", "delta_log_amplitude",
                    "collapse_order", "mean_departure", "first_departure"],
        "replicates": 4,
    },
    "counterexamples": {
        "data": {"d_model": 2},
        "attention": {"weights": "symmetric", "beta": 1.0, "depth": 5},
        "zip": {"case": {
            "label": ["second mode", "two blocks"],
            "data.generator": ["gaussian", "two_levels"],
            "data.n_tokens": [6, 6],
            "attention.start": ["second_mode", "tokens"],
            "attention.kernel": ["sinkhorn", "softmax"],
            "attention.mask": ["none", "block"],
        }},
        "spectra": ["log10_hc_dc_ratio", "slem", "min_attention"],
        "replicates": 2,
    },
    "kernels": {
        "data": {"n_tokens": 8, "d_model": 2},
        "attention": {"weights": "identity", "beta": 0.05, "depth": 2},
        "zip": {"case": {
            "label": ["cosines", "cubes", "no temperature", "linear"],
            "data.generator": ["smooth_ring", "gaussian", "gaussian", "gaussian"],
            "attention.score": ["cosine", "l2", "distance", "elu"],
            "attention.kernel": ["softmax", "tricube", "uniform", "sinkhorn"],
            "attention.mask": ["none", "none", "causal", "none"],
        }},
        "spectra": ["slem"],
        "replicates": 1,
    },
    "logits": {
        "data": {"generator": "hubs", "n_tokens": 4, "d_model": 2},
        "attention": {"beta": 1.0, "depth": 2},
        "spectra": ["slem"],
        "replicates": 1,
    },
    "stack": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4},
        "attention": {"values": "random", "n_heads": 2, "beta": 1.0, "depth": 4,
                      "layers": ["frozen", "recomputed"], "skip": 1.0, "norm": "post"},
        "inside": ["layers"],
        "spectra": ["log10_hc_dc_ratio", "log10_composite_norm", "effective_rank", "mean_cosine"],
        "replicates": 2,
    },
    "flow": {
        "data": {"generator": "gaussian", "n_tokens": 4, "d_model": 2},
        "attention": {"beta": 1.0, "skip": 1.0, "step": 0.5, "arithmetic": "float64",
                      "layers": ["frozen", "recomputed"], "integrator": ["euler", "dop853"],
                      "remedy": "laplacian", "strength": 1.0, "depth": 2},
        "inside": ["layers", "integrator"],
        "spectra": ["flow_error", "note_quotient_error", "heat_equation_error"],
        "replicates": 1,
    },
    "nile": {
        "data": {"generator": "series", "path": "workflow/resources/nile.csv",
                 "key": "year", "value": "flow"},
        "smoothing": {"study": "selection", "bandwidths": {"low": 0.5, "high": 50.0, "count": 9}},
    },
    "identities": {
        "data": {"generator": "pairs", "n_queries": 3, "n_keys": 4, "n_features": 2},
        "smoothing": {"study": "identities"},
        "replicates": 2,
    },
    "photograph": {
        "data": {"generator": "image", "path": "workflow/resources/camera.png", "patch": 32},
        "attention": {"score": "l2", "weights": "identity", "beta": 0.1, "depth": 2},
        "spectra": ["picture", "log10_radial_power", "input_mode_gain", "bessel_gain",
                    "fitted_picture", "picture_correlation"],
    },
    "warm": {
        "data": {"generator": "image", "path": "workflow/resources/camera.png", "patch": 32},
        "diffusion": {"graph": "grid", "diffusion_time": 0.5, "depth": 2},
        "spectra": ["log10_transient_ratio", "ring_heat_gain", "slem"],
    },
}  # fmt: skip
RUN = """
def run(job):
    import hashlib, importlib, pathlib, tempfile
    from lowpass import store
    from lowpass.stages.experiment import Part
    name = job["recipe"]["stage"]
    stage = getattr(importlib.import_module(f"lowpass.stages.{name}"), name)
    inputs = [store.read(path) for path in job["inputs"]]
    if job["places"]:
        inputs = [[Part(*at, each) for at, each in zip(job["places"], inputs, strict=True)]]
    if job["resource"] is not None:
        inputs = [pathlib.Path(job["resource"]).read_bytes()]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "product.nc")
        store.write(path, stage(job["recipe"], *inputs), {"of": name}, job["parents"])
        return hashlib.sha256(path.read_bytes()).hexdigest()
"""


def begins(job: dict) -> tuple:
    """Begin where the workflow does."""
    recipe = job["recipe"]
    return roots_of(recipe).definitions, names_of(recipe["stage"], complete(recipe))


def job_of(point: Point, plan: Plan, laboratory) -> dict:
    """Say all that a stage is given, as plain data."""
    parents, places = [laboratory.make(parent) for parent in point.parents], []
    inputs = list(point.parents)
    if point.stage == "experiment":
        cells = plan.cells[point.recipe["params"]["name"]]
        inputs = [parent for _, _, parent in cells]
        places = [[cell.place, block] for cell, block, _ in cells]
        parents *= 17  # No record lists so many, so that the file gets a table of them.
    return {
        "recipe": point.recipe,
        "inputs": [str(laboratory.file(parent)) for parent in inputs],
        "resource": str(PROJECT / point.resource) if point.resource else None,
        "places": places,
        "parents": parents,
    }


@pytest.fixture(scope="module")
def real(shared_laboratory, tmp_path_factory) -> Subject:
    """Copy the package, which others may edit meanwhile, and make the inputs of every stage.

    It is compiled once for all that import it.
    """
    root = tmp_path_factory.mktemp("real") / "src"
    shutil.copytree(
        SOURCE / "lowpass", root / "lowpass", ignore=shutil.ignore_patterns("__pycache__")
    )
    compileall.compile_dir(root, quiet=2)
    plan = Plan(SEED, SECTIONS, "test", PROJECT)
    jobs = [job_of(point, plan, shared_laboratory) for point in plan]
    # Recipes that name the same things run the same code: one of them is enough.
    different = {(tuple(roots), frozenset(names)): j for j in jobs for roots, names in [begins(j)]}
    return Subject(root, (*different.values(),), RUN, begins)


@pytest.fixture(scope="module")
def ran(real):
    """Run the unedited package, watched: (results, fingerprints)."""
    [results] = run([real], preload=OUTSIDE)
    return results, fingerprints(real)


@pytest.fixture(scope="module")
def mutated(real, tmp_path_factory):
    """Run a sample of mutants, or all: (subject, what, results, fingerprints) of each."""
    patterns = [f"lowpass/{name}.py" for name in REACHABLE]
    paths = [path for pattern in patterns for path in sorted(real.root.glob(pattern))]
    count = None if COUNT == "all" else int(COUNT)
    rng = np.random.default_rng(SEED)
    found = list(islice(mutants(paths, rng), count))
    # An entry of a registry is among them whatever the sample holds.
    found += mutants_at(*definition(real, "weights.py", "symmetric"), rng, each=1)
    subjects = list(write_mutants(real, tmp_path_factory.mktemp("mutants"), found))
    results = run(subjects, watched=False, preload=OUTSIDE)
    what = [mutant.what for mutant in found]
    return list(zip(subjects, what, results, map(fingerprints, subjects), strict=True))


def test_every_stage_makes_a_product(real, ran):
    assert {job["recipe"]["stage"] for job in real.recipes} == {
        "data", "attention", "diffusion", "spectra", "smoothing", "experiment"
    }  # fmt: skip
    assert [result.error for result in ran[0]] == [None] * len(real.recipes)
    assert None not in ran[1]


def test_no_mutant_changes_a_product_unseen(ran, mutated):
    found = {what: unseen for _, what, *mutant in mutated if (unseen := missed(ran, mutant))}
    assert found == {}


def test_mutants_change_products(ran, mutated, capsys):
    """A mutation test that changed nothing would prove nothing.

    Every module has its turn, and many serve none of the recipes here: those mutants count that
    some fingerprint sees, of which one in eight has to show in a product.
    """
    pairs = [
        (old.output != new.output, seen != now)
        for _, _, results, prints in mutated
        for old, new, seen, now in zip(ran[0], results, ran[1], prints, strict=True)
        if None not in (new.output, now)
    ]
    noticed = sum(bool(caught(ran, mutant)) for _, _, *mutant in mutated)
    vain = sum(print_ and not output for output, print_ in pairs)
    reached = sum(prints != ran[1] for *_, prints in mutated)
    with capsys.disabled():
        print(f"\n{len(mutated)} mutants x {len(ran[0])} recipes: {len(pairs)} products made, "
              f"{sum(output for output, _ in pairs)} changed (by {noticed} of {reached} seen), "
              f"{vain} rerun in vain ({vain / len(pairs):.1%})")  # fmt: skip
    assert reached >= len(mutated) / 4
    assert noticed >= reached / 8


def definition(real: Subject, module: str, name: str) -> tuple[Path, int]:
    """Find a definition of the package."""
    path = real.root / "lowpass" / module
    names = [getattr(node, "name", None) for node in ast.parse(path.read_text()).body]
    return path, names.index(name)


def unreached(real: Subject) -> Iterator[tuple[Path, int]]:
    """Yield definitions that no recipe here names."""
    yield definition(real, "kernels.py", "signed")
    yield definition(real, "masks.py", "cycle")
    yield definition(real, "weights.py", "tied")


def test_edits_that_no_recipe_reaches_count_as_nothing(real, ran, tmp_path, rng):
    one, *others = [each for site in unreached(real) for each in mutants_at(*site, rng, each=1)]
    (subject,) = write_mutants(real, tmp_path, [one])
    for other in others:
        (subject.root / other.path.relative_to(real.root)).write_text(other.text)
    (results,) = run([subject], watched=False, preload=OUTSIDE)
    outcome = (results, fingerprints(subject))
    assert outcome[1] == ran[1]
    assert caught(ran, outcome) == missed(ran, outcome) == []


@pytest.mark.parametrize("sabotage", [forget_imports, forget_entries])
def test_mutants_catch_an_analyser_that_forgets(real, ran, mutated, monkeypatch, sabotage):
    sabotage(monkeypatch)
    before = (ran[0], fingerprints(real))
    suspects = [each for each in mutated if caught(ran, each[2:])]
    assert any(missed(before, (results, fingerprints(each))) for each, _, results, _ in suspects)


def test_only_what_the_closure_of_a_recipe_holds_is_executed(real, ran):
    assert all(len(result.executed) > 8 for result in ran[0])
    assert strays(real, ran[0]) == set()


def test_every_entry_asked_for_is_covered(real, ran):
    code = Code.read(real.root)
    for job, result in zip(real.recipes, ran[0], strict=True):
        assert result.asked
        check_asked(code.closure(*begins(job)), result.asked)
