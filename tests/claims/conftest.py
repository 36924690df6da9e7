"""Small experiments that every judge can judge, and ways to do them wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import xarray as xr

import lowpass.claims.judges  # noqa: F401  (registers the judges)
from lowpass.claims.judge import judge
from lowpass.claims.names import CLAIMS
from lowpass.claims.register import REGISTER
from lowpass.stages.experiment import Part, experiment
from lowpass.stages.spectra import spectra

MEASURES = [
    "log10_hc_dc_ratio",
    "log10_transient_ratio",
    "log10_predicted_ratio",
    "slem",
    "hc_dc_rate",
    "transient_rate",
    "row_sum_defect",
    "unit_eigenvalue_defect",
    "dft_mean_defect",
    "min_attention",
]
LADDER = ["oscillation_gain", "slem", "dobrushin", "birkhoff", "tanh_bound"]
LADDER += ["hc_layer_gain", "hc_gain", "ca_gain", "column_gain", "wang_bound"]
WANING = ["log10_hc_growth", "log10_oscillation_growth", "log10_oscillation_bound"]
VALUES = ["log10_hc_growth", "log10_transient_ratio", "transient_rate", "hc_rate", "slem"]
VALUES += ["value_radius", "value_norm", "hc_layer_gain", "wang_bound"]
HEAT = ["symmetrised_error", "spectral_exponential_defect", "elementwise_gap"]
HEAT += ["spectral_kernel_gap", "other_modes_energy", "own_modes_defect", "lowest_share"]
HEAT += ["negative_degree_share", "shifted_lowest", "heat_row_defect", "normalised_row_defect"]
HEAT += ["heat_min_entry", "shifted_min_entry", "heat_error", "heat_best_time"]
HEAT += ["log10_heat_distance"]
HEAT += ["identity_error", "column_bound", "heat_floor", "gauge_error", "best_gauge_error"]
WALK = ["walk_defect", "walk_balance_defect", "walk_spectrum_defect", "walk_energy_defect"]
KINDS = {"weights": ["symmetric", "tied", "untied"], "beta": [0.5, 2.0]}
# Deep enough for every run at these β to fall far below the limit's tolerance.
SECTIONS: dict[str, dict[str, Any]] = {
    "dc-limit": {
        "data": {"generator": "gaussian", "n_tokens": 16, "d_model": 8},
        "attention": {"beta": [0.5, 1.0], "arithmetic": ["float64", "split"], "depth": 120},
        "inside": ["arithmetic"],
        "spectra": MEASURES,
        "replicates": 6,
    },
    "counterexamples": {
        "data": {"d_model": 4},
        "attention": {"weights": "symmetric", "beta": 1.0, "depth": 400},
        "zip": {
            "case": {
                "label": ["second mode", "no mean", "two blocks", "two-cycle"],
                "data.generator": ["gaussian", "gaussian", "two_levels", "two_levels"],
                "data.n_tokens": [8, 8, 8, 2],
                "attention.start": ["second_mode", "no_stationary", "tokens", "tokens"],
                "attention.kernel": ["softmax", "sinkhorn", "softmax", "softmax"],
                "attention.mask": ["none", "none", "block", "cycle"],
            }
        },
        "spectra": ["log10_hc_dc_ratio", "log10_transient_ratio", "slem", "min_attention"],
        "replicates": 2,
    },
    "remedies": {
        "data": {"generator": "gaussian", "n_tokens": 16, "d_model": 8},
        "attention": {
            "weights": "symmetric",
            "beta": 1.0,
            "remedy": ["attinv", "attnscale", "featscale", "gfsa", "highpass", "residual"],
            "strength": [0.0, 0.75, 1.0],
            "depth": 400,
            "record": [0],
        },
        "inside": ["remedy", "strength"],
        "spectra": [
            "log10_transient_ratio",
            "log10_hc_dc_ratio",
            "transient_rate",
            "predicted_rate",
            "transient_growth",
            "predicted_growth",
            "second_gain_share",
            "hc_dc_rate",
            "log10_mode_ratio",
            "attention_spread",
            "slem",
        ],
        "replicates": 6,
    },
    "powers": {
        "data": {"generator": "gaussian", "n_tokens": 12, "d_model": 4},
        "attention": {"beta": [1.0, 4.0], "mask": ["cycle", "none"], "depth": 1},
        "inside": ["beta", "mask"],
        "spectra": ["power_error"],
        "replicates": 4,
    },
    "neutreno": {
        "data": {"generator": "gaussian", "n_tokens": 16, "d_model": 8},
        "attention": {
            "beta": 2.0,
            "remedy": "neutreno",
            "strength": [0.2, 0.6],
            "depth": 200,
            "record": [0, 50, 100, 150, 200],
        },
        "inside": ["strength"],
        "spectra": ["log10_fixed_point_distance", "predicted_stability"],
        "replicates": 8,
    },
    "mixing": {
        "data": {"generator": "gaussian", "n_tokens": 16, "d_model": 8},
        "attention": {
            "kernel": ["sinkhorn", "softmax"],
            "weights": "symmetric",
            "beta": [1.0, 2.0],
            "depth": 20,
        },
        "inside": ["kernel", "beta"],
        "spectra": [
            "log10_mixing_distance",
            "log10_mixing_lower",
            "log10_mixing_upper",
            "column_sum_defect",
            "hc_gain",
            "reversibility_defect",
            "slem",
        ],
        "replicates": 4,
    },
    "bounds": {
        "data": {"generator": "gaussian", "n_tokens": [8, 12], "d_model": 6},
        "attention": {"beta": [0.0, 1.0, 3.0], "depth": 1},
        "inside": ["beta"],
        "spectra": LADDER,
        "replicates": 4,
    },
    "hubs": {
        "data": {"n_tokens": 8, "d_model": 4},
        "attention": {"beta": [0.5, 40.0], "depth": 1},
        "inside": ["beta"],
        "zip": {"case": {"label": ["hubs", "random"], "data.generator": ["hubs", "gaussian"]}},
        "spectra": ["hc_gain", "column_gain", "hc_layer_gain", "oscillation_gain"],
        "replicates": 3,
    },
    "waning": {
        "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 4},
        "attention": {
            "kernel": "uniform",
            "layers": "waning",
            "beta": 1.0,
            "depth": 12,
            "record": "all",
        },
        "spectra": WANING,
        "replicates": 2,
    },
    "products": {
        "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 4},
        "attention": {
            "layers": "recomputed",
            "projections": ["shared", "fresh"],
            "beta": 0.5,
            "depth": 12,
        },
        "spectra": ["log10_hc_growth", "log10_hc_dc_ratio"],
        "replicates": 2,
    },
    "values": {
        "data": {"generator": "gaussian", "n_tokens": 16, "d_model": 8},
        "attention": {"weights": "symmetric", "beta": 0.5, "depth": 200},
        "zip": {
            "case": {
                "label": ["scaled", "random"],
                "attention.values": ["identity", "random"],
                "attention.value_scale": [1.2, 1.0],
                "attention.value_unit": ["inverse_slem", "one"],
            }
        },
        "spectra": VALUES,
        "replicates": 3,
    },
    "residual": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4},
        "attention": {
            "weights": "symmetric",
            "beta": 1.0,
            "skip": 1.0,
            "value_scale": [-4.0, -1.5, -1.0, -0.4, 0.0, 0.5, 2.0],
            "depth": 150,
            "record": [0],
        },
        "inside": ["value_scale"],
        "spectra": [
            "tapered_rate",
            "predicted_rate",
            "predicted_rate_error",
            "hc_dc_rate",
            "sharpening_edge",
            "slem",
            "eigenvalue_real",
        ],
        "replicates": 4,
    },
    "residual-values": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4},
        "attention": {
            "weights": "symmetric",
            "beta": 1.0,
            "skip": 1.0,
            "values": ["identity", "random", "turning"],
            "value_scale": [-1.0, 1.0],
            "depth": 150,
            "record": [0, 1],
        },
        "inside": ["values", "value_scale"],
        "spectra": [
            "operator_defect",
            "written_defect",
            "tapered_rate",
            "predicted_rate",
            "predicted_rate_error",
        ],
        "replicates": 4,
    },
    "flow-values": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4},
        "diffusion": {
            "graph": "affinity",
            "laplacian": "random_walk",
            "weights": "symmetric",
            "beta": 1.0,
            "values": ["identity", "random", "turning"],
            "value_scale": [-1.0, 1.0],
            "diffusion_time": 0.5,
            "depth": 60,
            "record": [0],
        },
        "inside": ["values", "value_scale"],
        "spectra": ["tapered_growth", "least_real_value"],
        "replicates": 4,
    },
    "identities": {
        "data": {"generator": "pairs", "n_queries": 12, "n_keys": 20, "n_features": 4},
        "smoothing": {"study": "identities"},
        "replicates": 6,
    },
    "nile": {
        "data": {
            "generator": "series",
            "path": "workflow/resources/nile.csv",
            "key": "year",
            "value": "flow",
        },
        "smoothing": {
            "study": "selection",
            "bandwidths": {"low": 0.5, "high": 50.0, "count": 21},
            "neighbours": 1,
            "probes": {"low": 0.05, "high": 12.8, "count": 9},
        },
    },
    "bridge": {
        "data": {"generator": "impulse", "n_keys": 302},
        "smoothing": {
            "study": "response",
            "bandwidths": {"low": 0.25, "high": 16.0, "count": 13},
        },
    },
    "pooling": {
        "data": {"generator": "sine_and_power"},
        "smoothing": {
            "study": "pooling",
            "bandwidths": {"low": 0.02, "high": 10.0, "count": 11},
            "correlation": [0.0, 0.3],
        },
        "inside": ["correlation"],
    },
    "co2": {
        "data": {
            "generator": "series",
            "path": "workflow/resources/co2.csv",
            "key": "year",
            "value": "co2",
        },
        "smoothing": {
            "study": "blocking",
            "bandwidths": {"low": 0.01, "high": 8.0, "count": 11},
            "window": [0.0, 0.5, 1.0],
            "thin": 8,
        },
        "inside": ["window"],
    },
    "penguins": {
        "data": {
            "generator": "table",
            "path": "workflow/resources/penguins.csv",
            "keys": ["flipper_length"],
            "value": "body_mass",
            "missing": "drop",
        },
        "smoothing": {"study": "selection", "bandwidths": {"low": 0.5, "high": 30.0, "count": 7}},
    },
    "penguins-2d": {
        "data": {
            "generator": "table",
            "path": "workflow/resources/penguins.csv",
            "keys": ["bill_length", "bill_depth"],
            "value": "body_mass",
            "missing": "drop",
        },
        "smoothing": {
            "study": "plane",
            "bandwidths": {"low": 0.05, "high": 20.0, "count": 5},
            "raster": 6,
            "thin": 4,
        },
    },
    "convergence": {
        "data": {"generator": "wave", "n_keys": 32805},
        "smoothing": {
            "study": "convergence",
            "beta": 400.0,
            "thin": [1, 3, 9, 243],
            "kernel": ["gaussian"],
            "degree": [0, 1],
            "ends": ["joined", "open"],
        },
        "inside": ["thin", "kernel", "degree", "ends"],
    },
    "circle": {
        "data": {"generator": "ring", "n_tokens": 24},
        "attention": {"score": "l2", "weights": "identity", "beta": [1.0, 3.0], "depth": 1},
        "spectra": ["input_mode_gain", "bessel_gain", "gaussian_gain"],
        "replicates": 1,
    },
    "continuum": {
        "data": {"generator": "dense_ring", "n_tokens": 160, "modulation": [0.0, 0.5]},
        "attention": {
            "score": "l2",
            "weights": "identity",
            "kernel": ["softmax", "sinkhorn", "density_corrected"],
            "beta": [6.25, 25.0, 100.0],
            "depth": 1,
            "matrix": "summarised",
        },
        "inside": ["kernel", "beta"],
        "spectra": ["generator_error", "layer_generator", "limit_generator", "kernel_width"],
    },
    "order-tokens": {
        "data": {"n_tokens": 12, "d_model": 8},
        "attention": {"weights": "symmetric", "beta": 2.0, "depth": 1},
        "zip": {
            "case": {
                "label": ["independent", "smooth"],
                "data.generator": ["gaussian", "smooth_ring"],
            }
        },
        "spectra": ["input_mode_gain", "gain_rank_correlation", "offdiagonal_dft_energy"],
        "replicates": 6,
    },
    "order-circle": {
        "data": {"n_tokens": 12},
        "attention": {"score": "l2", "weights": "identity", "beta": 2.0, "depth": 1},
        "zip": {
            "case": {
                "label": ["in order", "renumbered"],
                "data.generator": ["ring", "permuted_ring"],
            }
        },
        "spectra": [
            "input_mode_gain",
            "gain_rank_correlation",
            "offdiagonal_dft_energy",
            "slem",
            "hc_gain",
        ],
        "replicates": 6,
    },
    "order-neighbours": {
        "data": {"generator": "ring_neighbours", "n_tokens": 12, "d_model": 2},
        "attention": {"beta": 9.0, "depth": 1},
        "spectra": ["input_mode_gain", "gain_rank_correlation", "offdiagonal_dft_energy"],
        "replicates": 1,
    },
    "recomputed": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4},
        "attention": {
            "beta": 0.5,
            "layers": ["frozen", "recomputed"],
            "arithmetic": ["split", "float64"],
            "depth": 9,
        },
        "inside": ["layers", "arithmetic"],
        "spectra": ["log10_hc_dc_ratio", "log10_rounding_floor", "collapse_order", "slem"],
        "replicates": 3,
    },
    "dong-bound": {
        "data": {"generator": "gaussian"},
        "attention": {
            "beta": 0.1,
            "values": "random",
            "layers": "recomputed",
            "depth": 4,
            "record": "all",
        },
        "zip": {
            "case": {
                "label": ["many tokens", "two tokens"],
                "data.n_tokens": [6, 2],
                "data.d_model": [4, 1],
            }
        },
        "spectra": ["log10_composite_norm", "log10_composite_norm_infimum", "log10_dong_bound"],
        "replicates": 3,
    },
    "architecture": {
        "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 6},
        "attention": {
            "weights": "tied",
            "beta": 0.25,
            "layers": "recomputed",
            "skip": [0.0, 1.0],
            "norm": ["none", "pre", "post"],
            "value_scale": [1.0, -0.5],
            "depth": 20,
            "record": [0],
        },
        "inside": ["skip", "norm", "value_scale"],
        "spectra": ["log10_hc_dc_ratio"],
        "replicates": 2,
    },
    "causal": {
        "data": {"generator": "gaussian", "n_tokens": [4, 9], "d_model": 3},
        "attention": {
            "mask": "causal",
            "kernel": ["softmax", "uniform"],
            "start": ["tokens", "no_stationary"],
            "beta": 0.5,
            "depth": 80,
            "record": [80],
        },
        "inside": ["kernel", "start"],
        "spectra": ["log10_hc_dc_ratio", "slem", "mean_departure", "first_departure"],
        "replicates": 3,
    },
    "window": {
        "data": {"generator": "gaussian", "n_tokens": 9, "d_model": 3},
        "attention": {
            "mask": "window",
            "mask_width": [1, 3, 9],
            "kernel": ["softmax", "uniform"],
            "beta": 0.5,
            "depth": 1,
        },
        "inside": ["mask_width", "kernel"],
        "spectra": ["slem"],
        "replicates": 3,
    },
    "scaling": {
        "data": {"generator": "gaussian", "n_tokens": [8, 512], "d_model": [4]},
        "attention": {
            "beta": [0.1, 1.0],
            "depth": 1,
            "record": [0],
            "matrix": "summarised",
        },
        "inside": ["beta"],
        "spectra": ["slem_over_gaussian"],
        "replicates": 10,
    },
    "heat-orders": {
        "data": {"generator": "gaussian", "n_tokens": 12, "d_model": 4},
        "diffusion": {
            "graph": ["affinity", "logits"],
            "laplacian": "signed",
            "beta": 1.0,
            "diffusion_time": [1e-5, 1e-4, 3.0],
            "depth": 1,
            "record": [0],
        },
        "inside": ["graph", "diffusion_time"],
        "spectra": ["heat_reach", "log10_taylor_error", "log10_taylor_lead"],
        "replicates": 3,
    },
    "stability": {
        "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 2},
        "diffusion": {
            "graph": "ring",
            "method": "euler",
            "values": ["identity", "oblique", "quarter_turn"],
            "diffusion_time": [0.1, 0.25, 0.4, 0.5, 0.6],
            "depth": 400,
            "record": [0, 1],
        },
        "inside": ["values", "diffusion_time"],
        "spectra": ["wave_gain", "ring_step_gain", "mode_gain", "transient_growth", "stable"],
        "replicates": 3,
    },
    "independent-logits": {
        "data": {"generator": "iid_logits", "n_tokens": [8, 160], "d_model": 1},
        "attention": {
            "beta": [0.5, 1.0, 3.0],
            "depth": 1,
            "record": [0],
            "matrix": "summarised",
        },
        "inside": ["beta"],
        "spectra": ["slem_over_independent"],
        "replicates": 10,
    },
    "heat-kernel": {
        "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 4},
        "attention": {**KINDS, "depth": 1, "record": [0]},
        "inside": ["weights", "beta"],
        "spectra": HEAT,
        "replicates": 3,
    },
    "row-shifts": {
        "data": {"generator": "row_shifts", "n_tokens": 8, "d_model": 1},
        "attention": {"beta": 1.0, "depth": 1, "record": [0]},
        "spectra": [
            "uniform_distance",
            "symmetrised_distance",
            "lowest_share",
            "log10_heat_distance",
        ],
        "replicates": 3,
    },
    "random-walk": {
        "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 4},
        "attention": {**KINDS, "depth": 1, "record": [0]},
        "inside": ["weights", "beta"],
        "spectra": [*WALK, "walk_eigenvalue"],
        "replicates": 3,
    },
}

FLOW = {"beta": 1.0, "skip": 1.0, "remedy": "laplacian", "arithmetic": "float64"}
SECTIONS |= {
    "euler": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4},
        "attention": {
            **FLOW,
            "values": "random",
            "layers": ["frozen", "recomputed"],
            "step": 0.25,
            "depth": 8,
            "sublayers": [32, 64],
            "strength": [0.0, 1.0],
            "record": [8],
        },
        "inside": ["layers", "strength", "sublayers"],
        "spectra": ["flow_error", "note_flow_error"],
        "replicates": 3,
    },
    "euler-step": {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 4},
        "attention": {
            **FLOW,
            "values": ["identity", "random"],
            "layers": ["frozen", "recomputed"],
            "step": [0.0078125, 0.00390625],
            "depth": 1,
            "integrator": ["dop853", "euler"],
            "strength": [0.0, 1.0],
        },
        "inside": ["values", "layers", "step", "integrator", "strength"],
        "spectra": ["flow_error", "note_flow_error", "quotient_error", "log10_hc_dc_ratio"],
        "replicates": 3,
    },
    "to-continuum": {
        "data": {"generator": "ring", "n_tokens": [12, 48]},
        "attention": {
            **FLOW,
            "score": "l2",
            "weights": "identity",
            "beta": [8.0, 32.0, 64.0],
            "layers": ["frozen", "recomputed"],
            "step": 2.0,
            "depth": 16,
            "sublayers": [1, 8],
            "strength": 1.0,
            "record": [1, 2, 8, 16],
        },
        "inside": ["beta", "layers", "sublayers"],
        "spectra": [
            "flow_error",
            "heat_equation_error",
            "curve_shortening_error",
            "matched_time",
        ],
        "replicates": 1,
    },
}

SECTIONS |= {
    "random-features": {
        "data": {"generator": "pairs", "n_queries": 20, "n_keys": 12, "n_features": 4},
        "smoothing": {"study": "random_features", "rounds": 1, "largest_norm": 1.0},
        "replicates": 10,
    },
    "fast-attention": {
        "data": {"generator": "pairs", "n_queries": 24, "n_keys": 1, "n_features": 16},
        "smoothing": {
            "study": "contest",
            "n_keys": [100, 400],
            "n_features": [1, 16],
            "most_terms": 64,
        },
        "inside": ["n_keys", "n_features"],
        "replicates": 10,
    },
}


@pytest.fixture(scope="module")
def experiments(shared_laboratory) -> dict[str, xr.Dataset]:
    """Run every experiment as it should be."""
    return {name: shared_laboratory.run(section) for name, section in SECTIONS.items()}


@pytest.fixture
def rerun(laboratory) -> Callable[..., dict[str, xr.Dataset]]:
    """Run one experiment anew, with parameters that differ or code that is spoilt."""

    def run(name: str, **changes: Any) -> dict[str, xr.Dataset]:
        section = SECTIONS[name]
        stages = {
            stage: {**section[stage], **value} if isinstance(value, dict) else value
            for stage, value in changes.items()
        }
        return {name: laboratory.run({**section, **stages})}

    return run


@pytest.fixture
def remeasured(shared_laboratory) -> Callable[..., dict[str, xr.Dataset]]:
    """Measure an experiment's trajectories after they were changed."""

    def measure(name: str, change: Callable[[xr.Dataset], xr.Dataset]) -> dict[str, xr.Dataset]:
        plan = shared_laboratory.plan(SECTIONS[name])
        parts = []
        for cell, block, point in plan.cells["trial"]:
            trajectory = shared_laboratory.open(point.parents[0])
            parts.append(Part(cell.place, block, spectra(point.recipe, change(trajectory))))
        return {name: experiment(plan.experiments["trial"].recipe, parts)}

    return measure


@pytest.fixture(scope="session")
def judged() -> Callable[..., dict[str, Any]]:
    """Judge one claim of some experiments."""

    def judge_one(claim: str, experiments: Mapping[str, xr.Dataset]) -> dict[str, Any]:
        judges = {CLAIMS.facts(name)["claim"]: name for name in CLAIMS}
        params = {"register": list(REGISTER), "judged": {claim: judges[claim]}}
        return judge({"params": params}, experiments)[claim]

    return judge_one
