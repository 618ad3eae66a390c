"""The full screen of the debugger, drawn by Textual: an engine in, what the person wants the program to do next out."""

from tdbg.shell.screen.on_terminal import ask, run

__all__ = ["ask", "run"]
