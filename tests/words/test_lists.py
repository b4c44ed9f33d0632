"""Lists in sentences say how much of them is shown."""

from __future__ import annotations

from maskedadv.words.lists import and_more, first_few


def test_first_few_says_that_there_are_more():
    assert first_few("abc") == "a, b, c"
    assert first_few("abcd") == "a, b, c, ..."
    assert first_few("ab", count=9) == "a, b, ..."


def test_and_more_counts_the_others():
    assert and_more(list("abcde")) == "a, b, c, d, e"
    assert and_more(list("abcdefg")) == "a, b, c, d, e and 2 more"
