"""README.md and docs/ in; every command block executed, every shown output looked for in what was really printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tdbg import commands
from tdbg.shell.command_pages import RECORD
from tdbg.store.format import SCHEMAS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/shell").glob("*.md"))]
OTHER_PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]

# The program that a page calls train.py.
PROGRAMS = {"README.md": "keras_fit.py", "quickstart.md": "gradient_only.py", "run.md": "eager_loop.py"}
PROGRAMS |= {"rules.md": "dead_relu.py", "diff.md": "dead_relu.py"}
PROGRAMS |= {"tensorboard.md": "eager_loop.py"}
PROGRAMS |= {"debugger_v2.md": "debugger_v2_tutorial.py", "sessions.md": "session.py"}

# Commands that are shown and not run here, each with the reason. Whoever adds one says why.
NOT_RUN = {
    "make demo": "sets up an environment; what it then runs, tdbg demo, is run",
    "make test": "is what runs this test",
    "pip install .": "would install over the environment that runs this test",
    "tensorboard --logdir logs": "runs until it is ended; test_tensorboard.py runs it",
}

# Numbers of a shown output may differ from those that are printed, but not behind "exact output".
FENCE = re.compile(
    r"(?P<mark>^<!-- (?P<exact>exact )?output of the block above -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.M | re.S,
)


@dataclass
class Block:
    """One command block, and what the page says that it prints."""

    kind: str
    body: str
    line: int
    shown: list[str] = field(default_factory=list)
    exact: bool = False

    @property
    def commands(self) -> str:
        """What to run: all of a sh block without the commands of NOT_RUN, the lines behind ``$`` of a console block."""
        lines = self.body.splitlines()
        if self.kind == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        return "\n".join(line for line in lines if line.partition("#")[0].strip() not in NOT_RUN)


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("kind")) + 1
        kind, body = match["kind"], match["body"]
        if match["mark"]:
            assert kind == "text" and found, f"{page.name}:{line} shows output of no block"
            found[-1].shown += body.splitlines()
            found[-1].exact = bool(match["exact"])
        elif kind in ("sh", "console", "python"):
            found.append(Block(kind, body, line))
            if kind == "console":
                found[-1].shown = [shown for shown in body.splitlines() if not shown.startswith("$ ")]
        else:
            assert kind == "text", f"{page.name}:{line}: a block is sh, console, python or text, not {kind}"
    assert text.count("\n```") == 2 * len(FENCE.findall(text)), f"{page.name} has a block without a kind or an end"
    assert text.count("output of the block above -->") == sum(1 for match in FENCE.finditer(text) if match["mark"])
    return found


# ---- running


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "COLUMNS" and not name.startswith("TDBG_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return {**kept, "PATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STATE": str(folder / "state")}


def run(words: list[str], folder: Path) -> str:
    ran = subprocess.run(
        words,
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=240,
    )
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def run_shell(block: Block, folder: Path) -> str:
    """Every command must succeed; but ``tdbg why`` and ``diff`` say 1 when they found something: what they are for."""
    failures = folder / "failures.txt"
    failures.write_text("")
    note = "trap 'echo \"$?: $BASH_COMMAND\" >> failures.txt' ERR"
    output = run(["bash", "-c", f"{note}\n{block.commands}\ntrue"], folder)
    wrong = [line for line in failures.read_text().splitlines() if not line.startswith(("1: tdbg why", "1: tdbg diff"))]
    failures.unlink()
    assert not wrong, f"{wrong}\n{output}"
    return output


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """``tdbg demo``, with which most pages begin, run once: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, run(["tdbg", "demo"], folder)


def test_the_demo_prints_its_own_lines_and_the_programs_alone(demo: tuple[Path, str]) -> None:
    """Whatever TensorFlow logs on this machine while it starts."""
    ours = ("$ tdbg run ", "accuracy at step ", "tdbg: ", " -> ", "    ", "next:  ")
    assert [line for line in demo[1].splitlines() if not line.startswith(ours)] == []


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The trace that the pages of docs/shell look at, recorded once."""
    folder = tmp_path_factory.mktemp("recorded")
    return folder, run(["bash", "-c", RECORD], folder)


def run_python(blocks: list[Block], folder: Path) -> list[str]:
    """All Python of a page as one program; gives what each block printed."""
    between = "<<< next block >>>"
    program = folder / "page.py"
    program.write_text(f"\nprint({between!r}, flush=True)\n".join(block.body for block in blocks), encoding="utf-8")
    return run([sys.executable, program.name], folder).split(between + "\n")


# ---- comparing


def plain(line: str) -> str:
    """A line without what differs from run to run and from machine to machine: its numbers, spaces and folders."""
    line = re.sub(r"(?<![\w.…])/(?:[^\s:\"'/]+/)+", "/…/", line)
    line = re.sub(r"-?\d[\d,]*(\.\d*)*(e[+-]?\d+)?", "0", line)
    return re.sub(r"─+", "─", " ".join(line.split()))


def exactly(line: str) -> str:
    return " ".join(line.split())


def missing_line(shown: list[str], printed: str, form: Callable[[str], str] = plain) -> str | None:
    """The first shown line that was not printed, in this order; ``...`` stands for lines that are not shown."""
    rest = [form(line) for line in printed.splitlines()]
    for line in filter(str.strip, shown):
        if line.strip() == "...":
            continue
        wanted = form(line)
        is_cut = wanted.endswith("…")
        at = next(
            (n for n, real in enumerate(rest) if real == wanted or (is_cut and real.startswith(wanted[:-1]))), None
        )
        if at is None:
            return line
        del rest[: at + 1]
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_says_what_really_happens(page: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    blocks = blocks_of(page)
    if page.name in PROGRAMS:
        shutil.copy(ROOT / "examples" / PROGRAMS[page.name], tmp_path / "train.py")
    printed = {}
    for block in blocks:
        if block.commands == "tdbg demo":
            folder, printed[block.line] = request.getfixturevalue("demo")
            shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        elif block.commands == RECORD:
            folder, printed[block.line] = request.getfixturevalue("recorded")
            (tmp_path / "mnist.tdbg").symlink_to(folder / "mnist.tdbg")
        elif block.kind != "python":
            printed[block.line] = run_shell(block, tmp_path)
    python = [block for block in blocks if block.kind == "python"]
    if python:
        printed |= zip((block.line for block in python), run_python(python, tmp_path), strict=True)
    for block in blocks:
        missing = missing_line(block.shown, printed[block.line], exactly if block.exact else plain)
        assert missing is None, f"{page.name}:{block.line} shows {missing!r}, but printed is:\n{printed[block.line]}"


def test_what_is_not_run_is_still_shown() -> None:
    lines = {line.partition("#")[0].strip() for page in PAGES for line in page.read_text("utf-8").splitlines()}
    assert set(NOT_RUN) <= lines


def test_the_comparison_sees_other_words() -> None:
    printed = "tdbg: first bad value at step 1, event #404: Log → -inf ×740\n -> digits.py:52  return x"
    assert (
        missing_line(
            ["tdbg: first bad value at step 2, event #9: Log → -inf ×3", "...", " -> digits.py:5  ret…"], printed
        )
        is None
    )
    assert missing_line(["tdbg: first bad value at step 1, event #404: Exp → +inf ×740"], printed) is not None
    assert missing_line([" -> digits.py:52  return x", "tdbg: first bad value…"], printed) is not None


# ---- pages beside the code


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    wrong = [link for link in links if link and "://" not in link and not (page.parent / link).exists()]
    assert not wrong


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_are_short_outside_tables_and_outputs(page: Path) -> None:
    text = re.sub(r"^```text.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert not [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")]


def options_of(command: str) -> set[str]:
    parser = ArgumentParser()
    commands.load(command).prepare_parser(parser)
    return {flag for action in parser._actions for flag in action.option_strings} - {"-h", "--help"}


@pytest.mark.parametrize("command", [name for name in commands.NAMES if name != "demo"])
def test_the_page_of_a_command_has_all_its_options(command: str) -> None:
    words = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", (ROOT / "docs" / f"{command}.md").read_text("utf-8")))
    assert options_of(command) <= words


def test_the_page_of_run_has_all_variables() -> None:
    from tdbg import config

    listed = set(re.findall(r"^TDBG_\w+", config.__doc__ or "", re.M))
    assert listed == set(re.findall(r"`(TDBG_\w+)`", (ROOT / "docs/run.md").read_text("utf-8")))


def test_the_page_of_why_has_all_causes() -> None:
    source = "".join(file.read_text("utf-8") for file in (ROOT / "src/tdbg/query/causes").glob("*.py"))
    from tdbg.query.causes import NAMES

    causes = set(re.findall(r'Cause\(\s*"(\w+)"', source)) | set(NAMES)
    assert causes == set(NAMES)
    assert causes <= set(re.findall(r"`(\w+)`", (ROOT / "docs/why.md").read_text("utf-8")))


def test_the_page_of_rules_has_all_rules() -> None:
    from tdbg.query.rules import all_rules

    listed = re.findall(r"^\| `(\w+)` \|.* \| (\d+) \|$", (ROOT / "docs/rules.md").read_text("utf-8"), re.M)
    assert listed == [(rule.name, str(rule.steps)) for rule in all_rules()]


@pytest.mark.parametrize("table", SCHEMAS)
def test_the_page_of_sql_has_all_columns(table: str) -> None:
    text = (ROOT / "docs/sql.md").read_text(encoding="utf-8").partition("## Tables")[2]
    section = re.search(rf"^### {table}$(.*?)^### ", text, re.M | re.S) or re.search(
        rf"^\| `{table}` (.*)$", text, re.M
    )
    assert section, f"docs/sql.md says nothing of the table {table}"
    assert set(SCHEMAS[table].names) <= set(re.findall(r"`(\w+)`", section[1]))


def test_the_readme_has_all_examples() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [path.name for path in (ROOT / "examples").glob("*.py") if f"(examples/{path.name})" not in text]
