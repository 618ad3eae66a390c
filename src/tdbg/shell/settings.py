"""Keeps the settings of the debugger's prompt in a small JSON file, and checks them.

Files of the prompt (settings and history) lie in the folder TDBG_STATE, by default ``~/.local/state/tdbg``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdbg.errors import TdbgError


def state_folder() -> Path:
    given = os.environ.get("TDBG_STATE")
    return Path(given or Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "tdbg").expanduser()


@dataclass(frozen=True)
class Setting:
    """One setting. ``read`` makes its value of what was typed; ValueError when that is none."""

    default: Any
    read: Callable[[str], Any]
    values: str  # which there are, for the message
    meaning: str


def _depth(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _switch(text: str) -> bool:
    return {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}[text.lower()]


SETTINGS: dict[str, Setting] = {
    "graph_recursion_depth": Setting(20, _depth, "a number of at least 1", "how deep li -r and lo -r go without -d"),
    "mouse_mode": Setting(True, _switch, "on or off", "whether the screen takes clicks; off lets you select text"),
    "pager": Setting(True, _switch, "on or off", "whether line mode shows long output a page at a time"),
}


class Settings(Mapping[str, Any]):
    """All settings by name. ``warning`` says what was wrong with the file, "" when nothing was."""

    def __init__(self, path: Path | None = None) -> None:
        self.path, self.warning = path, ""
        self._values = {name: setting.default for name, setting in SETTINGS.items()}
        if path is not None:
            self._read(path)

    @classmethod
    def of_user(cls, config_file_path: Any = None) -> Settings:
        """Reads the file that is given, else that in the state folder."""
        return cls(Path(config_file_path).expanduser() if config_file_path else state_folder() / "settings.json")

    def _read(self, path: Path) -> None:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(found, dict):
                raise ValueError("it does not contain a JSON object")
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.warning = f"using the default settings, because the settings file cannot be read ({reason}): {path}"
            return
        for name, value in found.items():
            try:
                self._values[name] = _checked(name, str(value))
            except TdbgError as error:
                self.warning = f"{error}; keeping the old value (in {path})"

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def set(self, name: str, text: str) -> None:
        """Sets a value now and, where there is a file, for later prompts."""
        self._values[name] = _checked(name, text)
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_name(self.path.name + ".new")
            new.write_text(json.dumps(self._values, indent=2) + "\n", encoding="utf-8")
            new.replace(self.path)
        except OSError as error:
            raise TdbgError(
                f"{name} is set for this session, but cannot be saved ({error.strerror}): {self.path}"
            ) from None


def shown(value: Any) -> str:
    """Writes a value as it is typed."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _checked(name: str, text: str) -> Any:
    if name not in SETTINGS:
        raise TdbgError(f"there is no setting {name!r}; the settings are: {', '.join(SETTINGS)}")
    try:
        return SETTINGS[name].read(text)
    except (ValueError, LookupError):
        raise TdbgError(f"{name} must be {SETTINGS[name].values}, not {text!r}") from None
