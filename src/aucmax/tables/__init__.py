"""Tables as people have them: columns turned into numbers, targets into labels."""

from aucmax.tables._frames import as_table
from aucmax.tables.checks import TableNotice, check_table
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.fingerprint import fingerprint_table
from aucmax.tables.grading import Grading
from aucmax.tables.moments import read_moments
from aucmax.tables.table_model import TableModel
from aucmax.tables.target import Target
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
    "encode_target",
    "fingerprint_table",
    "match_target",
    "read_moments",
]
