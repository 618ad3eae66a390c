"""The folder listing is the architecture: which part may import which, and what importing tdbg costs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tdbg

ROOT = Path(tdbg.__file__).parent
FRAMEWORKS = {"tensorflow", "keras", "torch", "jax"}
# Each part may import the parts named here (and itself). From the bottom up: all of them stand above it.
_ALLOWED = {
    "errors": "",
    "model": "",
    "plain_text": "",
    "marks": "",
    "strict_json": "",
    "vocabulary": "",
    "data_inputs": "vocabulary",
    "dialects": "model vocabulary",
    "frames": "dialects",
    "nearest": "",
    "scene": "model",
    "expressions": "errors model",
    "config": "errors expressions model",
    "native": "model",
    "store": "errors model native plain_text",
    "capture": "config dialects errors expressions frames model native scene store vocabulary",
    "formats": "dialects errors frames model native store vocabulary",
    "query": "data_inputs dialects errors expressions frames model nearest plain_text scene store vocabulary",
    "recording": "capture config dialects errors native query store",
    "frameworks": """capture config dialects errors expressions formats frames model native nearest recording scene
        store vocabulary""",
    "shell": "capture config dialects errors expressions marks model native nearest query scene store vocabulary",
    "report": "errors model query store",
    "web": "errors expressions model query report scene shell store strict_json",
    "commands": """capture config dialects errors formats marks model query recording report shell store strict_json
        vocabulary web""",
    "keras": "capture commands config errors query recording store",
    "tensorflow": "frameworks",
    "pytest_plugin": "capture config errors query recording store",
    "tensorboard_plugin": "commands errors web",
    "notebook": "capture commands config dialects errors query recording report store web",
    "demos": "",
    "examples": "tensorflow",
    "__main__": "commands errors marks plain_text store",
    "__init__": "errors notebook recording",
}
ALLOWED = {part: set(others.split()) for part, others in _ALLOWED.items()}
_PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"
_TABLE = re.compile(r"^\| part \|.*?(?=^$)", re.MULTILINE | re.DOTALL)


def part_of(name: str) -> str:
    """The part that a module, by its words below tdbg, belongs to."""
    words = name.split(".")
    if words[0] == "frameworks" and (len(words) < 3 or words[2:] in (["ops"], ["dialect"])):
        return "dialects"
    return words[0] or "__init__"


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def imports_of(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            if node.module == "tdbg":
                yield from (f"tdbg.{alias.name}" for alias in node.names)


SOURCES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    mine = part_of(name_of(path))
    for name in imports_of(path):
        words = name.split(".")
        part = part_of(".".join(words[1:])) if words[0] == "tdbg" and len(words) > 1 else ""
        if part in ALLOWED:
            assert part == mine or part in ALLOWED[mine], f"{mine} may not import {name}"
        if words[0] in FRAMEWORKS:
            assert mine in ("frameworks", "keras", "demos", "examples"), f"only a framework's own folder imports {name}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text())), "a module opens with one sentence"


def table() -> str:
    """ALLOWED as ARCHITECTURE.md shows it; parts that may import the same share a row."""
    rows: dict[str, list[str]] = {}
    for part, others in ALLOWED.items():
        rows.setdefault(" ".join(sorted(others)) or "nothing of tdbg", []).append(f"`{part}`")
    lines = [f"| {', '.join(parts)} | {others} |" for others, parts in rows.items()]
    return "\n".join(["| part | may import |", "|---|---|", *lines, ""])


def test_parts_import_only_what_stands_above_them():
    parts = list(ALLOWED)
    assert all(others <= set(parts[:place]) for place, others in enumerate(ALLOWED.values()))


def test_the_table_of_imports_is_this_one():
    assert _TABLE.findall(_PAGE.read_text("utf-8")) == [table()], f"python {Path(__file__).name} writes it"


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240
        ).stdout.split()
    )


@pytest.mark.parametrize("statement", ["import tdbg", "import tdbg.__main__"])
def test_importing_tdbg_loads_nothing_heavy(statement):
    heavy = FRAMEWORKS | {"pyarrow", "duckdb", "rich", "pandas", "textual", "werkzeug"}
    assert not modules_after(statement) & heavy


def test_the_pytest_plugin_is_light():
    """It is loaded at every start of pytest, also where nobody uses TensorFlow."""
    heavy = FRAMEWORKS | {"numpy", "pyarrow", "duckdb", "rich"}
    assert not modules_after("import tdbg.pytest_plugin") & heavy


def test_the_tensorboard_plugin_is_light():
    """TensorBoard loads it at every start, and asks it whether there are traces."""
    pytest.importorskip("tensorboard")
    heavy = FRAMEWORKS | {"numpy", "pyarrow", "duckdb", "rich", "werkzeug"}
    asked = "from types import SimpleNamespace as S; import tdbg.tensorboard_plugin as plugin; "
    asked += "assert not plugin.TdbgPlugin(S(logdir='no such folder', flags=None)).is_active()"
    assert not modules_after(asked) & heavy


def test_the_public_names():
    assert sorted(tdbg.__all__) == [
        "TdbgError",
        "__version__",
        "breakpoint",
        "disable",
        "enable",
        "open",
        "step",
        "watch",
    ]
    assert all(hasattr(tdbg, name) for name in tdbg.__all__)


if __name__ == "__main__":
    _PAGE.write_text(_TABLE.sub(lambda _: table(), _PAGE.read_text("utf-8")), "utf-8")
