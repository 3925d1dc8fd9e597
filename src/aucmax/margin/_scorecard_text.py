"""A scorecard in words: as plain text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aucmax.margin.scorecard import Band, Scorecard, ScorecardRow

__all__ = [
    "as_html",
    "as_text",
    "band_texts",
    "distinct_texts",
    "points_text",
    "rule_texts",
    "shown_name",
]

_LONGEST_NAME = 60
_BLUE = "#0072b2"


@dataclass(frozen=True)
class _Line:
    """Points and what they are given for."""

    points: float
    rule: str


@dataclass(frozen=True)
class _Block:
    """Lines under a title, which is empty where each line names its feature."""

    title: str
    lines: list[_Line]


def as_text(card: Scorecard, view: str, max_rows: int | None) -> str:
    """Write a table that lines up in a terminal."""
    blocks, rest = _blocks(card, view, max_rows)
    lines = [_title(card), ""]
    width = max([6, *(len(points_text(card, row.points)) for row in card.rows)])
    if not blocks[0].title:
        lines.append(f" {'points':>{width}}  rule")
    for block in blocks:
        if block.title:
            lines.append(block.title)
        for line in block.lines:
            points = points_text(card, line.points)
            lines.append(f" {points:>{width}}  {line.rule}")
    if rest is not None:
        lines.append(f" {points_text(card, rest.points):>{width}}  {rest.rule}")
    return "\n".join([*lines, "", _relation(card)])


def as_html(card: Scorecard, view: str, max_rows: int | None) -> str:
    """Write a table with bars, which are drawn by the width of a cell's content."""
    blocks, rest = _blocks(card, view, max_rows)
    most = max([line.points for block in blocks for line in block.lines] + [1e-300])
    body = "".join(_html_block(card, block, most) for block in blocks)
    if rest is not None:  # a bar would be longer than the bars it stands for
        body += f"<tbody>{_html_row(card, rest, 0.2, 0.0)}</tbody>"
    return (
        '<table class="aucmax-scorecard" '
        'style="border-collapse:collapse;margin:0.6em 0">'
        '<caption style="text-align:left;padding-bottom:0.3em">'
        f"{escape(_title(card))}</caption>"
        '<thead><tr><th scope="col" style="text-align:left">rule</th>'
        '<th scope="col" style="text-align:right">points</th>'
        '<td aria-hidden="true"></td></tr></thead>'
        f"{body}"
        f'<tfoot><tr><td colspan="3">{escape(_relation(card))}</td></tr></tfoot>'
        "</table>"
    )


def _html_block(card: Scorecard, block: _Block, most: float) -> str:
    title = ""
    if block.title:
        title = (
            '<tr><th scope="rowgroup" colspan="3" style="text-align:left">'
            f"{escape(block.title)}</th></tr>"
        )
    indent = 1.5 if block.title else 0.2
    rows = "".join(
        _html_row(card, line, indent, line.points / most) for line in block.lines
    )
    return f"<tbody>{title}{rows}</tbody>"


def _html_row(card: Scorecard, line: _Line, indent: float, share: float) -> str:
    return (
        '<tr><th scope="row" style="text-align:left;font-weight:normal;'
        f'padding-left:{indent}em">{escape(line.rule)}</th>'
        '<td style="text-align:right;font-variant-numeric:tabular-nums;'
        f'padding:0 0.5em">{points_text(card, line.points)}</td>'
        '<td aria-hidden="true" style="width:10em;text-align:left">'
        f'<div style="background:{_BLUE};height:0.8em;width:{100.0 * share:.1f}%">'
        "</div></td></tr>"
    )


def _blocks(
    card: Scorecard, view: str, max_rows: int | None
) -> tuple[list[_Block], _Line | None]:
    """Return what to show, and one line for what is left out."""
    if max_rows is not None and max_rows < 1:
        raise ValueError(f"max_rows must be at least 1 or None, got {max_rows!r}.")
    if view == "bands":
        return _band_blocks(card, max_rows)
    if view != "rows":
        raise ValueError(f"view must be 'rows' or 'bands', got {view!r}.")
    texts = rule_texts(card)
    lines = [
        _Line(row.points, text) for row, text in zip(card.rows, texts, strict=True)
    ]
    shown = lines[:max_rows]
    left_out = card.rows[len(shown) :]
    if not left_out:
        return [_Block("", shown)], None
    together = sum(row.points for row in left_out)
    return [_Block("", shown)], _Line(together, f"... {len(left_out)} more together")


def _band_blocks(
    card: Scorecard, max_rows: int | None
) -> tuple[list[_Block], _Line | None]:
    features = card.bands()
    blocks = [
        _Block(
            shown_name(feature.feature),
            [
                _Line(band.points, text)
                for band, text in zip(
                    feature.bands, band_texts(feature.bands), strict=True
                )
            ],
        )
        for feature in features[:max_rows]
    ]
    left_out = features[len(blocks) :]
    if not left_out:
        return blocks or [_Block("", [])], None
    together = sum(max(band.points for band in one.bands) for one in left_out)
    return blocks, _Line(together, f"... {len(left_out)} more features, at most")


def rule_texts(card: Scorecard) -> list[str]:
    """Say for each row when it gives points."""
    thresholds: dict[int, list[float]] = {}
    for row in card.rows:
        if row.threshold is not None:
            thresholds.setdefault(row.column, []).append(row.threshold)
    texts = {column: distinct_texts(values) for column, values in thresholds.items()}
    return [
        _even_text(card, row)
        if row.threshold is None
        else f"{shown_name(row.feature)} {'>' if row.direction > 0 else '<='} "
        f"{texts[row.column][row.threshold]}"
        for row in card.rows
    ]


def _even_text(card: Scorecard, row: ScorecardRow) -> str:
    ends = row.low, row.high
    start, end = ends if row.direction > 0 else ends[::-1]
    slope = row.points / (end - start)
    return (
        f"{shown_name(row.feature)}: {slope:+.3g} per unit, from {start:g} (0 points) "
        f"to {end:g} ({points_text(card, row.points)})"
    )


def band_texts(bands: Iterable[Band]) -> Iterator[str]:
    """Say which values each band of a feature holds."""
    bands = list(bands)
    texts = distinct_texts([band.high for band in bands])
    for place, band in enumerate(bands):
        above = f"> {texts[bands[place - 1].high]}" if place else ""
        up_to = f"<= {texts[band.high]}" if place < len(bands) - 1 else ""
        yield f"{above} and {up_to}" if above and up_to else above or up_to or "any"


def distinct_texts(values: Iterable[float]) -> dict[float, str]:
    """Write numbers with six digits, or more where two would read the same."""
    numbers = list(values)
    for digits in range(6, 18):
        texts = {number: f"{number:.{digits}g}" for number in numbers}
        if len(set(texts.values())) == len(texts):
            break
    return texts


def points_text(card: Scorecard, points: float) -> str:
    """Write points with the decimals of the card."""
    if card.decimals is None:
        return f"{points:.6g}"
    return f"{points:.{max(card.decimals, 0)}f}"


def shown_name(name: str) -> str:
    """Return a name that stays on its line."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    if len(printable) > _LONGEST_NAME:
        return printable[: _LONGEST_NAME - 3] + "..."
    return printable


def _title(card: Scorecard) -> str:
    n_rules, n_features = len(card.rows), len({row.column for row in card.rows})
    rules = f"{n_rules} rule{'s' * (n_rules != 1)} on "
    if n_rules == n_features:
        rules = ""
    features = f"{n_features} feature{'s' * (n_features != 1)}"
    return f"Scorecard: {rules}{features}, {card.total:g} points in all"


def _relation(card: Scorecard) -> str:
    """Say how points become a score."""
    if not card.rows:
        return "no feature has a weight: every score is 0"
    score = f"2 * points / {card.total:g} - 1"
    if abs(card.scale - 1.0) > 1e-9:
        score = f"{card.scale:.6g} * ({score})"
    exact = all(
        abs(row.points - card.total * row.weight / card.scale) < 1e-9
        for row in card.rows
    )
    return f"score = {score}" + ("" if exact else ", but for rounding")
