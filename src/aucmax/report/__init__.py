"""A page that people share: what a comparison or a model has shown, in one file.

:meth:`aucmax.model_selection.Comparison.report` and
:func:`aucmax.model_selection.report_model` make one.
"""

from aucmax.report.document import Report

__all__ = ["Report"]
