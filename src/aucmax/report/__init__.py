"""A page that people share: what a comparison or a model has shown, in one file."""

from aucmax.report.document import Report

__all__ = ["Report"]
