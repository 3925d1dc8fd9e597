"""A report as one file: HTML without external resources, or Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from aucmax._core.atomic import atomic_output
from aucmax._version import __version__
from aucmax.inference import MetricDifference
from aucmax.inference.results import p_value_text
from aucmax.model_selection.comparison import verdict
from aucmax.report.sections import Section

_ENDINGS = (".html", ".htm", ".md")
# what a report may lack
_OPTIONAL: Section = {
    "glossary": {},
    "parts": {},
    "n_candidates": 0,
    "origin_of_parts": "",
    "curves": [],
    "no_rankings": "",
    "survival": None,
    "reliability": None,
    "importance": None,
    "groups": None,
    "notices": [],
    "certificates": [],
    "command": None,
    "reproduction": {},
}


class Report:
    """A page about a comparison or a model, to share.

    :func:`report_comparison` and :func:`report_model` make one. In a notebook it shows
    the verdict and the table of the models.

    Parameters
    ----------
    contents : dict of str to object
        The content of the page, with ``title``, ``verdict``, ``rows`` (one per model)
        and the values of the other sections.
    """

    def __init__(self, contents: Section) -> None:
        self.contents = {
            **_OPTIONAL,
            "date": date.today().isoformat(),
            "version": __version__,
            **contents,
        }

    def __repr__(self) -> str:
        return "Report: {title}. {verdict}".format(**self.contents)

    def _repr_html_(self) -> str:
        return _render("fragment.html.j2", self.contents)

    def html(self) -> str:
        """Return the page as HTML, without external resources.

        Returns
        -------
        str
        """
        return _render("page.html.j2", self.contents)

    def markdown(self) -> str:
        """Return the page as Markdown, with tables in place of pictures.

        Returns
        -------
        str
        """
        text = _render("page.md.j2", self.contents)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            A name that ends in ``.html`` or ``.md``, which selects the format.
        overwrite : bool, default=False
            Whether to replace an existing file.

        Returns
        -------
        Path
        """
        target = Path(path)
        if target.suffix.lower() not in _ENDINGS:
            raise ValueError(
                f"{target}: the name of a report must end in .html or .md, got "
                f"{target.suffix or 'no ending'!r}."
            )
        is_markdown = target.suffix.lower() == ".md"
        text = self.markdown() if is_markdown else self.html()
        with atomic_output(target, overwrite=overwrite) as file:
            file.write(text.encode("utf-8"))
        return target


def _render(template: str, view: Section) -> str:
    return _environment().get_template(template).render(view=view)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("aucmax.report"),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    return environment


def _shown(form: str) -> Callable[[float], str]:
    """Return the filter of numbers of this form; NaN is a dash."""
    return lambda value: format(value, form) if value == value else "-"


def _outcome(test: MetricDifference) -> str:
    return verdict(test).replace("no difference", "even")


def _seconds(value: float) -> str:
    return _shown(".3f" if value < 1 else ".1f")(value)


def _ends(form: str) -> Callable[[Sequence[float]], str]:
    return lambda ends: f"{ends[0]:{form}} to {ends[1]:{form}}"


def _with_ends(value: float, ends: tuple[float, float]) -> str:
    return f"{value:.2f} ({_ends('.2f')(ends)})" if value == value else "-"


def _markdown_text(value: object) -> str:
    """Escape characters that Markdown, or HTML in it, interprets."""
    text = " ".join(str(value).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]|#~$!])", r"\\\1", text)
    # a comment within a bare address or @name keeps it from becoming a link
    return re.sub(r"(:(?=//)|www(?=\.)|@)", r"\1<!-- -->", text, flags=re.IGNORECASE)


def _code_block(value: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{value}\n{fence}"


_FILTERS: dict[str, Callable[..., str]] = {
    "measure": _shown(".4f"),
    "seconds": _seconds,
    "count": _shown(",.0f"),
    "percent": _shown(".1%"),
    "count_ends": _ends(",.0f"),
    "percent_ends": _ends(".1%"),
    "with_ends": _with_ends,
    "p_value": p_value_text,
    "outcome": _outcome,
    "md": _markdown_text,
    "code_block": _code_block,
}
