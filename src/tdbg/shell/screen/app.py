"""An engine, and perhaps a program that is held, in; a full screen that shows its results, and an Action at its end, out."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text as RichText
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Static

from tdbg.capture.control import Action, Kind, Pause
from tdbg.scene import Moment
from tdbg.shell.command import Command
from tdbg.shell.engine import Engine
from tdbg.shell.result import Result, Span, Text, plain, text
from tdbg.shell.screen import bar_texts, theme
from tdbg.shell.screen.bars import Bar
from tdbg.shell.screen.lines import Lines
from tdbg.shell.screen.output import Followed, Output
from tdbg.shell.screen.palette import Palette
from tdbg.shell.screen.printed import Printed
from tdbg.shell.screen.prompt import Menu, Prompt
from tdbg.shell.screen.questions import Answer, Question
from tdbg.shell.screen.search import Search
from tdbg.shell.screen.shown import Room, Shown
from tdbg.shell.screen.style import CSS
from tdbg.shell.screen.tensor_view import PANEL_WIDTH
from tdbg.shell.screen.terminal import Terminal, TerminalGone
from tdbg.shell.screen.worker import Stopped, Worker

_PATIENCE = 0.15  # seconds after which a command counts as a long one


class ScreenApp(App[Action]):
    """``pause`` is None when no program is held."""

    CSS = CSS
    TITLE = "tdbg"
    COMMANDS: ClassVar = {Palette}
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    NOTIFICATION_TIMEOUT = 2
    BINDINGS: ClassVar = [
        Binding("f1", "type('help')", priority=True, show=False),
        Binding("f3", "type('why')", priority=True, show=False),
        Binding("f4", "printed", priority=True, show=False),
        Binding("f5", "refresh_scene", priority=True, show=False),
        Binding("alt+left", "type('prev')", priority=True, show=False),
        Binding("alt+right", "type('next')", priority=True, show=False),
        Binding("alt+n", "match(1)", priority=True, show=False),
        Binding("alt+N,alt+shift+n", "match(-1)", priority=True, show=False),
        Binding("ctrl+c", "interrupt", priority=True, show=False),
        Binding("ctrl+q", "leave", priority=True, show=False),
        Binding("ctrl+d", "end_of_input", priority=True, show=False),
        Binding("ctrl+z", "pause_process", priority=True, show=False),
        Binding("ctrl+l", "redraw", priority=True, show=False),
        Binding("escape", "back_out", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("pagedown", "scroll('page_down')", show=False),
        Binding("ctrl+home", "scroll('home')", show=False),
        Binding("ctrl+end", "scroll('end')", show=False),
        Binding("ctrl+up,shift+up", "scroll('up')", show=False),
        Binding("ctrl+down,shift+down", "scroll('down')", show=False),
    ]
