"""The experiments of Suehiro, Hatano and Takimoto (ALT 2011), run again.

``python -m benchmarks.papers.suehiro2011`` runs tables 1 to 5 and figure 1, prints
them beside the paper's figures, and writes ``docs/studies/suehiro2011.md`` with its
pictures: about 20 minutes on two cores. ``--quick`` shows a part of each in about a
minute, ``--only 3 5`` runs some parts; both write only where ``--output`` says. Data
sets are looked for in ``AUCMAX_DATA``; without them the tables on artificial data still
run. The text of the page is in ``suehiro2011_template.md``: after a run that differs,
check its sentences against the new figures.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.papers import suehiro2011_page as page
from benchmarks.papers.suehiro2011_curve import study_curve
from benchmarks.papers.suehiro2011_data import (
    FOLDER,
    TOPICS,
    UCI,
    Data,
    NewsData,
    RuleData,
    TableData,
    missing,
)
from benchmarks.papers.suehiro2011_printed import EPSILONS, TABLE_1, TABLE_2
from benchmarks.papers.suehiro2011_protocol import FoldResult, Method, run_tasks
from benchmarks.papers.suehiro2011_summary import (
    RANKBOOST,
    SOFTRANKBOOST,
    Comparison,
    Results,
    compare,
)
from benchmarks.papers.suehiro2011_times import (
    LARGER_SIZES,
    PRINTED_SIZES,
    Timing,
    time_solvers,
)

PARTS = ("1", "2", "3", "4", "5", "figure")
DOCS = Path(__file__).parents[2] / "docs"
ROUNDS = (10.0, 30.0, 100.0, 300.0, 1000.0, 5000.0, 10_000.0)
OURS = ("pairs", "instances")  # may be chosen inside the training rows
#: beyond the paper's epsilons, where few or many of the pairs must be given up
LARGER = (*EPSILONS, 0.4, 0.5)
WIDER = {
    "features": (0.01, 0.02, *LARGER),
    "signed": (0.01, 0.02, *LARGER),
    "stumps": (0.02, *EPSILONS),
}


@dataclass(frozen=True)
class Plan:
    """Methods to run on data sets, with or without inner folds."""

    part: str
    data: tuple[Data, ...]
    methods: tuple[Method, ...]
    inner: bool = True


def artificial(part: str, data: tuple[Data, ...]) -> list[Plan]:
    """Plan a table on r-of-k data; "global" is too dear for inner folds."""
    formulations = (SOFTRANKBOOST, *OURS, "adaptive")
    chosen = tuple(Method(name, "features", LARGER) for name in formulations)
    plain = (
        Method(RANKBOOST, "features", (500.0, 5000.0, 10_000.0)),
        Method("global", "features", (0.1, 0.2, 0.3)),
    )
    return [Plan(part, data, chosen), Plan(part, data, plain, inner=False)]


def tables(data: tuple[Data, ...]) -> list[Plan]:
    """Plan table 3: wider choices than the paper's for the inner folds."""
    chosen = [
        method
        for kind in ("features", "signed", "stumps")
        for method in (
            Method(RANKBOOST, kind, ROUNDS),
            *(
                Method(name, kind, WIDER[kind], most_rounds=5000)
                for name in (SOFTRANKBOOST, *OURS)
            ),
        )
    ]
    theirs = (Method("adaptive", "features", EPSILONS),)
    return [Plan("3", data, tuple(chosen)), Plan("3", data, theirs, inner=False)]


def news(topics: tuple[str, ...]) -> list[Plan]:
    """Plan table 4: folds as in the paper, and choices inside the ModApte split."""
    paper = (
        Method(RANKBOOST, "features", (1000.0, 5000.0)),
        *(
            Method(name, "features", EPSILONS, most_rounds=5000)
            for name in (SOFTRANKBOOST, *OURS, "adaptive")
        ),
    )
    chosen = [
        method
        for kind in ("features", "signed")
        for method in (
            Method(RANKBOOST, kind, ROUNDS[:-1]),
            *(
                Method(name, kind, (0.01, 0.02, *EPSILONS), most_rounds=5000)
                for name in (SOFTRANKBOOST, *OURS)
            ),
        )
    ]
    folds = tuple(map(NewsData, topics))
    split = tuple(NewsData(topic, is_modapte=True) for topic in topics)
    return [Plan("4", folds, paper, inner=False), Plan("4", split, tuple(chosen))]


def all_plans() -> list[Plan]:
    """Return the plans of tables 1 to 4."""
    table_1 = tuple(RuleData(r, noise) for r, noise in TABLE_1)
    table_2 = tuple(RuleData(r, 5, positives) for positives, r in TABLE_2)
    return [
        *artificial("1", table_1),
        *artificial("2", table_2),
        *tables(tuple(map(TableData, UCI))),
        *news(TOPICS),
    ]


def quick_plans() -> list[Plan]:
    """Return a part of each table: fewer data sets, and few rounds."""
    few = (
        RuleData(8, 5),
        RuleData(1, 15),
        RuleData(8, 5, 9),
        TableData("ionosphere"),
        NewsData("trade"),
    )
    plans = []
    for plan in all_plans():
        methods = tuple(
            replace(
                method,
                parameters=tuple(
                    value for value in method.parameters if 0.1 <= value <= 1000.0
                ),
                most_rounds=1000,
            )
            for method in plan.methods
            if method.name not in ("adaptive", "global")
        )
        data = tuple(one for one in plan.data if one in few)
        plans.append(replace(plan, data=data, methods=methods, inner=False))
    return plans


def available(plans: Sequence[Plan]) -> list[Plan]:
    """Leave out data sets that are not there, and say so."""
    kept = []
    for plan in plans:
        absent = [path for data in plan.data if (path := missing(data))]
        if absent:
            print(
                f"table {plan.part}: {absent[0]} is not there, so this table is left "
                f"out. Name the folder of the data sets in AUCMAX_DATA (now {FOLDER})."
            )
        else:
            kept.append(plan)
    return kept


def run(parts: Sequence[str], quick: bool, n_jobs: int, images: Path) -> page.Study:
    """Run the parts, printing as they come; the curve is drawn into `images`."""
    start = time.perf_counter()
    plans = quick_plans() if quick else all_plans()
    plans = available([plan for plan in plans if plan.part in parts])
    folds: dict[str, list[FoldResult]] = {}
    for plan in plans:
        print(f"\n== table {plan.part}", flush=True)
        options: dict[str, Any] = {"inner": plan.inner, "n_jobs": n_jobs}
        found = run_tasks(plan.data, plan.methods, report=show, **options)
        folds.setdefault(plan.part, []).extend(found)
    comparisons = compare_all(plans, folds)
    timings: list[Timing] = []
    if "5" in parts:
        print("\n== table 5", flush=True)
        sizes = (100, 500, 10_000) if quick else PRINTED_SIZES + LARGER_SIZES
        timings = time_solvers(sizes, show, most_seconds=5.0 if quick else 60.0)
    curve = None
    if "figure" in parts:
        print("\n== figure 1", flush=True)
        curve = study_curve(images / "suehiro2011-curve.png", n_sets=3 if quick else 27)
    minutes = (time.perf_counter() - start) / 60.0
    return page.Study(folds, comparisons, timings, curve, minutes)


def show(line: str) -> None:
    print(line, flush=True)


def compare_all(
    plans: Sequence[Plan], folds: dict[str, list[FoldResult]]
) -> list[Comparison]:
    """Compare ours with both kinds of boosting, wherever all was chosen inside."""
    comparisons = []
    for plan in plans:
        results = Results(folds[plan.part])
        kinds = dict.fromkeys(method.hypotheses for method in plan.methods)
        for data in plan.data:
            for kind in kinds:
                for method in (RANKBOOST, SOFTRANKBOOST):
                    found = compare(data, results, OURS, method, kind)
                    if found is not None:
                        comparisons.append(found)
    return comparisons


def main() -> None:
    """Run from the shell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a part of each table")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    parser.add_argument("--from-json", type=Path, help="run nothing: draw from these")
    parser.add_argument("--output", type=Path, help="folder of the page (default docs)")
    options = parser.parse_args()
    parts = options.only or PARTS
    is_whole = not options.quick and not options.only
    with TemporaryDirectory() as temporary:
        folder = options.output or (DOCS if is_whole else Path(temporary))
        (folder / "images").mkdir(parents=True, exist_ok=True)
        if options.from_json:
            study = page.Study.from_dict(json.loads(options.from_json.read_text()))
        else:
            study = run(parts, options.quick, options.jobs, folder / "images")
        print(f"\n{page.as_text(study)}\n\n{study.minutes:.1f} minutes")
        if options.json:
            options.json.write_text(json.dumps(study.as_dict()) + "\n")
        page.write(study, folder)


if __name__ == "__main__":
    main()
