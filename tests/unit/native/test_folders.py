"""C that knows no framework lies apart from what a framework adds to it."""

import re
from pathlib import Path

import pytest

import tdbg

ROOT = Path(tdbg.__file__).parent
SOURCES = sorted(path for kind in ("c", "h") for path in (ROOT / "native").rglob(f"*.{kind}"))
TOGETHER = "module.c"  # it has the parts of all frameworks


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_native_code_knows_no_framework(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\bTF_\w+", text)
    includes = re.findall(r'#include "([^"]+)"', text)
    assert path.name == TOGETHER or not any(name.startswith("frameworks/") for name in includes)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 400
