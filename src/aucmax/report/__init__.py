"""Reports of a comparison or a model, as one HTML or Markdown file."""

from aucmax.report.document import Report

__all__ = ["Report"]
