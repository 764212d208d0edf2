from dataclasses import replace

import pytest

from rebalance_engine.remoting.tags import Sql, is_by_tags, is_wanted, java_hash, subscription


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("A", 65),
        ("B", 66),
        ("TagA", 2_598_919),
        ("polygenelubricants", -(2**31)),  # the famous string of this hash
        ("\U0001f600", 1_772_899),  # two code units: 31 * 0xD83D + 0xDE00
    ],
)
def test_a_tag_hashes_as_in_java(text: str, value: int) -> None:
    assert java_hash(text) == value


@pytest.mark.parametrize("expression", ["", "*"])
def test_nothing_and_the_star_are_everything(expression: str) -> None:
    everything = subscription("T", expression, version=5)

    assert (everything.sub_string, everything.tags_set, everything.code_set) == ("*", (), ())
    assert is_wanted(everything, None)
    assert is_wanted(everything, "A")


def test_an_expression_is_split_at_double_bars() -> None:
    two = subscription("T", "A || B||A|| ", version=5)

    assert (two.sub_string, two.tags_set, two.code_set) == ("A || B||A|| ", ("A", "B"), (65, 66))
    assert is_wanted(two, "B")
    assert not is_wanted(two, "C")
    assert not is_wanted(two, None)


def test_tags_of_one_hash_are_told_apart_by_their_text() -> None:
    one = subscription("T", "Aa", version=5)

    assert java_hash("Aa") == java_hash("BB")
    assert not is_wanted(one, "BB")
    assert subscription("T", "Aa||BB", version=5).code_set == (2112,)


def test_a_class_filter_has_filtered_already() -> None:
    assert is_wanted(replace(subscription("T", "A", version=5), class_filter_mode=True), "B")


@pytest.mark.parametrize("expression", ["||", " || "])
def test_an_expression_without_a_tag_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="has no tag"):
        subscription("T", expression, version=5)


def test_sql_is_left_to_the_broker() -> None:
    by_sql = subscription("T", Sql("weight > 5 || region = 'north'"), version=5)

    assert (by_sql.sub_string, by_sql.expression_type) == ("weight > 5 || region = 'north'", "SQL92")
    assert (by_sql.tags_set, by_sql.code_set, by_sql.sub_version) == ((), (), 5)
    assert not is_by_tags(by_sql) and is_by_tags(subscription("T", "A", version=5))
    assert is_wanted(by_sql, None)


def test_sql_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="the SQL expression is empty"):
        subscription("T", Sql(" "), version=5)
