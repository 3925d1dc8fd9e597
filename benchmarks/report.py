"""The figures of a benchmark of quality, printed as they are measured."""


class Report:
    """Prints and keeps the figures of one benchmark."""

    def __init__(self, title: str) -> None:
        self.figures: dict[str, float] = {}
        print(f"\n== {title}", flush=True)

    def add(
        self,
        name: str,
        value: float,
        unit: str = "x",
        *,
        at_most: float = float("inf"),
        at_least: float = float("-inf"),
        remark: str = "",
    ) -> None:
        """Keep and print one figure, and whether it is out of its bounds."""
        self.figures[name] = float(value)
        verdict = "" if at_least <= value <= at_most else "OUT OF BOUNDS"
        print(f"{name:<58} {value:>10.4g} {unit} {verdict} {remark}", flush=True)
