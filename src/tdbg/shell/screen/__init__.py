"""The full screen of the debugger, drawn by Textual."""

from tdbg.shell.screen.on_terminal import ask, run

__all__ = ["ask", "run"]
