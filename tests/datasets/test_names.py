from aucmax.datasets import near_names

NAMES = ["age", "sex", "Blood pressure "]


def test_near_names_are_suggested_whatever_their_capitals():
    assert near_names("AGE", NAMES) == " Did you mean 'age'?"
    assert near_names("blood presure", NAMES) == " Did you mean 'Blood pressure '?"
    assert near_names("sage", ["age", "wage"]) == " Did you mean 'age' or 'wage'?"


def test_else_all_are_listed_or_the_first_of_many():
    assert near_names("x", ["a", "b"]) == " The columns are 'a', 'b'."
    assert near_names("x", ["a", "b"], or_list=False) == ""
    assert near_names("-", [f"x{i}" for i in range(13)]).endswith("'x11', ...")
