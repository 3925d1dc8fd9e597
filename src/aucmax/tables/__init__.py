"""Tables as people have them: columns turned into numbers, targets into labels."""

from aucmax.tables._frames import as_table
from aucmax.tables.checks import TableNotice, check_table
from aucmax.tables.digest import digest_table
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.grading import Grading
from aucmax.tables.moments import read_moments
from aucmax.tables.table_model import TableModel
from aucmax.tables.target import Target, has_constant_scores
from aucmax.tables.target_encoding import describe_rows, encode_target, match_target

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
