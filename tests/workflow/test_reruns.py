"""What runs again after which change, asked of real Snakemake in copies of a finished run.

The finished run has three experiments. ``dc-limit``: one draw of tokens, attention at two
inverse temperatures, spectra of each. ``counterexamples``: three draws, and four cases of
attention with their spectra; one of them alone uses Sinkhorn scaling. ``nile``: one data
file and one smoothing. Then follow the judgement of the claims, the figures, the paper, and
the publication under fixed names.
"""

from __future__ import annotations

import ast
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping

import pytest

import lowpass.figures.gallery  # noqa: F401  (registers the figures)
from lowpass.figures.names import FIGURES
from lowpass.provenance import record_in
from lowpass.store import read

from .project import CONFIG, EXPERIMENTS, NOTHING, Project, jobs_in, outputs_in, write_config

BALANCE = "src/lowpass/balance.py"
DATA = "src/lowpass/data.py"
DRAWING = "src/lowpass/figures/attention.py"
JUDGES = "src/lowpass/claims/stochastic.py"
KERNELS = "src/lowpass/kernels.py"
MEASURES = "src/lowpass/measures/matrices.py"
PUBLISHED = ("results/paper.pdf", "results/claims.json", "results/manifest.json")
Change = Callable[[Project], None]


def figures_of(*experiments: str) -> int:
    """Count the figures of experiments, and those of the claims, that the finished run has."""
    shown = [set(FIGURES.facts(name)["experiments"]) for name in FIGURES]
    return sum(
        bool(each & set(experiments)) or not each for each in shown if each <= set(EXPERIMENTS)
    )


def after(*experiments: str, **jobs: int) -> Counter[str]:
    """Count jobs, and all that follows when some experiments are gathered anew.

    Claims are judged in one job, every experiment has some, and the paper shows everything.
    """
    follow = {"experiment": len(experiments), "figure": figures_of(*experiments), "judge": 1}
    return Counter({**jobs, **follow, "typeset": 1, "publish": 1})


ALL = after(*EXPERIMENTS, generate=5, attention=6, spectra=6, smoothing=1)
SINKHORN = after("counterexamples", attention=1, spectra=1)
PAPER = Counter(typeset=1, publish=1)


def edits(path: str, old: str, new: str) -> Change:
    return lambda project: project.edit(path, old, new)


def configures(**experiments: Mapping) -> Change:
    return lambda project: project.configure(**experiments)


# Nothing runs.


def test_touching_everything_but_results_runs_nothing(project):
    for part in ("Snakefile", "config", "profiles", "src", "workflow"):
        for path in [project.root / part, *(project.root / part).rglob("*")]:
            os.utime(path)
    assert project.plan() == NOTHING


class Rewording(ast.NodeTransformer):
    """Put another text where a docstring stands."""

    def visit(self, node: ast.AST) -> ast.AST:
        documented = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, documented) and ast.get_docstring(node):
            node.body[0].value.value = "Say the same in other words."
        return self.generic_visit(node)


def test_other_comments_docstrings_annotations_and_layout_run_nothing(project):
    # Of a kernel of attention; the signature of a study says what a configuration may ask of it,
    # so that smoothing reads annotations.
    project.edit(KERNELS, "def sinkhorn(scores: np.ndarray)", "def sinkhorn(scores: object)")
    project.edit(BALANCE, "-> float:", "-> np.floating:")
    for path in project.root.glob("src/**/*.py"):
        text = path.read_text(encoding="utf-8")
        # Unparsing drops every comment and lays out and quotes every line in its own way.
        other = ast.unparse(Rewording().visit(ast.parse(text)))
        assert other != text or not text
        path.write_text(f"# Moved down.\n\n\n{other}\n", encoding="utf-8")
    for path in [project.root / "Snakefile", *project.root.glob("workflow/rules/*.smk")]:
        path.write_text(f"{path.read_text(encoding='utf-8')}\n# The end.\n", encoding="utf-8")
    project.edit(CONFIG, "seed:", "# The root of all streams.\nseed:")
    assert project.plan() == NOTHING


def test_a_copy_elsewhere_with_new_times_runs_nothing(finished, tmp_path):
    there = finished.copy(tmp_path / "a longer path" / "to the same", times=False)
    assert there.plan() == NOTHING


def test_the_order_in_which_a_configuration_lists_things_runs_nothing(project):
    config = project.config
    sections = config["experiments"]
    deep, cases = sections["dc-limit"], sections["counterexamples"]
    columns = cases["zip"]["case"]
    for values in (deep["attention"]["beta"], deep["attention"]["arithmetic"], *columns.values()):
        assert values != values[::-1]
        values.reverse()
    for section in (deep, cases):
        section["spectra"].reverse()
    cases["zip"]["case"] = dict(reversed(columns.items()))
    config["experiments"] = dict(reversed(sections.items()))
    write_config(project.root / CONFIG, config)
    assert project.plan() == NOTHING


ADDITIONS = {
    KERNELS: '@KERNELS.add("halves", positive=True, doubly_stochastic=False)\n'
    "def halves(scores):\n    return (scores > -np.inf) / 2\n",
    MEASURES: '@MEASURES.add("largest")\n'
    'def largest(trajectory):\n    return trajectory["hc"].max()\n',
    DATA: '@GENERATORS.add("ones", kind="tokens")\n'
    "def ones(rng, *, n_tokens: Count, d_model: Count):\n    return np.ones((n_tokens, d_model))\n",
    DRAWING: '@FIGURES.add("later", experiments=("later",), section="later", caption="Later.")\n'
    "def later(shown, palette=PAPER):\n    return decay(shown, palette)\n",
    # Another judge of what is judged, by experiments that nobody has described.
    JUDGES: '@CLAIMS.add("later", claim="A01", experiments=("later",), tolerance=1e-9)\n'
    "def later(experiments):\n    return Measured(as_written=0.0)\n",
}


def test_adding_what_no_experiment_uses_runs_nothing(project):
    for path, definition in ADDITIONS.items():
        project.append(path, f"\n\n{definition}")
    assert project.plan() == NOTHING


# Exactly what is affected runs, and test_explain.py finds the same edit named as its cause.

EDITS: dict[str, tuple[Change, Counter[str]]] = {
    # Only the case without a mean balances its attention; what follows is its experiment's.
    "a kernel": (
        edits(KERNELS, "plan = np.empty(scores.shape)", "plan = np.zeros(scores.shape)"),
        SINKHORN,
    ),
    # stages.attention imports kernels, which imports balance.
    "a function two imports away": (
        edits(BALANCE, "top + np.log(", "np.log(1.0) + top + np.log("),
        SINKHORN,
    ),
    "a constant": (edits(BALANCE, "HANDOVER = 1e-3", "HANDOVER = 1e-4"), SINKHORN),
    # Everything but the Sinkhorn case; smoothing uses softmax as well.
    "a kernel that most use": (
        edits(KERNELS, "return weight / weight.sum(", "return 1 * weight / weight.sum("),
        after(*EXPERIMENTS, attention=5, spectra=5, smoothing=1),
    ),
    # No configuration writes it down, so it is no part of a recipe, yet of what is computed.
    "a default argument": (
        edits(DATA, "contrast: Positive = 0.5", "contrast: Positive = 0.6"),
        after("counterexamples", generate=2, attention=2, spectra=2),
    ),
    "a measure": (
        edits(MEASURES, "spectra.unit_eigenvalue_defect)", "spectra.row_sum_defect)"),
        after("dc-limit", spectra=2),
    ),
    "the card of a measure": (
        edits(MEASURES, '"distance of the largest eigenvalue from one"', '"another distance"'),
        after("dc-limit", spectra=2),
    ),
    "a figure": (
        edits(DRAWING, '"Only the mean survives, at', '"The mean survives, at'),
        Counter(figure=1) + PAPER,
    ),
    "a function of two figures": (
        edits(DRAWING, "[len(values) // 2]", "[(len(values) - 1) // 2]"),
        Counter(figure=2) + PAPER,
    ),
    "a judge": (
        edits(JUDGES, "SPARE_DECADES = 4.0", "SPARE_DECADES = 4.5"),
        Counter(judge=1, figure=figures_of()) + PAPER,
    ),
    "a section of the paper": (
        lambda project: project.append("workflow/paper/sections/limit.typ", "\n// The end.\n"),
        PAPER,
    ),
    "a data file": (
        edits("workflow/resources/nile.csv", "1871,1120", "1871,1121"),
        after("nile", generate=1, smoothing=1),
    ),
    # Tokens do not depend on the depth of what attends to them.
    "a parameter": (
        configures(dc_limit={"attention": {"depth": 60}}),
        after("dc-limit", attention=2, spectra=2),
    ),
    # As a set of values this is what was there before; keys tell them apart.
    "two values exchanged": (
        configures(dc_limit={"data": {"n_tokens": 8, "d_model": 16}}),
        after("dc-limit", generate=1, attention=2, spectra=2),
    ),
    "the reason for an experiment": (configures(nile={"why": "Somebody measured it."}), PAPER),
    "one more figure": (
        lambda project: project.append(
            DRAWING, ADDITIONS[DRAWING].replace('=("later"', '=("nile"')
        ),
        Counter(figure=1) + PAPER,
    ),
    # The tokens are there; beta = 3 is one more matrix.
    "one more value of a sweep": (
        configures(dc_limit={"attention": {"beta": [0.5, 3, 1]}}),
        after("dc-limit", attention=1, spectra=1),
    ),
}


def test_an_edit_counts_through_a_decorator_and_an_alias(project):
    """The code has neither, so both come in first, and the one product that uses them is made."""
    decorator = "def kept(function):\n    return lambda *given: function(*given)\n\n\n@kept\n"
    project.edit(BALANCE, "def _log_sum(", f"{decorator}def _log_sum(")
    project.edit(KERNELS, "import doubly_stochastic", "import doubly_stochastic as balanced")
    project.edit(KERNELS, "= doubly_stochastic(", "= balanced(")
    attention = [str(path.relative_to(project.root)) for path in project.products("attention")]
    assert project.run(*attention) == {"attention": 1}
    assert project.plan(*attention) == NOTHING
    before, after_decorator = "lambda *given: function(*given)", "lambda *given: +function(*given)"
    project.edit(BALANCE, before, after_decorator)
    assert project.plan(*attention) == {"attention": 1}
    project.edit(BALANCE, after_decorator, before)
    project.edit(BALANCE, "plan = _rough(", "plan = +_rough(")
    assert project.plan(*attention) == {"attention": 1}


def test_more_replicates_are_one_more_block_and_leave_the_first_as_they_were(project):
    (old,) = (path for path in project.products("experiment") if path.name.startswith("dc-"))
    project.configure(dc_limit={"replicates": 14})
    dry = project.dry()
    assert jobs_in(dry) == after("dc-limit", generate=1, attention=2, spectra=2)
    (new,) = outputs_in(dry, "experiment")
    project.run(new)
    first, more = read(old), read(project.root / new)
    assert more.sizes["replicate"] == 14
    assert first.drop_attrs().identical(more.isel(replicate=slice(4)).drop_attrs())


# Other libraries.


def installs(project: Project, distribution: str) -> None:
    """Let Python find another version first, where it looks for distributions."""
    metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 99.0\n"
    project.write(f"src/{distribution}-99.0.dist-info/METADATA", metadata)


@pytest.mark.parametrize(
    ("distribution", "affected"),
    [
        ("numpy", ALL),
        ("matplotlib", Counter(figure=figures_of(*EXPERIMENTS)) + PAPER),
        ("typst", PAPER),
    ],
)
def test_another_version_of_a_library_runs_what_computes_with_it(distribution, affected, project):
    installs(project, distribution)
    assert project.plan() == affected


def test_a_product_made_with_another_library_says_so(project):
    installs(project, "numpy")
    (product,) = (path for path in project.products("data") if path.name.startswith("series"))
    name = str(product.relative_to(project.root))
    assert project.run(name) == {"generate": 1}
    assert project.plan(name) == NOTHING
    assert record_in(product)[0]["versions"]["numpy"] == "99.0"


# Back again, and beside.


def test_what_snakemake_forgot_is_told_and_going_back_only_publishes(project):
    before = project.bytes_of(*PUBLISHED)
    project.configure(nile={"smoothing": {"bandwidths": {"count": 23}}})
    shutil.rmtree(project.root / ".snakemake")
    told = project.trace("results/paper.pdf")
    assert told.returncode == 1
    assert (
        "orphan: the configuration plans no product with this key; --configfile names"
        in told.stdout
    )
    assert project.run() == after("nile", smoothing=1)
    assert project.trace("results/paper.pdf").returncode == 0
    assert project.bytes_of(*PUBLISHED) != before
    shutil.rmtree(project.root / ".snakemake")
    project.configure(nile={"smoothing": {"bandwidths": {"count": 21}}})
    assert project.run() == {"publish": 1}
    assert project.bytes_of(*PUBLISHED) == before


def test_code_that_snakemake_forgot_is_told(project):
    project.edit(KERNELS, "return weight / weight.sum(", "return 1 * weight / weight.sum(")
    shutil.rmtree(project.root / ".snakemake")
    told = project.trace("results/paper.pdf")
    assert told.returncode == 1
    assert "stale code: made by " in told.stdout


def test_an_experiment_that_comes_shares_what_is_there_and_goes_without_trace(project):
    project.configure(river=project.config["experiments"]["nile"])
    assert project.run() == Counter(experiment=1) + PAPER
    project.configure(river=None)
    assert project.plan() == {"publish": 1}


def test_a_named_configuration_replaces_the_paper(project):
    nile = project.config["experiments"]["nile"]
    river = {
        **nile,
        "smoothing": {"study": "selection", "bandwidths": {"low": 1, "high": 20, "count": 5}},
    }
    write_config(project.root / "one.yaml", {"seed": 1, "experiments": {"river": river}})
    project.edit(CONFIG, "count: 21", "count: 22")  # Would be smoothed again, were it planned.
    arguments = ("--configfile", "one.yaml")
    # The observations are shared; no figure or claim is about a river, though verdicts are drawn.
    one = Counter(smoothing=1, experiment=1, judge=1, figure=figures_of()) + PAPER
    dry = project.dry(*arguments)
    assert jobs_in(dry) == one
    (experiment,) = outputs_in(dry, "experiment")
    assert experiment.startswith("results/experiment/river~")
