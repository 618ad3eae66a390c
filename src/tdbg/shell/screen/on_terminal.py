"""Shows the screen on the terminal, and asks there what a held program does next.

The screen has a thread of its own, for two reasons: the thread that is held may belong to the framework, and the
program may have an event loop in it already.
"""

from __future__ import annotations

import threading

from tdbg import native
from tdbg.capture import faults
from tdbg.capture.control import Action, Kind, Pause
from tdbg.shell.engine import Engine
from tdbg.shell.screen.jobs import Jobs

_PATIENCE = 5  # seconds for a screen that is told to end


def show(engine: Engine, pause: Pause | None = None, first: str = "") -> Action | None:
    """Shows the screen, and gives what the person chose; None when the terminal is gone. A fault of the screen is
    raised, when the terminal is as it was before."""
    jobs = Jobs(engine)
    jobs.begin_ahead(pause, first)
    from tdbg.shell.screen.keys import DebuggerScreen
    from tdbg.shell.screen.printed import Printed
    from tdbg.shell.screen.terminal import LEAVE

    failures: list[BaseException] = []
    with Printed() as printed, native.guarded_terminal(printed.terminal, printed.file, LEAVE.encode()):
        app = DebuggerScreen(jobs, pause, first, printed)

        def draw() -> None:
            try:
                app.run()
            except BaseException as error:
                failures.append(error)
            finally:
                app.put_terminal_back()

        thread = threading.Thread(target=draw, name="tdbg-screen")
        thread.start()
        try:
            thread.join()
        finally:  # what ends the program, such as a signal's exception, ends the screen first
            if thread.is_alive():
                app.end()
                thread.join(_PATIENCE)
    if app.failure or failures:
        raise app.failure or failures[0]
    return app.return_value


def ask(pause: Pause, engine: Engine) -> Action:
    """Asks a held program's person; the program continues without the debugger when nobody can be asked any more."""
    try:
        action = show(engine, pause)
    except Exception as fault:
        faults.report("showing the screen", fault)
        from tdbg.shell.prompts import LinePrompt

        return LinePrompt(engine.settings).ask(pause)
    if action is None:
        faults.say("the terminal is gone: the program continues without the debugger")
    return action or Action(Kind.DETACH)


def run(engine: Engine, first: str = "lt") -> None:
    """Runs the screen of ``tdbg shell``."""
    engine.can_ask = True
    try:
        show(engine, first=first)
    except Exception as fault:
        faults.report("showing the screen", fault)
        from tdbg.shell.line_mode import LineMode

        LineMode(engine).loop()
