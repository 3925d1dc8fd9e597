"""Reports of a comparison or a model, as one HTML or Markdown file."""

from aucmax.report.document import Report
from aucmax.report.pages import report_comparison, report_model

__all__ = ["Report", "report_comparison", "report_model"]
