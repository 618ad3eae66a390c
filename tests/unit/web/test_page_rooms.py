"""The folders of the page's sources are its architecture: which room may import which, and that files stay findable."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

SRC = Path(__file__).parents[3] / "webui/src"
# Each room may import those before it; what lies beside the rooms may import all.
ROOMS = ("words", "server", "state", "parts", "drawing", "table", "panes", "verdict", "page")
FILES = sorted([*SRC.rglob("*.ts"), *SRC.rglob("*.tsx")])
MOST_LINES = 400


def _room(path: Path) -> int:
    first, *rest = path.relative_to(SRC).parts
    return ROOMS.index(first) if rest else len(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SRC).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    imported = [(path.parent / name).resolve() for name in re.findall(r'from "(\.[^"]*)"', path.read_text())]
    assert [one for one in imported if _room(one) > _room(path)] == []


def test_no_file_has_the_name_of_another() -> None:
    assert [name for name, count in Counter(path.stem for path in FILES).items() if count > 1] == []


def test_files_are_small() -> None:
    lines = {path.name: len(path.read_text().splitlines()) for path in [*FILES, *SRC.glob("*.css")]}
    assert [name for name, count in lines.items() if count > MOST_LINES] == []


def test_every_pane_is_listed() -> None:
    """A pane that is in no list would be on no page."""
    declared = {
        name
        for path in (SRC / "panes").rglob("*.tsx")
        for name in re.findall(r"^export const (\w+Pane): PaneIn", path.read_text(), re.MULTILINE)
    }
    listed = re.search(r"PANES[^=]*= \[(.*?)\];", (SRC / "panes/registry.ts").read_text(), re.DOTALL)
    assert listed is not None
    assert declared == set(re.findall(r"\w+", listed[1]))
