"""Line mode and prompts: on pipes here, and on a real terminal through a pseudo-terminal."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from small_scene import SmallScene
from typed import engine

from tdbg.capture.control import Action, Kind, Pause, prompt
from tdbg.errors import TdbgError
from tdbg.shell.engine import Engine
from tdbg.shell.line_mode import LineMode
from tdbg.shell.prompts import LinePrompt, can_show_screen
from tdbg.shell.result import Result, text

HERE = Path(__file__).parent
PROGRAM = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from small_scene import SmallScene
from tdbg.capture.control import Pause, prompt
action = prompt("readline").ask(Pause("run-end", "run-end: run #4", SmallScene(), "lt -t Log", ["one thing"]))
print(action, file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("TDBG_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def typed(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_lines_of_a_pipe_read_as_a_transcript(monkeypatch, capsys):
    typed(monkeypatch, "lt -t Log\n\nnothing\n/Log\n")
    assert LineMode(engine()).loop() is None
    assert capsys.readouterr().out.splitlines() == [
        "tdbg> lt -t Log",
        '1 of 8 dumped tensor(s), op type "Log":',
        " t (ms)  Size (B)  Op type  Tensor name",
        "[6.250]        24  Log      cross_entropy/Log:0  -inf ×2",
        "tdbg> ",
        "tdbg> nothing",
        "ERROR: there is no command 'nothing'; type help for a list",
        "tdbg> /Log",
        '1: 1 of 8 dumped tensor(s), op type "Log":',
        "3: [6.250]        24  Log      cross_entropy/Log:0  -inf ×2",
        "tdbg> ",
    ]


def test_the_next_match_is_shown_with_what_is_around_it(monkeypatch, capsys):
    typed(monkeypatch, "lt\n/nan\n/\n")
    LineMode(engine()).loop()
    shown = capsys.readouterr().out.partition("tdbg> /\n")[2].splitlines()
    assert shown[0].endswith("cross_entropy/mul:0  nan ×2") and len(shown) == 4


def test_a_trace_that_grows_is_read_again_for_each_command(monkeypatch):
    class Growing(SmallScene):
        reads = 0

        def refresh(self):
            self.reads += 1
            return True

    typed(monkeypatch, "lt\nri; lt\n")
    shell = Engine(Growing())
    LineMode(shell).loop()
    assert shell.scene.reads == 3


def test_what_cannot_be_read_when_its_line_comes_is_an_error(monkeypatch, capsys):
    class Damaged(SmallScene):
        def tensors(self, selection):
            return DamagedTensors()

    class DamagedTensors(list):
        total, notes = 1, ()

        def __len__(self):
            return 1

        def __getitem__(self, at):
            raise TdbgError("this part of the trace is damaged")

    assert LineMode(Engine(Damaged())).execute("lt").is_error
    assert capsys.readouterr().out == "ERROR: this part of the trace is damaged\n"


def test_without_an_input_or_an_output_nothing_is_asked(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert LineMode(engine()).loop() is None
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\nver\n"), encoding="utf-8"))
    assert LineMode(engine()).loop() is None
    assert "ERROR: this line is not UTF-8 text" in capsys.readouterr().out
    typed(monkeypatch, "lt\nrun\n")
    monkeypatch.setattr(sys, "stdout", None)
    assert LineMode(engine(is_held=True)).loop() == Action()


def test_an_action_ends_the_loop(monkeypatch):
    typed(monkeypatch, "lt; run -t 2; lt\nexit\n")
    assert LineMode(engine(is_held=True)).loop() == Action(times=2)


def test_without_a_person_a_question_is_answered_with_yes(monkeypatch, capsys):
    shell = engine()
    monkeypatch.setattr(
        shell, "_one", lambda line: Result(asks="all?", yes="yes") if line == "x" else Result([text("all")])
    )
    LineMode(shell).execute("x")
    assert capsys.readouterr().out == "all\n"


def test_a_terminal_that_knows_no_unicode_gets_marks_in_its_place(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    LineMode(engine()).execute("lt -t Log")
    assert b"-inf x2" in raw.getvalue()


# ---- prompts of held programs


def test_a_prompt_says_where_the_program_is_held(monkeypatch, capsys):
    typed(monkeypatch, "run -n\n")
    asked = prompt("readline")
    assert isinstance(asked, LinePrompt) and not can_show_screen()
    action = asked.ask(Pause("run-start", "run-start: run #1", SmallScene(begins=True), "run_info", ["careful"]))
    assert action == Action(debug=False)
    assert capsys.readouterr().out.splitlines()[:2] == ["run-start: run #1", "careful"]


def test_at_the_end_of_the_input_the_program_goes_on_alone(monkeypatch, capsys):
    typed(monkeypatch, "")
    assert prompt("curses").ask(Pause("run-start", "run-start: run #1", SmallScene())) == Action(Kind.DETACH)
    assert "no more commands: the program continues without the debugger" in capsys.readouterr().err


def test_screens_of_an_earlier_pause_are_forgotten(monkeypatch, capsys):
    typed(monkeypatch, "lt\nrun\nprev\nrun\n")
    asked = prompt("readline")
    for _ in range(2):
        asked.ask(Pause("run-end", "run-end", SmallScene(), ""))
    assert "ERROR: there is no screen before this one" in capsys.readouterr().out


def test_a_bad_settings_file_is_one_warning(monkeypatch, capsys, tmp_path):
    (tmp_path / "config").write_text("{")
    prompt("readline", str(tmp_path / "config"))
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(TdbgError, match="unknown ui_type 'emacs'"):
        prompt("emacs")


# ---- on a terminal


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("PAGER", "cat -n")
    child = pexpect.spawn(sys.executable, ["-c", PROGRAM], encoding="utf-8", timeout=240, dimensions=(12, 100))
    child.expect("tdbg> ")
    yield child
    child.close(force=True)


def test_tab_completes_and_colours_are_on(terminal):
    assert "run-end: run #4" in terminal.before and "\x1b[1;38;5;208m-inf ×2" in terminal.before
    terminal.send("ni cross_entropy/L\t\r")
    terminal.expect("Op: ")
    terminal.expect("tdbg> ")
    terminal.send("lt -s dump\t-r\r")
    terminal.expect("weights/Read")
    terminal.expect("tdbg> ")
    terminal.send("run\r")
    terminal.expect("Action\\(kind=<Kind.RUN")


def test_long_output_goes_through_the_pager_and_ctrl_c_ends_a_line(terminal):
    terminal.send("half a li")
    terminal.expect("half a li")
    terminal.sendintr()
    terminal.expect("tdbg> ")
    terminal.send("help\r")
    terminal.expect("     1\t")
    terminal.expect("tdbg> ")
    terminal.sendeof()
    terminal.expect("the program continues without the debugger")
    terminal.expect("Kind.DETACH")


def test_history_is_kept_between_programs_and_searched_by_prefix(terminal, tmp_path):
    for line in ("lt -t Softmax", "ri", "exit"):
        terminal.send(line + "\r")
        terminal.expect("tdbg> " if line != "exit" else pexpect.EOF)
    again = pexpect.spawn(sys.executable, ["-c", PROGRAM], encoding="utf-8", timeout=240, dimensions=(12, 100))
    again.expect("tdbg> ")
    again.send("lt\x1b[A")
    again.expect("-t Softmax")
    again.send("\r")
    again.expect("Softmax:0")
    again.close(force=True)


def test_a_reader_that_stops_reading_ends_it_without_a_word(tmp_path):
    """``tdbg shell … | head``, for a program that asks by lines."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = f"printf 'help\\nhelp\\nhelp\\n' | {sys.executable} program.py | head -1"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=240, env=environment)
    assert ran.stdout == "run-end: run #4\n"
    assert "Traceback" not in ran.stderr and "continues without the debugger" in ran.stderr


def test_two_prompts_of_a_program_wait_for_each_other():
    program = f"""
import sys, threading
sys.path.insert(0, {str(HERE)!r})
from small_scene import SmallScene
from tdbg.capture.control import Pause, prompt
def hold(name):
    prompt("readline").ask(Pause("run-end", f"begin {{name}}", SmallScene(), "version"))
threads = [threading.Thread(target=hold, args=[name]) for name in ("one", "other")]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    child = pexpect.spawn(sys.executable, ["-c", program], encoding="utf-8", timeout=240)
    child.expect("begin (one|other)")
    first = child.match[1]
    child.expect("tdbg>")
    assert child.expect(["begin (one|other)", pexpect.TIMEOUT], timeout=1) == 1, "both stand there at once"
    child.sendline("run")
    child.expect("begin (one|other)")
    assert child.match[1] != first
    child.expect("tdbg>")
    child.sendline("run")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
