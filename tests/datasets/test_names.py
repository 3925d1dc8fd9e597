from aucmax.datasets.column_names import near_names

NAMES = ["age", "sex", "Blood pressure "]


def test_near_names_are_suggested_whatever_their_capitals():
    assert near_names("AGE", NAMES) == " Did you mean 'age'?"
    assert near_names("blood presure", NAMES) == " Did you mean 'Blood pressure '?"
    assert near_names("sage", ["age", "wage"]) == " Did you mean 'age' or 'wage'?"


def test_else_all_are_listed():
    assert near_names("x", ["a", "b"]) == " The columns are 'a', 'b'."
    assert near_names("x", ["a", "b"], or_list=False) == ""


def test_of_many_names_the_nearest_are_listed():
    names = [*(f"x{i}" for i in range(200)), "outcome"]
    shown = near_names("tuo", names)
    assert shown.startswith(" The nearest of 201 columns are 'outcome', ")
    assert shown.count("'") == 24
    assert "'outcome'" in near_names("", names)
