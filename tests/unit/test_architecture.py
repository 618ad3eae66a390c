"""The folder listing is the architecture: which part may import which, and what importing tdbg costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tdbg

ROOT = Path(tdbg.__file__).parent
FRAMEWORKS = {"tensorflow", "keras", "torch", "jax"}
# Each part may import the parts named here (and itself).
ALLOWED = {
    "errors": set(),
    "model": set(),
    "plain_text": set(),
    "marks": set(),
    "strict_json": set(),
    "frames": {"model"},
    "op_types": set(),
    "vocabulary": set(),
    "dialects": {"model", "vocabulary"},
    "nearest": set(),
    "scene": {"model"},
    "expressions": {"errors", "model"},
    "config": {"errors", "model", "expressions"},
    "native": {"model"},
    "store": {"errors", "model", "native", "plain_text"},
    "capture": {"errors", "model", "frames", "expressions", "scene", "config", "native", "store"},
    "frameworks": {
        "vocabulary",
        "dialects",
        "errors",
        "model",
        "nearest",
        "frames",
        "op_types",
        "expressions",
        "scene",
        "config",
        "native",
        "store",
        "capture",
        "formats",
        "recording",
    },
    "formats": {"vocabulary", "dialects", "errors", "model", "frames", "op_types", "native", "store"},
    "recording": {"errors", "config", "capture", "store", "query"},
    "query": {
        "vocabulary",
        "dialects",
        "errors",
        "model",
        "nearest",
        "frames",
        "op_types",
        "expressions",
        "scene",
        "store",
        "plain_text",
    },
    "shell": {
        "vocabulary",
        "dialects",
        "errors",
        "model",
        "nearest",
        "expressions",
        "scene",
        "config",
        "native",
        "capture",
        "store",
        "query",
        "marks",
    },
    "report": {"errors", "model", "store", "query"},
    "web": {"errors", "model", "expressions", "scene", "strict_json", "store", "query", "report", "shell"},
    "commands": {
        "vocabulary",
        "dialects",
        "errors",
        "model",
        "config",
        "capture",
        "recording",
        "store",
        "query",
        "formats",
        "report",
        "shell",
        "strict_json",
        "web",
        "marks",
    },
    "keras": {"errors", "config", "capture", "recording", "store", "query", "commands"},
    "tensorflow": {"frameworks"},
    "pytest_plugin": {"errors", "config", "capture", "recording", "query", "store"},
    "tensorboard_plugin": {"errors", "commands", "web"},
    "notebook": {"dialects", "errors", "config", "capture", "recording", "store", "query", "report", "commands", "web"},
    "demos": set(),
    "examples": {"tensorflow"},
    "__main__": {"errors", "commands", "plain_text", "marks", "store"},
    "__init__": {"errors", "recording", "notebook"},
}


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
