"""Data to learn from: generators, readers, and a table that comes with the package."""

from aucmax.datasets.generators import load_demo, make_r_of_k
from aucmax.datasets.letters import make_letter_images
from aucmax.datasets.loading import load_table, save_table
from aucmax.datasets.memory import max_memory
from aucmax.datasets.svmlight import load_svmlight

__all__ = [
    "load_demo",
    "load_svmlight",
    "load_table",
    "make_letter_images",
    "make_r_of_k",
    "max_memory",
    "save_table",
]
