"""Model text made to break LightGBM's parser is rejected, each for its own reason."""

import re

import pytest

from aucmax.persistence import booster_text
from aucmax.persistence.booster_text import check_booster_text
from persistence.boosters import (
    TEXT,
    add_line,
    change,
    entry,
    fields_of_first_tree,
    fit_sizes,
    header,
    lengths,
)

FIRST = fields_of_first_tree()
CATEGORY_SPLIT = [int(kind) & 1 for kind in FIRST["decision_type"].split(" ")].index(1)
N_SETS = int(FIRST["num_cat"])

HOSTILE = {
    # children: range, cycles, doubles, orphans
    "child beyond the splits": (entry("left_child", 0, 4), "left_child has an entry"),
    "child wraps around": (
        entry("left_child", 0, 2**32 + 1),
        "left_child has an entry",
    ),
    "leaf beyond the leaves": (entry("right_child", 3, -6), "right_child has an entry"),
    "root is its own child": (entry("left_child", 0, 0), "not those of one tree"),
    "all left children are one": (
        change(left_child="1 1 1 1"),
        "not those of one tree",
    ),
    "two splits form a ring": (
        change(left_child="-1 2 1 -3", right_child="-2 -4 -5 3"),
        "not those of one tree",
    ),
    "a leaf twice": (entry("right_child", 3, -1), "not those of one tree"),
    "child as a float": (entry("left_child", 0, "1.0"), "not a list of numbers"),
    "child with zeros before": (entry("left_child", 0, "01"), "not a list of numbers"),
    # counts
    "num_leaves huge": (change(num_leaves=2**31 - 1), "num_leaves=2147483647 is not"),
    "num_leaves zero": (change(num_leaves=0), "num_leaves=0 is not"),
    "num_leaves one": (change(num_leaves=1), "num_cat|entries"),
    "num_leaves one more": (change(num_leaves=6), "5 entries instead of 6"),
    "num_leaves one less": (change(num_leaves=4), "5 entries instead of 4"),
    **{
        f"{key} {'shorter' if delta < 0 else 'longer'}": (
            lengths(key, delta),
            f"{key} has",
        )
        for key in (*booster_text._SPLIT_KEYS, *booster_text._LEAF_KEYS)
        for delta in (-1, 1)
    },
    "list with a double space": (
        change(threshold=FIRST["threshold"].replace(" ", "  ", 1)),
        "threshold has",
    ),
    # features and decisions
    "feature beyond the last": (
        entry("split_feature", 0, 4),
        "split_feature has an entry",
    ),
    "feature negative": (entry("split_feature", 0, -1), "split_feature has an entry"),
    "decision of no kind": (
        entry("decision_type", 0, 12),
        "decision_type has an entry",
    ),
    "count negative": (entry("leaf_count", 0, -1), "leaf_count has an entry"),
    # numbers
    "threshold nan": (entry("threshold", 0, "nan"), "threshold is not a list"),
    "threshold overflows": (entry("threshold", 0, "1e999"), "threshold has 1e999"),
    "leaf value nan": (entry("leaf_value", 0, "nan"), "leaf_value is not a list"),
    "leaf value overflows": (
        entry("leaf_value", 0, "-9e308"),
        "leaf_value has -9e308",
    ),
    "shrinkage empty": (change(shrinkage=""), "shrinkage has 0 entries"),
    # categories
    "num_cat zero": (change(num_cat=0), "num_cat=0, but"),
    "num_cat one more": (change(num_cat=N_SETS + 1), "num_cat"),
    "set out of range": (entry("threshold", CATEGORY_SPLIT, 99), "name the sets 99"),
    "set huge": (entry("threshold", CATEGORY_SPLIT, "1e300"), "name the sets 1e"),
    "a number split called categorical": (
        entry("decision_type", 1 - CATEGORY_SPLIT if CATEGORY_SPLIT < 2 else 0, 1),
        "name the sets",
    ),
    "boundaries too short": (change(cat_boundaries="0"), "cat_boundaries has"),
    "boundaries not from zero": (entry("cat_boundaries", 0, 1), "do not ascend"),
    "boundaries fall": (entry("cat_boundaries", -1, -1), "do not ascend"),
    "boundaries one more": (
        entry("cat_boundaries", -1, len(FIRST["cat_threshold"].split(" ")) + 1),
        "cat_threshold has",
    ),
    "bits too short": (lengths("cat_threshold", -1), "cat_threshold has"),
    "bits past 32": (entry("cat_threshold", 0, 2**32), "cat_threshold has an entry"),
    "bits missing": (change(cat_threshold=None), "is missing"),
    # keys
    **{
        f"{key} missing": (change(**{key: None}), f"'{key}' is missing")
        for key in ("left_child", "leaf_value", "num_cat", "is_linear", "decision_type")
    },
    "key twice": (add_line("num_leaves=2"), "'num_leaves' occurs twice"),
    "unknown key": (add_line("leaf_parent=0 0"), "'leaf_parent' is unknown"),
    "key without value": (add_line("average_output"), "'average_output' is unknown"),
    "line without equals": (add_line("nonsense"), "is not key=value"),
    "linear tree": (change(is_linear=1), "linear trees are not"),
    "linear leaves": (add_line("leaf_const=0 0 0 0 0"), "is unknown"),
    # sizes and places of the trees
    "sizes off by one": (
        header(r"^tree_sizes=(\d+)", r"tree_sizes=9\1"),
        "is not where",
    ),
    "sizes huge": (header(r"^tree_sizes=\d+", "tree_sizes=2147483647"), "an entry out"),
    "sizes zero": (header(r"^tree_sizes=", "tree_sizes=0 "), "tree_sizes has an entry"),
    "sizes of one tree more": (header(r"^tree_sizes=.*", r"\g<0> 700"), "is not where"),
    "sizes of no tree": (header(r"^tree_sizes=.*", "tree_sizes="), "end of trees"),
    "sizes missing": (header(r"^tree_sizes=.*\n", ""), "'tree_sizes' is missing"),
    "trees misnumbered": (TEXT.replace("Tree=1", "Tree=0"), "is not where"),
    "no end of trees": (TEXT.replace("end of trees", "end of treez"), "'end of trees'"),
    # header
    "other first line": ("forest" + TEXT[4:], "first lines are not"),
    "other version": (TEXT.replace("version=v4", "version=v3"), "first lines are not"),
    "header key twice": (
        TEXT.replace("num_class=1", "num_class=1\nnum_class=9"),
        "twice",
    ),
    "header key unknown": (
        TEXT.replace("num_class=1", "num_class=1\nx=9"),
        "the key 'x' is unknown",
    ),
    "num_class alone": (header("^num_class=1", "num_class=2"), "num_class=2 is not"),
    "trees per round zero": (
        header("^(num_tree_per_iteration=).", r"\g<1>0"),
        "num_tree",
    ),
    "two classes": (
        TEXT.replace(
            "num_class=1\nnum_tree_per_iteration=1",
            "num_class=2\nnum_tree_per_iteration=2",
        ),
        "num_class=2 is not",
    ),
    "objective of classes": (
        header("^objective=binary", "objective=multiclass num_class:3"),
        "objective 'multiclass num_class:3.*' is not supported",
    ),
    "objective unknown": (
        header("^objective=binary", "objective=evil"),
        "is not supported",
    ),
    "objective odd": (
        header("^objective=.*", "objective=binary %s%n"),
        "is not supported",
    ),
    "feature index huge": (
        header("^max_feature_idx=3", "max_feature_idx=2147483647"),
        "max_f",
    ),
    "feature index one more": (
        header("^max_feature_idx=3", "max_feature_idx=4"),
        "names",
    ),
    "names repeated": (
        header("^(feature_names=)\\S+ \\S+", r"\1a a"),
        "a name twice",
    ),
    "ranges too few": (
        header("^(feature_infos=)\\S+ ", r"\1"),
        "feature_infos does not have 4",
    ),
    "ranges odd": (
        header("^feature_infos=\\S+", "feature_infos=%s"),
        "feature_infos does not have 4",
    ),
    "signs too few": (
        header("^feature_infos=", "monotone_constraints=1 0\nfeature_infos="),
        "monotone_constraints does not have 4",
    ),
    "average with a value": (
        header("^feature_names=", "average_output=1\nfeature_names="),
        "takes no value",
    ),
    # what follows
    "importance of a stranger": (
        TEXT.replace("importances:\n", "importances:\nx=1\n"),
        "unknown line",
    ),
    "parameter with a quote": (
        TEXT.replace("[boosting: gbdt]", '[boosting: "]'),
        "not allowed",
    ),
    "parameter outside": (
        TEXT.replace("[boosting: gbdt]", "boosting"),
        "after the trees",
    ),
    "linear by parameter": (
        TEXT.replace("[linear_tree: 0]", "[linear_tree: 1]"),
        "not allowed",
    ),
    "parser section": (TEXT + "\nparser:\n{}\nend of parser\n", "after the trees"),
    "parameters do not end": (
        TEXT.replace("\nend of parameters\n", ""),
        "after the trees",
    ),
    "categories of pandas": (TEXT.replace(":null", ':[["a"]]'), "after the trees"),
    # the whole
    "empty": ("", "header does not end"),
    "null byte": (TEXT.replace("num_leaves", "num\0leaves", 1), "control characters"),
    "half a character": (TEXT.replace("Column_0", "\ud800"), "surrogates"),
    "trees of nobody": (
        re.sub(r"(?s)tree_sizes=.*end of trees", "tree_sizes=\n\nend of trees", TEXT),
        "unknown line",
    ),
}


def test_there_are_enough_hostile_variants():
    assert len(HOSTILE) >= 60
    assert len({text for text, _ in HOSTILE.values()}) == len(HOSTILE)
    check_booster_text(fit_sizes(TEXT))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_is_rejected(kind):
    text, match = HOSTILE[kind]
    assert text != TEXT
    with pytest.raises(ValueError, match=f"not a valid LightGBM model text.*{match}"):
        check_booster_text(text)
