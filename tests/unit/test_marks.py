"""Marks that a stream or terminal cannot show become ASCII ones of the same width."""

import io

import pytest

from tdbg import marks


class Stream(io.TextIOWrapper):
    """Of some encoding; perhaps a terminal."""

    def __init__(self, encoding: str, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        ({}, "utf-8"),
        ({"LANG": "C"}, "ascii"),
        ({"LANG": "POSIX"}, "ascii"),
        ({"LANG": "en_GB.UTF-8"}, "utf-8"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "ascii"),  # what Python itself makes of LANG=C
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, "ascii"),
        ({"LC_CTYPE": "C.UTF-8"}, "utf-8"),
    ],
)
def test_the_locale_tells_what_a_terminal_shows(names, encoding, monkeypatch):
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert marks.encoding_of(Stream("utf-8", is_terminal=True)) == encoding
    assert marks.encoding_of(Stream("utf-8")) == "utf-8"


def test_what_cannot_be_shown_keeps_its_width():
    ascii_only = Stream("ascii")
    assert marks.fitting("a…b ● 2 → 3 · ─", ascii_only) == "a~b * 2 > 3 : -"
    assert marks.fitting("日", ascii_only) == "??" and marks.fitting("é", ascii_only) == "?"
    assert marks.fitting("é…", Stream("latin-1")) == "é~"
    assert marks.fitting("é…", Stream("utf-8")) == "é…"


def test_a_stream_that_fits_fails_at_no_character():
    stream = Stream("ascii")
    marks.fit(stream, None)
    stream.write("Log → -inf \ud800")
    assert stream.buffer.getvalue() == b"Log > -inf ?"
