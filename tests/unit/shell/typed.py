"""What a person types in; the lines that line mode would print, or the commands that its links type, out."""

from __future__ import annotations

from small_scene import SmallScene

from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout


def engine(**options) -> Engine:
    """On a scene of its own; ``profiled`` and ``begins`` are the scene's, the others the engine's."""
    scene = SmallScene(options.pop("profiled", False), options.pop("begins", False))
    return Engine(scene, **options)


def printed(shell: Engine, line: str) -> list[str]:
    """Fails where the command does."""
    result = shell.execute(line)
    lines = list(Layout(result).plain())
    assert not result.is_error, lines
    return lines


def said(shell: Engine, line: str) -> str:
    """The one line that says why it cannot be done."""
    result = shell.execute(line)
    assert result.is_error and not result.action
    (only,) = Layout(result).plain()
    assert only.startswith("ERROR: ")
    return only.removeprefix("ERROR: ")


def links(shell: Engine, line: str) -> list[str]:
    return [span.link for one in Layout(shell.execute(line)) for span in one if span.link]
