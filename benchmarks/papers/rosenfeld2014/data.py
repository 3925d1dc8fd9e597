"""The data of the study by name: letters, links, documents."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.papers.rosenfeld2014 import documents, letters, links
from benchmarks.papers.rosenfeld2014.samples import Split

LETTERS, MORE_LETTERS, DOCUMENTS = "letters", "letters, ten more", "OHSUMED"
PERIODS, YEARS = "links 2008-2012", "links 2008-2012, ten years"
LATER = "links 2018-2020"
LINK_DATA = (PERIODS, YEARS, LATER)


@dataclass(frozen=True)
class Application:
    """How to load the folds of one data set, and what there is to choose from.

    Attributes
    ----------
    split : callable
        Returns the split of a fold by its number.
    n_folds : int
        How many there are.
    tables : tuple of str
        Variants of node features.
    designs : tuple of str
        Variants of edges, that of the paper first.
    bins : int or tuple of int
        The bins that the paper trains with.
    k : int
        How many of the first nodes AUC@k looks at.
    files : tuple of Path
        Files that have to exist.
    """

    split: Callable[[int], Split]
    n_folds: int
    tables: tuple[str, ...]
    designs: tuple[str, ...]
    bins: int | tuple[int, ...]
    k: int = 10
    files: tuple[Path, ...] = ()


#: "bins of increasing size": each twice as large as the one before
DOUBLING = tuple(2**k - 1 for k in range(1, 11))


def _links(split: Callable[[], Split]) -> Application:
    return Application(
        lambda _: split(),
        1,
        (links.RAW, links.RANKS),
        (links.LINKS, links.RECENT, links.BY_AGE),
        DOUBLING,
        files=(links.PATH,),
    )


APPLICATIONS = {
    LETTERS: Application(
        letters.letters, 5, (letters.PIXELS,), (letters.FOUR, letters.EIGHT), 10
    ),
    MORE_LETTERS: Application(
        lambda fold: letters.letters(5 + fold),
        10,
        (letters.PIXELS,),
        (letters.FOUR,),
        bins=10,
        k=100,
    ),
    PERIODS: _links(lambda: links.three_periods(1998, 2003, 2008, 2012)),
    YEARS: _links(lambda: links.by_years(1998, 2008, 2012)),
    LATER: _links(lambda: links.three_periods(2008, 2013, 2018, 2020)),
    DOCUMENTS: Application(
        documents.documents,
        documents.N_PARTS,
        (documents.FEATURES,),
        (
            documents.SIMILAR,
            documents.MORE_SIMILAR,
            documents.NEAR,
            documents.SIMILAR_OR_NEAR,
        ),
        tuple(range(20, 400, 20)),
        files=documents.PATHS,
    ),
}
