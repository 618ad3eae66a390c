"""Remembers the lines that were typed, in this run and earlier ones, and finds those with a prefix."""

from __future__ import annotations

from pathlib import Path

from tdbg.shell.settings import state_folder

_MOST = 1000


class LineHistory:
    """The lines that were typed: ``lines``, oldest first, none twice in a row. Without a path nothing is kept; a file
    that cannot be written is no reason to disturb anybody."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.lines: list[str] = []
        if path is not None:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
                self.lines = [line for line in text.split("\n") if line.strip()][-_MOST:]
            except OSError:
                pass

    @classmethod
    def of_user(cls) -> LineHistory:
        return cls(state_folder() / "history")

    def add(self, line: str) -> None:
        line = line.strip().replace("\n", " ")
        if not line or (self.lines and self.lines[-1] == line):
            return
        self.lines = [*self.lines, line][-_MOST:]
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            if self.path.stat().st_size > 100 * _MOST * 10:
                self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        except (OSError, UnicodeError):
            self.path = None

    def containing(self, text: str) -> list[str]:
        """Finds the lines that contain a text, newest first, each once."""
        return list(dict.fromkeys(line for line in reversed(self.lines) if text in line))

    def with_prefix(self, prefix: str) -> list[str]:
        """Finds the lines that begin with a text, newest first, each once."""
        return list(dict.fromkeys(line for line in reversed(self.lines) if line.startswith(prefix)))
