"""The engine: lines in, results out; never an exception."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_scene import SmallScene
from typed import engine, printed, said

from tdbg.capture.control import Kind
from tdbg.shell.commands import all_commands, all_words
from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout
from tdbg.shell.result import plain

SHELL = engine()
WORDS = st.sampled_from(
    [*all_words(), "-f", "-n", "-t", "-r", "-s", "-a", "-d", "-c", "-b", "-m", "--depth", "has_inf_or_nan", "nan > 0",
     "cross_entropy/Log:0", "Log", "Softmax", "3", "-1", "debug_mnist.py", "[", "]", "'", '"', "`", "@[0,1]", "@", "/",
     "/(", ";", "\\", "(", "*", "é", "\x00", "\x1b[2J"]
)  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(WORDS, st.text(alphabet=st.characters(exclude_characters=">"))), max_size=6).map(" ".join))
def test_no_typed_line_raises_or_meets_a_fault(line):
    result = SHELL.execute(line)
    lines = [plain(one) for one in Layout(result, 40)]
    assert not any("bug in tdbg" in one for one in lines)
    assert not result.is_error or plain(list(Layout(result))[-1]).startswith("ERROR: ")
    SHELL.complete(line)


def test_every_command_is_found_by_all_its_names():
    words = [word for command in all_commands().values() for word in (command.name, *command.aliases)]
    assert len(words) == len(set(words)) == len(all_words())
    assert [command.name for command in all_commands().values()] == list(all_commands())


def test_what_is_not_there_is_told_with_what_is_near():
    shell = engine()
    assert said(shell, "ltt") == "there is no command 'ltt'; did you mean 'lt'?"
    assert said(shell, "zzzzz") == "there is no command 'zzzzz'; type help for a list"
    assert said(shell, "ni cross_entropy/Lag") == "no node 'cross_entropy/Lag'; did you mean 'cross_entropy/Log'?"
    assert said(shell, "lt -q") == "list_tensors: unrecognized arguments: -q; type help list_tensors for its flags"


def test_a_fault_of_tdbg_is_one_line(monkeypatch):
    class Broken(SmallScene):
        def run_info(self):
            raise LookupError("lost")

    monkeypatch.delenv("TDBG_STRICT", raising=False)
    assert "bug in tdbg (LookupError in test_engine.py" in said(Engine(Broken()), "ri")
    monkeypatch.setenv("TDBG_STRICT", "1")
    with pytest.raises(LookupError):
        Engine(Broken()).execute("ri")


def test_ctrl_c_ends_one_command_only():
    class Interrupted(SmallScene):
        def run_info(self):
            raise KeyboardInterrupt

    shell = Engine(Interrupted())
    assert said(shell, "ri") == "stopped"
    assert printed(shell, "lt")[0] == "8 dumped tensor(s):"


def test_several_commands_give_one_screen_and_stop_at_the_first_that_fails():
    shell = engine()
    both = printed(shell, "ver; lt -t Log")
    assert both[0].startswith("tdbg ") and both[-1].endswith("-inf ×2")
    assert [screen.line for screen in shell.visited.screens] == ["ver; lt -t Log"]
    failed = shell.execute("ver; nothing; lt")
    assert failed.is_error
    assert len(list(Layout(failed))) == 2


# ---- > file


def test_output_is_written_to_a_file(tmp_path):
    shell = engine()
    assert printed(shell, "lt > tensors.txt") == ["10 lines written to tensors.txt"]
    assert (tmp_path / "tensors.txt").read_text("utf-8").splitlines() == printed(shell, "lt")


def test_files_that_cannot_be_written(tmp_path):
    shell = engine(is_held=True)
    (tmp_path / "folder").mkdir()
    assert said(shell, "lt > folder") == "this is a folder, not a file: folder"
    assert said(shell, "lt > nowhere/out.txt").startswith("cannot write the file (No such file or directory)")
    assert said(shell, "run > out.txt") == "run has no output to write to a file"
    assert "no node 'x_'" in said(shell, "ni x_ > out.txt")
    assert not (tmp_path / "out.txt").exists()


# ---- /regex


def test_search_marks_matches_and_goes_from_one_to_the_next():
    shell = engine()
    shell.execute("lt")
    found = shell.execute("/nan ×.")
    assert found.top == 7 and found.search == "nan ×."
    marked = [span.text for line in Layout(found) for span in line if span.style == "match"]
    assert marked == ["nan ×2", "nan ×1"]
    assert shell.execute("/").top == 9
    assert shell.execute("/").top == 7
    assert len(shell.visited.screens) == 1


def test_search_says_what_is_wrong():
    shell = engine()
    assert said(shell, "/inf") == "there is nothing to search yet; show something first, for example with lt"
    shell.execute("lt")
    assert said(shell, "/").startswith("search for what?")
    assert said(shell, "/(").startswith("this is not a regular expression")
    assert said(shell, "/nowhere") == "no line on this screen matches: nowhere"
    assert shell.execute("/a;b|Log").top == 6


def test_a_search_is_kept_for_the_next_screen():
    shell = engine()
    shell.execute("lt")
    shell.execute("/Log")
    shell.execute("ni cross_entropy/Log")
    assert shell.execute("/").top == 0


# ---- @[i,j]


def test_an_element_can_only_be_gone_to_where_a_tensor_is_shown():
    shell = engine()
    assert said(shell, "@[0,1]").endswith("first: pt NAME")
    shell.execute("lt")
    assert said(shell, "@0,1").startswith("no tensor is shown")
    assert said(shell, "@[x]") == "write an element as @[row,column], for example @[10,0]"


# ---- screens


def test_prev_and_next_go_through_screens_as_a_browser():
    shell = engine()
    assert said(shell, "prev") == "there is no screen before this one"
    first, second = printed(shell, "lt"), printed(shell, "ri")
    shell.execute("nothing")
    assert printed(shell, "prev") == first
    assert said(shell, "prev") == "there is no screen before this one"
    assert printed(shell, "next") == second
    assert said(shell, "next") == "there is no screen after this one"
    printed(shell, "prev")
    third = printed(shell, "ls")
    assert said(shell, "next") == "there is no screen after this one"
    assert printed(shell, "prev") == first
    assert printed(shell, "next") == third


def test_the_oldest_screens_are_forgotten():
    shell = engine()
    for _ in range(150):
        shell.execute("ver")
    assert len(shell.visited.screens) == 100


def test_exit_is_an_action():
    for word in ("exit", "quit"):
        action = engine().execute(word).action
        assert action and action.kind == Kind.EXIT


def test_version():
    (line,) = printed(engine(), "version")
    assert re.fullmatch(r"tdbg \d+\.\d+\.\d+", line)
    assert printed(engine(), "ver") == [line]
