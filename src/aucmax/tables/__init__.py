"""Raw tables: columns turned into numbers, targets into labels."""

from aucmax.tables.checks import check_table
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.target import Target
from aucmax.tables.target_encoding import encode_target

__all__ = [
    "TableEncoder",
    "Target",
    "check_table",
    "encode_target",
]
