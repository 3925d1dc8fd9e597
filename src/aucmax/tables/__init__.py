"""Raw tables: columns turned into numbers, targets into labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax._core.threads import import_package

if TYPE_CHECKING:
    from aucmax.tables.checks import TableNotice, check_table
    from aucmax.tables.encoder import TableEncoder
    from aucmax.tables.table_model import TableModel
    from aucmax.tables.target import Target
    from aucmax.tables.target_encoding import describe_rows, encode_target

import_package("polars", "a table")

# loaded on first use: rows of a linear model are scored without scikit-learn
_HOME = {
    "TableEncoder": "encoder",
    "TableModel": "table_model",
    "TableNotice": "checks",
    "Target": "target",
    "check_table": "checks",
    "describe_rows": "target_encoding",
    "encode_target": "target_encoding",
}

__all__ = [
    "TableEncoder",
    "TableModel",
    "TableNotice",
    "Target",
    "check_table",
    "describe_rows",
    "encode_target",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"aucmax.tables.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
