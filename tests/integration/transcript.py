"""A program and lines for its prompt in; what each command showed out, as a person at a plain terminal would see it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import tdbg

SOURCE = str(Path(tdbg.__file__).parents[1])
PROMPT = "tdbg> "


@dataclass
class Transcript:
    """``shown`` has one text for each command, in order; ``before`` is what came before the first prompt."""

    before: str
    commands: list[str]
    shown: list[str]
    errors: str
    status: int

    def of(self, command: str) -> str:
        """What the only command of this text showed."""
        assert self.commands.count(command) == 1, f"{command!r} was typed {self.commands.count(command)} times"
        return self.shown[self.commands.index(command)]


def run_program(words: list[str], typed: list[str], folder: Path, **environment: str) -> Transcript:
    """``words`` are those behind ``python``."""
    variables = {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1", "TDBG_STATE": str(folder)}
    ran = subprocess.run(
        [sys.executable, *words],
        input="".join(line + "\n" for line in typed),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env=os.environ | variables | environment,
        timeout=240,
    )
    before, *parts = ran.stdout.split(PROMPT)
    split = [part.partition("\n") for part in parts]
    return Transcript(
        before, [line for line, _, _ in split], [rest for _, _, rest in split], ran.stderr, ran.returncode
    )
