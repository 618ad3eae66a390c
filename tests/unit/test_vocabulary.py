"""Names of a framework's ops stand in its own folder: everything else thinks in kinds and roles.

A native name may be shown, and may stand in an example of what a person types. It may not decide anything.
"""

import ast
import re
from pathlib import Path

import pytest

import tdbg
from tdbg.frameworks.tensorflow import ops

ROOT = Path(tdbg.__file__).parent
WEBUI = ROOT.parents[1] / "webui" / "src"
NATIVE = ops.native_names()

# TensorFlow's own rooms, files of other tools, and programs that use TensorFlow.
OWN = ("frameworks/", "formats/", "tensorflow/", "keras.py", "demos/", "examples/")
# Rooms that are still to be moved to kinds. A room that is done leaves this list.
PENDING = ("op_types.py",)
# Op names that are English words too, and what the word says here.
ENGLISH = {
    "All": "all of something: a link, a sentence",
    "Copy": "copy a link",
    "Empty": "nothing is listed",
    "Enter": "the key",
    "Fill": "fill the window",
    "Size": "the title of a column",
    "Slice": "a slice of a tensor",
    "Stack": "a stack trace",
    "Variable": "the title of a column",
    "Where": "where something began",
}
# Ops that examples of what a person types speak of, in help texts and messages; never a whole text.
EXAMPLES = {"Exp", "Log", "MatMul", "Relu", "Softmax"}
SURFACES = ("commands/", "shell/", "web/", "expressions.py")

# Code and SQL that decide something by the native name of an op.
BY_TYPE = re.compile(
    r"""\btype\s+(?:NOT\s+)?LIKE\b
    | \btype\s*(?:=|<>|\bIN\b)\s*['(]
    | (?:\.|(?<!for\ )\bop_)type\s*(?:==|!=|\bin\b|\bnot\s+in\b)
    | (?:\.|\bop_)type\.(?:startswith|endswith)\(""",
    re.VERBOSE,
)
JUDGING = ("query/", "shell/", "report/", "web/", "commands/", "notebook/")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


SOURCES = sorted(
    path for path in ROOT.rglob("*.py") if not relative(path).startswith(OWN) and not relative(path).startswith(PENDING)
)
PAGE = sorted(WEBUI.rglob("*.ts*"))


def texts_in(tree: ast.Module):
    """All texts of a module but docstrings, each with its line."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def native_in(text: str, is_surface: bool) -> set[str]:
    """The op names in a text that may not be there."""
    found = set(re.findall(r"\w+", text)) & NATIVE - ENGLISH.keys()
    return found - EXAMPLES if is_surface and text not in NATIVE else found


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_no_op_name_outside_the_frameworks(path):
    is_surface = relative(path).startswith(SURFACES)
    found = {line: native_in(text, is_surface) for line, text in texts_in(ast.parse(path.read_text()))}
    assert not {line: names for line, names in found.items() if names}


@pytest.mark.parametrize("path", [one for one in SOURCES if relative(one).startswith(JUDGING)], ids=relative)
def test_nothing_is_decided_by_the_native_name(path):
    lines = path.read_text().splitlines()
    assert not [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if BY_TYPE.search(line)]


@pytest.mark.parametrize("path", PAGE, ids=lambda path: path.name)
def test_the_page_knows_no_op_names(path):
    code = re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text(), flags=re.M)
    texts = [next(filter(None, found), "") for found in re.findall(r""""([^"\n]*)"|'([^'\n]*)'|`([^`]*)`""", code)]
    assert not [(text, found) for text in texts if (found := native_in(text, True))]


def test_words_that_are_allowed_are_needed():
    """A word that nobody says any more leaves the lists, and so does a room that is done."""
    said: set[str] = set()
    for path in SOURCES:
        for _, text in texts_in(ast.parse(path.read_text())):
            said |= set(re.findall(r"\w+", text))
    for path in PAGE:
        said |= set(re.findall(r"\w+", path.read_text()))
    assert not (ENGLISH.keys() | EXAMPLES) - said
    assert not ENGLISH.keys() - NATIVE
    assert all((ROOT / room).exists() for room in PENDING)
