"""Raw tables: columns turned into numbers, targets into labels."""

from aucmax.tables.checks import TableNotice, check_table
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.frames import as_table, digest_table
from aucmax.tables.table_model import TableModel
from aucmax.tables.target import Grading, Target, has_constant_scores
from aucmax.tables.target_encoding import (
    describe_rows,
    encode_target,
    match_target,
    read_moments,
)

__all__ = [
    "Grading",
    "TableEncoder",
    "TableModel",
    "TableNotice",
    "Target",
    "as_table",
    "check_table",
    "describe_rows",
    "digest_table",
    "encode_target",
    "has_constant_scores",
    "match_target",
    "read_moments",
]
