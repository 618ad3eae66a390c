"""An engine in; the screen on the terminal, and what the person wants to happen next, out.

The screen has a thread of its own, for two reasons: the thread that is held may belong to TensorFlow, and the program
may have an event loop in it already.
"""

from __future__ import annotations

import threading

from tdbg import native
from tdbg.capture import faults
from tdbg.capture.control import Action, Kind, Pause
from tdbg.shell.engine import Engine


def show(engine: Engine, pause: Pause | None = None, first: str = "") -> Action | None:
    """None: the terminal is gone."""
    from tdbg.shell.screen.keys import DebuggerScreen
    from tdbg.shell.screen.printed import Printed
    from tdbg.shell.screen.terminal import LEAVE

    with Printed() as printed, native.guarded_terminal(printed.terminal, printed.file, LEAVE.encode()):
        app = DebuggerScreen(engine, pause, first, printed)
        thread = threading.Thread(target=app.run, name="tdbg-screen")
        thread.start()
        try:
            thread.join()
        finally:  # what ends the program, such as a signal's exception, ends the screen first
            if thread.is_alive():
                app.end()
                thread.join(5)
    if app._exception is not None:
        raise app._exception
    return app.return_value


def ask(pause: Pause, engine: Engine) -> Action:
    """A held program goes on without the debugger when nobody can be asked any more."""
    action = show(engine, pause)
    if action is None:
        faults.say("the terminal is gone: the program goes on without the debugger")
    return action or Action(Kind.DETACH)


def run(engine: Engine, first: str = "lt") -> None:
    """The screen of ``tdbg shell``."""
    engine.can_ask = True
    show(engine, first=first)
