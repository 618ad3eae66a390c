"""Splits a typed line into its commands, its words with their places, and the file that its output goes to."""

from __future__ import annotations

import re
from typing import NamedTuple

from tdbg.errors import TdbgError

FORCE = "--force"
_QUOTES = "'\""
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*(us|µs|ms|s)?", re.IGNORECASE)
_FILE_BEHIND_TEXT = re.compile(
    r"\s>\s*(?P<file>\S*/\S*|[\w~.-]+\.(txt|log|out|csv|json|md|npy))(?P<force>\s+--force)?\s*$"
)


class Word(NamedTuple):
    """A word, without its quotes, and where it stands in the line."""

    text: str
    start: int
    end: int
    is_quoted: bool = False


def words_of(line: str, is_whole: bool = True) -> list[Word]:
    """Splits a line into words. Quotes hold a word together, and so do square brackets: ``log:0[:, 0:10]``. A backslash
    stays as it is, for regular expressions, unless a quote follows. A quote that is not closed is a TdbgError where the
    line is whole."""
    found: list[Word] = []
    at = 0
    while at < len(line):
        if line[at].isspace():
            at += 1
            continue
        start, text, quoted = at, [], False
        while at < len(line) and not line[at].isspace():
            if line[at] in _QUOTES:
                quoted = True
                piece, at = _quoted(line, at, is_whole)
            elif line[at] == "[":
                end = _closing(line, at)
                piece, at = line[at:end], end
            elif line[at] == "\\" and line[at + 1 : at + 2] in ("'", '"'):
                piece, at = line[at + 1], at + 2
            else:
                piece, at = line[at], at + 1
            text.append(piece)
        found.append(Word("".join(text), start, at, quoted))
    return found


def _quoted(line: str, at: int, is_whole: bool) -> tuple[str, int]:
    """Gives what stands in the quotes that open here, and the place behind them."""
    quote, text = line[at], []
    for place in (places := iter(range(at + 1, len(line)))):
        if line[place] == "\\" and line[place + 1 : place + 2] == quote:
            text.append(quote)
            next(places)
        elif line[place] == quote:
            return "".join(text), place + 1
        else:
            text.append(line[place])
    if is_whole:
        raise TdbgError(f"the quote {quote} at character {at + 1} is not closed")
    return "".join(text), len(line)


def _closing(line: str, at: int) -> int:
    """Finds the place behind the bracket that closes the one here; behind this one when none does."""
    depth = 0
    for place in range(at, len(line)):
        depth += {"[": 1, "]": -1}.get(line[place], 0)
        if not depth:
            return place + 1
    return at + 1


def commands_in(text: str) -> list[str]:
    """Splits a text into commands, which ``;`` or a new line separates outside of quotes and backticks."""
    found, piece, quote = [], "", ""
    for letter in text:
        if not quote and letter in ";\n":
            found.append(piece)
            piece = ""
            continue
        piece += letter
        if letter == quote:
            quote = ""
        elif not quote and letter in _QUOTES + "`":
            quote = letter
    return [one.strip() for one in [*found, piece] if one.strip()]


def without_file(line: str) -> tuple[str, str, bool]:
    """Gives a command without its ``> file``, that file ("" when there is none), and whether ``--force`` stands behind
    it."""
    words = words_of(line)
    force = len(words) > 2 and words[-1].text == FORCE and any(word.text.startswith(">") for word in words[-3:-1])
    words = words[:-1] if force else words
    if words and words[-1].text == ">" and not words[-1].is_quoted:
        raise TdbgError("> needs a file name, for example lt > tensors.txt")
    if len(words) > 2 and words[-2].text == ">" and not words[-2].is_quoted:
        mark, file, before = words[-2].start, words[-1].text, words[-3].text
    elif len(words) > 1 and words[-1].text.startswith(">") and not words[-1].is_quoted:
        mark, file, before = words[-1].start, words[-1].text[1:], words[-2].text
    else:
        return line, "", False
    if _NUMBER.fullmatch(file):
        if before.startswith("-"):
            return line[:mark] + line[mark:].replace("> ", ">", 1), "", False
        raise TdbgError(
            f"a file named {file}? Put a condition in quotes: lt -f 'nan > 0'; or write to a file with > ./{file}"
        )
    return line[:mark].rstrip(), file, force


def text_without_file(text: str) -> tuple[str, str, bool]:
    """Does the same for text that is no words, where ``>`` mostly compares: what is no path belongs to the text."""
    match = _FILE_BEHIND_TEXT.search(text)
    if match is None or any(text[match.start() :].count(quote) % 2 for quote in _QUOTES + "`"):
        return text, "", False
    return text[: match.start()], match["file"], match["force"] is not None
