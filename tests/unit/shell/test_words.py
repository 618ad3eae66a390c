"""Typed lines: words, quotes, brackets, several commands, and files to write to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdbg.errors import TdbgError
from tdbg.shell.command import quoted
from tdbg.shell.words import commands_in, text_without_file, without_file, words_of


def texts(line: str) -> list[str]:
    return [word.text for word in words_of(line)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lt -n  .*hidden.*", ["lt", "-n", ".*hidden.*"]),
        (r"lt -n a\.b\d", ["lt", "-n", r"a\.b\d"]),
        ("pt cross_entropy/Log:0[:, 0:10] -s", ["pt", "cross_entropy/Log:0[:, 0:10]", "-s"]),
        ("pt x -r [[-inf, -1], [1, inf]]", ["pt", "x", "-r", "[[-inf, -1], [1, inf]]"]),
        ("lt -n [ab", ["lt", "-n", "[ab"]),
        ("lt -f 'nan > 0 and op == \"Log\"'", ["lt", "-f", 'nan > 0 and op == "Log"']),
        (r"lt -f 'it\'s' x", ["lt", "-f", "it's", "x"]),
        ("ni labels\\'s ''", ["ni", "labels's", ""]),
    ],
)
def test_words_are_held_together_by_quotes_and_brackets(line, words):
    assert texts(line) == words


def test_a_quote_that_is_not_closed_is_told_by_its_place():
    with pytest.raises(TdbgError, match="character 7 is not closed"):
        words_of("lt -f 'nan")
    assert [word.text for word in words_of("lt -f 'nan", is_whole=False)] == ["lt", "-f", "nan"]


@given(st.text())
def test_a_quoted_word_is_one_word_again(word):
    if word and "\\" not in word:
        assert texts(f"pt {quoted(word)} -s") == ["pt", word, "-s"]


def test_commands_are_separated_outside_of_quotes():
    text = "lt -n 'a;b'; ni x;;ev `a;0`\n sql \"SELECT 1; SELECT 2\" ;"
    assert commands_in(text) == ["lt -n 'a;b'", "ni x", "ev `a;0`", 'sql "SELECT 1; SELECT 2"']


@pytest.mark.parametrize(
    ("line", "command", "file"),
    [
        ("lt > out.txt", "lt", "out.txt"),
        ("pt x:0[:, 0:10] >/tmp/out.txt", "pt x:0[:, 0:10]", "/tmp/out.txt"),
        ("lt > 'my file.txt'", "lt", "my file.txt"),
        ("lt -f 'nan > 0'", "lt -f 'nan > 0'", ""),
        ("lt -f '> x'", "lt -f '> x'", ""),
        ("lp -e >100us", "lp -e >100us", ""),
        ("lp -e > 100us", "lp -e >100us", ""),
        ("lp -e '>100us' > times.txt", "lp -e '>100us'", "times.txt"),
        ("lt", "lt", ""),
    ],
)
def test_where_output_goes(line, command, file):
    assert without_file(line) == (command, file, False)
    if file:
        assert without_file(f"{line} --force") == (command, file, True)


def test_a_condition_without_quotes_writes_no_file():
    with pytest.raises(TdbgError, match="Put a condition in quotes"):
        without_file("lt -f nan > 0")
    with pytest.raises(TdbgError, match="> needs a file name"):
        without_file("lt >")


@pytest.mark.parametrize(
    ("text", "kept", "file"),
    [
        ("SELECT * FROM ops WHERE op > 3", "SELECT * FROM ops WHERE op > 3", ""),
        ("SELECT t.nan > o.op FROM t", "SELECT t.nan > o.op FROM t", ""),
        ("`Softmax:0` > 1 > out.txt", "`Softmax:0` > 1", "out.txt"),
        ("SELECT 1 > /tmp/rows", "SELECT 1", "/tmp/rows"),
        ('"x > a/b"', '"x > a/b"', ""),
    ],
)
def test_in_free_text_only_a_path_is_a_file(text, kept, file):
    assert text_without_file(text) == (kept, file, False)
    if file:
        assert text_without_file(f"{text} --force") == (kept, file, True)
