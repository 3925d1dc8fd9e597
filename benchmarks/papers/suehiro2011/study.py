"""Tasks, tables and pictures of the study."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.papers.markdown import Table
from benchmarks.papers.suehiro2011 import curve, protocol, times
from benchmarks.papers.suehiro2011 import data as sets
from benchmarks.papers.suehiro2011 import tables as made
from benchmarks.papers.suehiro2011.data import Data, NewsData, RuleData, TableData
from benchmarks.papers.suehiro2011.printed import EPSILONS, TABLE_1, TABLE_2
from benchmarks.papers.suehiro2011.protocol import FoldResult, Method, run_method
from benchmarks.papers.suehiro2011.tables import OURS, FoldResults
from benchmarks.papers.tasks import Task

ROUNDS = (10.0, 30.0, 100.0, 300.0, 1000.0, 5000.0, 10_000.0)
#: beyond the paper's epsilons, where few or many of the pairs must be given up
LARGER = (*EPSILONS, 0.4, 0.5)
WIDER = {
    "features": (0.01, 0.02, *LARGER),
    "signed": (0.01, 0.02, *LARGER),
    "stumps": (0.02, *EPSILONS),
}
QUICK_DATA = (
    *(RuleData(8, 5), RuleData(1, 15), RuleData(8, 5, 9)),
    *(TableData("ionosphere"), NewsData("trade")),
)


@dataclass(frozen=True)
class Plan:
    """Methods to run on data sets, with or without inner folds."""

    part: str
    data: Sequence[Data]
    methods: Sequence[Method]
    inner: bool = True


def plans() -> list[Plan]:
    """Plan tables 1 to 4, with wider choices than the paper's for the inner folds.

    Table 4 has folds as in the paper, and choices inside the ModApte split.
    """
    rules = {
        "1": [RuleData(r, noise) for r, noise in TABLE_1],
        "2": [RuleData(r, 5, positives) for positives, r in TABLE_2],
    }
    soft = (protocol.SOFTRANKBOOST, *OURS)
    by_rule = [
        Method(protocol.RANKBOOST, "features", (500.0, 5000.0, 10_000.0)),
        *(Method(name, "features", LARGER) for name in (*soft, "adaptive")),
    ]
    plans_of_study = [
        Plan(part, data, by_rule, inner=False) for part, data in rules.items()
    ]
    uci = [TableData(name) for name in sets.UCI]
    wide = [
        method
        for kind, epsilons in WIDER.items()
        for method in _boosted_and_soft(kind, ROUNDS, soft, epsilons)
    ]
    theirs = [Method("adaptive", "features", EPSILONS)]
    paper = _boosted_and_soft(
        "features", (1000.0, 5000.0), (*soft, "adaptive"), EPSILONS
    )
    news = [
        method
        for kind in ("features", "signed")
        for method in _boosted_and_soft(
            kind, ROUNDS[:-1], soft, (0.01, 0.02, *EPSILONS)
        )
    ]
    modapte = [NewsData(topic, is_modapte=True) for topic in sets.TOPICS]
    return [
        *plans_of_study,
        Plan("3", uci, wide),
        Plan("3", uci, theirs, inner=False),
        Plan("4", [NewsData(topic) for topic in sets.TOPICS], paper, inner=False),
        Plan("4", modapte, news),
    ]


def _boosted_and_soft(
    kind: str, rounds: Sequence[float], soft: Sequence[str], epsilons: Sequence[float]
) -> list[Method]:
    methods = [Method(name, kind, tuple(epsilons), most_rounds=5000) for name in soft]
    return [Method(protocol.RANKBOOST, kind, tuple(rounds)), *methods]


def quick_plans() -> list[Plan]:
    """Return a part of each table: fewer data sets, and few rounds."""
    smaller = []
    for plan in plans():
        methods = [
            replace(
                method,
                parameters=tuple(one for one in method.parameters if 0.1 <= one <= 1e3),
                most_rounds=1000,
            )
            for method in plan.methods
            if method.name != "adaptive"
        ]
        data = [one for one in plan.data if one in QUICK_DATA]
        smaller.append(Plan(plan.part, data, methods, inner=False))
    return smaller


def tasks() -> list[Task]:
    """Return a task for each method on each fold, table 5, and figure 1."""
    timed = partial(times.time_solvers, times.PRINTED_SIZES + times.LARGER_SIZES, 60.0)
    return _tasks(plans(), timed, n_sets=27)


def quick_tasks() -> list[Task]:
    """Return a part of each table, and fewer sets for the figure."""
    timed = partial(times.time_solvers, (100, 500, 10_000), 5.0)
    return _tasks(quick_plans(), timed, n_sets=3)


def _tasks(planned: list[Plan], timed: Any, n_sets: int) -> list[Task]:
    tasks_of_study = [
        Task(
            plan.part,
            f"{data}, fold {fold + 1}, {method.name}, {method.hypotheses}",
            partial(run_method, data, method, fold, plan.inner),
            FoldResult,
            data.files,
        )
        for plan in planned
        for data in plan.data
        for method in plan.methods
        for fold in range(sets.n_splits(data))
    ]
    traced = partial(curve.study_curve, n_sets)
    return [
        *tasks_of_study,
        Task("5", "times", timed, times.Timings, is_timed=True),
        Task("figure", "curve", traced, curve.Curve),
    ]


def tables(records: list[Any]) -> dict[str, Table]:
    """Return the tables for which there are records."""
    timed = [one for one in records if isinstance(one, times.Timings)]
    timings = [timing for one in timed for timing in one.all()]
    return made.all_tables(_fold_results(records), timings)


def _fold_results(records: list[Any]) -> FoldResults:
    return FoldResults(one for one in records if isinstance(one, FoldResult))


def pictures(records: list[Any]) -> dict[str, Callable[[], Any]]:
    """Return the calls that draw the pictures, by the ends of their files' names."""
    calls: dict[str, Callable[[], Any]] = {}
    results = _fold_results(records)
    if results.has_part("1"):
        calls["auc"] = partial(made.draw_aucs, results)
    for one in records:
        if isinstance(one, curve.Curve):
            calls["curve"] = partial(made.draw_curve, one)
    return calls
