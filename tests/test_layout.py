"""Whoever looks for the tests of a module finds them by its name, or in this table."""

from pathlib import Path

import pytest

import aucmax

SOURCE = Path(aucmax.__file__).parent
TESTS = Path(__file__).parent
# "import torch" in a test must not find a folder of tests
FOLDERS = {"dask": "on_dask", "onnx": "onnx_export", "torch": "pytorch"}
# parts that are tested as a whole: the file of tests, and the modules it is for
TESTED_TOGETHER = {
    "boosting/test_boosted_rankers.py": (
        "boosting: base, reweighting, rounds, weak_learners"
    ),
    "comparison/test_cross_validation.py": "comparison: judges",
    "comparison/test_reporting.py": "comparison: insights, verdicts",
    "contracts/test_solvers.py": (
        "solvers: base, risk_objective, smoothed_newton, smoothing"
    ),
    "datasets/test_exported_tables.py": (
        "datasets: cells, dialects, encodings, text_tables, typed_files, unnamed"
    ),
    "datasets/test_opening.py": "datasets: archives",
    "datasets/test_tables.py": "datasets: delimited",
    "hypotheses/test_scaled_columns.py": "hypotheses: base, column_reader",
    "contracts/test_manner.py": "base",
    "linear/test_linear_ranker_cv.py": "linear: candidates",
    "linear/test_memory_maps.py": "linear: standardized_map",
    "linear/test_ranges.py": "linear: risk_choice",
    "margin/test_choice_of_nu.py": "margin: adaptive, branch_and_bound, curve, sizes",
    "margin/test_formulations.py": "margin: column_problem, problem, request",
    "margin/test_hypotheses.py": "margin: hypothesis_sets, stump_problem, pruning",
    "margin/test_interruptions.py": "margin: limits",
    "margin/test_margin_ranker.py": "hypotheses: ensemble",
    "margin/test_saving.py": "margin: record",
    "persistence/test_hostile_arrays.py": "persistence: arrays",
    "persistence/test_hostile_files.py": "persistence: container, decode",
    "persistence/test_save_load.py": "persistence: encode, model_file, registry",
    "regularizers/test_proximal.py": (
        "regularizers: ball, base, elastic_net, group_lasso, l1"
    ),
    "on_dask/test_cells.py": "linear: cell_objective",
    "on_dask/test_linear.py": (
        "dask: cluster, features, held_parts, matrix, scoring, standardization, "
        "linear: row_logistic"
    ),
    "on_dask/test_command_line.py": "cli: workers",
    "on_dask/test_metrics.py": "dask: by_query, parts, ranking, tasks",
    "report/test_document.py": "report: charts, contents, svg, view",
    "risks/test_pair_hinge.py": "risks: base",
    "linear/test_bounded_loss.py": "risks: of_rows",
    "risks/test_pair_logistic.py": "risks: prepared_pairs",
    "solvers/test_level_bundle.py": "margin: objective",
    "solvers/test_masters.py": "solvers: certificate",
    "structured/test_convex_rounds.py": (
        "structured: bundle_rounds, frank_wolfe, rounds"
    ),
    "structured/test_graph_ranker.py": "structured: measure",
    "structured/test_inference.py": "structured: repelling",
    "structured/test_total_variation.py": "structured: network",
    "tables/test_target.py": "tables: grading",
    "test_cli.py": "cli: compare, data, demo, evaluate, figures, fit, score",
    "test_cli_decisions.py": "cli: explain",
    "test_cli_bad_input.py": "cli: options, outputs, program",
    "test_cli_parts.py": "cli: room",
    "test_cli_process.py": "cli: console",
    "test_cli_report.py": "cli: report",
    "test_cli_rows.py": "cli: training",
    "test_cli_lost_output.py": "cli: streams",
    "on_dask/test_trees.py": (
        "dask: tree_attempts, tree_pairs, tree_parts, tree_worker"
    ),
    "onnx_export/test_export.py": "onnx: graph, table_columns, trees",
    "trees/test_booster_text.py": "trees: booster_tree",
    "trees/test_lambdamart.py": "trees: booster, fitted_state, pair_objectives, params",
    "trees/test_lambdamart_columns.py": "trees: columns, data, frames",
    "trees/test_lambdamart_rounds.py": "trees: evaluation, rounds",
    "trees/test_resuming.py": "trees: binned_rows, segments",
    "trees/test_objectives.py": "objectives, trees: plugin",
}


def modules_of(listed):
    """Turn ``"linear: penalties, risk_choice"`` into paths below the source."""
    folder = ""
    for entry in listed.split(", "):
        *named, module = entry.split(": ")
        folder = named[0] + "/" if named else folder
        yield f"{folder}{module}.py"


TOGETHER = {
    module: tests
    for tests, listed in TESTED_TOGETHER.items()
    for module in modules_of(listed)
}
PUBLIC = [
    path.relative_to(SOURCE)
    for path in sorted(SOURCE.rglob("*.py"))
    if not path.stem.startswith("_")
]


@pytest.mark.parametrize("module", PUBLIC, ids=str)
def test_every_public_module_has_tests_where_one_looks_for_them(module):
    folder = FOLDERS.get(module.parent.as_posix(), module.parent)
    own = TESTS / folder / f"test_{module.name}"
    if module.as_posix() in TOGETHER:
        assert not own.exists(), "has tests of its own: take it out of the table"
        own = TESTS / TOGETHER[module.as_posix()]
    assert own.exists()


def test_the_table_lists_no_module_twice_nor_one_that_is_gone():
    listed = [m for row in TESTED_TOGETHER.values() for m in modules_of(row)]
    assert len(listed) == len(set(listed))
    assert set(listed) <= {module.as_posix() for module in PUBLIC}
