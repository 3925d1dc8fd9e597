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

KEYS = (*booster_text._SPLIT_KEYS, *booster_text._LEAF_KEYS)
NEEDED = ("left_child", "leaf_value", "num_cat", "is_linear", "decision_type")
NUMBER_SPLIT = 1 - CATEGORY_SPLIT if CATEGORY_SPLIT < 2 else 0
N_BITS = len(FIRST["cat_threshold"].split(" "))
TWO_CLASSES = "num_class=2\nnum_tree_per_iteration=2"

#: a list of the first tree, the place and the value of one entry, and the message
ENTRIES = [
    # children: range, doubles, orphans
    ("left_child", 0, 4, "left_child has an entry"),
    ("left_child", 0, 2**32 + 1, "left_child has an entry"),
    ("right_child", 3, -6, "right_child has an entry"),
    ("left_child", 0, 0, "not those of one tree"),
    ("right_child", 3, -1, "not those of one tree"),
    ("left_child", 0, "1.0", "not a list of numbers"),
    ("left_child", 0, "01", "not a list of numbers"),
    # features, decisions and numbers
    ("split_feature", 0, 4, "split_feature has an entry"),
    ("split_feature", 0, -1, "split_feature has an entry"),
    ("decision_type", 0, 12, "decision_type has an entry"),
    ("leaf_count", 0, -1, "leaf_count has an entry"),
    ("threshold", 0, "nan", "threshold is not a list"),
    ("threshold", 0, "1e999", "threshold has 1e999"),
    ("leaf_value", 0, "nan", "leaf_value is not a list"),
    ("leaf_value", 0, "-9e308", "leaf_value has -9e308"),
    # categories
    ("threshold", CATEGORY_SPLIT, 99, "name the sets 99"),
    ("threshold", CATEGORY_SPLIT, "1e300", "name the sets 1e"),
    ("decision_type", NUMBER_SPLIT, 1, "name the sets"),
    ("cat_boundaries", 0, 1, "do not ascend"),
    ("cat_boundaries", -1, -1, "do not ascend"),
    ("cat_boundaries", -1, N_BITS + 1, "cat_threshold has"),
    ("cat_threshold", 0, 2**32, "cat_threshold has an entry"),
]
#: fields of the first tree, and the message
FIELDS = [
    ({"left_child": "1 1 1 1"}, "not those of one tree"),
    (  # two splits form a ring
        {"left_child": "-1 2 1 -3", "right_child": "-2 -4 -5 3"},
        "not those of one tree",
    ),
    ({"num_leaves": 2**31 - 1}, "num_leaves=2147483647 is not"),
    ({"num_leaves": 0}, "num_leaves=0 is not"),
    ({"num_leaves": 1}, "num_cat|entries"),
    ({"num_leaves": 6}, "5 entries instead of 6"),
    ({"num_leaves": 4}, "5 entries instead of 4"),
    ({"threshold": FIRST["threshold"].replace(" ", "  ", 1)}, "threshold has"),
    ({"shrinkage": ""}, "shrinkage has 0 entries"),
    ({"num_cat": 0}, "num_cat=0, but"),
    ({"num_cat": N_SETS + 1}, "num_cat"),
    ({"cat_boundaries": "0"}, "cat_boundaries has"),
    ({"cat_threshold": None}, "is missing"),
    ({"is_linear": 1}, "linear trees are not"),
    *(({key: None}, f"'{key}' is missing") for key in NEEDED),
]
#: lines to add to the first tree
LINES = [
    ("num_leaves=2", "'num_leaves' occurs twice"),
    ("leaf_parent=0 0", "'leaf_parent' is unknown"),
    ("average_output", "'average_output' is unknown"),
    ("nonsense", "is not key=value"),
    ("leaf_const=0 0 0 0 0", "is unknown"),
]
#: patterns in the header, and what takes their place
HEADERS = [
    (r"^tree_sizes=(\d+)", r"tree_sizes=9\1", "is not where"),
    (r"^tree_sizes=\d+", "tree_sizes=2147483647", "an entry out"),
    (r"^tree_sizes=", "tree_sizes=0 ", "tree_sizes has an entry"),
    (r"^tree_sizes=.*", r"\g<0> 700", "is not where"),
    (r"^tree_sizes=.*", "tree_sizes=", "end of trees"),
    (r"^tree_sizes=.*\n", "", "'tree_sizes' is missing"),
    ("^num_class=1", "num_class=2", "num_class=2 is not"),
    ("^(num_tree_per_iteration=).", r"\g<1>0", "num_tree"),
    ("^objective=binary", "objective=multiclass num_class:3", "'multiclass num_c.*not"),
    ("^objective=binary", "objective=evil", "is not supported"),
    ("^objective=.*", "objective=binary %s%n", "is not supported"),
    ("^max_feature_idx=3", "max_feature_idx=2147483647", "max_f"),
    ("^max_feature_idx=3", "max_feature_idx=4", "names"),
    (r"^(feature_names=)\S+ \S+", r"\1a a", "a name twice"),
    (r"^(feature_infos=)\S+ ", r"\1", "feature_infos does not have 4"),
    (r"^feature_infos=\S+", "feature_infos=%s", "feature_infos does not have 4"),
    ("^feature_infos=", "monotone_constraints=1 0\n\\g<0>", "does not have 4"),
    ("^feature_names=", "average_output=1\n\\g<0>", "takes no value"),
]
#: strings anywhere in the text, and what takes their place
STRINGS = [
    ("Tree=1", "Tree=0", "is not where"),
    ("end of trees", "end of treez", "'end of trees'"),
    ("tree\n", "forest\n", "first lines are not"),
    ("version=v4", "version=v3", "first lines are not"),
    ("num_class=1", "num_class=1\nnum_class=9", "twice"),
    ("num_class=1", "num_class=1\nx=9", "the key 'x' is unknown"),
    (TWO_CLASSES.replace("2", "1"), TWO_CLASSES, "num_class=2 is not"),
    ("importances:\n", "importances:\nx=1\n", "unknown line"),
    ("[boosting: gbdt]", '[boosting: "]', "not allowed"),
    ("[boosting: gbdt]", "boosting", "after the trees"),
    ("[linear_tree: 0]", "[linear_tree: 1]", "not allowed"),
    ("\nend of parameters\n", "", "after the trees"),
    (":null", ':[["a"]]', "after the trees"),
    ("num_leaves", "num\0leaves", "control characters"),
    ("Column_0", "\ud800", "surrogates"),
]
NO_TREE = re.sub(r"(?s)tree_sizes=.*end of trees", "tree_sizes=\n\nend of trees", TEXT)
HOSTILE = [
    *((entry(key, place, value), match) for key, place, value, match in ENTRIES),
    *((change(**fields), match) for fields, match in FIELDS),
    *((lengths(key, delta), f"{key} has") for key in KEYS for delta in (-1, 1)),
    (lengths("cat_threshold", -1), "cat_threshold has"),
    *((add_line(line), match) for line, match in LINES),
    *((header(old, new), match) for old, new, match in HEADERS),
    *((TEXT.replace(old, new, 1), match) for old, new, match in STRINGS),
    (TEXT + "\nparser:\n{}\nend of parser\n", "after the trees"),
    ("", "header does not end"),
    (NO_TREE, "unknown line"),
]


def test_there_are_enough_hostile_variants():
    assert len(HOSTILE) >= 60
    assert len({text for text, _ in HOSTILE}) == len(HOSTILE)
    check_booster_text(fit_sizes(TEXT))


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_text_is_rejected(number):
    text, match = HOSTILE[number]
    assert text != TEXT
    with pytest.raises(ValueError, match=f"not a valid LightGBM model text.*{match}"):
        check_booster_text(text)
