"""Raw tables: columns turned into numbers, targets into labels."""

from aucmax.tables.checks import TableNotice, check_table
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.target import Target
from aucmax.tables.target_encoding import describe_rows, encode_target

__all__ = [
    "TableEncoder",
    "TableNotice",
    "Target",
    "check_table",
    "describe_rows",
    "encode_target",
]
