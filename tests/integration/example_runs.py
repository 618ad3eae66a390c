"""Examples and their words in; what each printed and how it ended out.

One new process runs all of them, one by one, for TensorFlow takes longer to load than an example runs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import tdbg

SOURCE = str(Path(tdbg.__file__).parents[1])


@dataclass
class Result:
    out: str
    err: str
    end: str  # the type of the exception that ended it, or nothing
    message: str


def run_examples(folder: Path, *calls: str, typed: dict[str, str] | None = None) -> dict[str, Result]:
    """By call, such as ``debug_mnist --debug`` or ``train.py``.

    ``typed`` has what the prompt of a call reads, commands between semicolons.
    """
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    environment["TDBG_STATE"] = str(folder / "state")
    work = json.dumps([[call, (typed or {}).get(call, "")] for call in calls])
    ran = subprocess.run(
        [sys.executable, __file__], cwd=folder, env=environment, input=work, capture_output=True, text=True, timeout=240
    )
    assert ran.returncode == 0, ran.stderr
    results = json.loads(ran.stdout.splitlines()[-1])
    return {call: Result(**result) for call, result in zip(calls, results, strict=True)}


def _run(call: str, typed: str) -> Result:
    import tensorflow as tf

    name, *words = call.split()
    sys.argv = [name, *words]
    sys.stdin = io.StringIO(typed.replace(";", "\n") + "\n" if typed else "")
    end = message = ""
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
        tf.Graph().as_default(),
    ):
        try:
            if name.endswith(".py"):
                runpy.run_path(name, run_name="__main__")
            else:
                runpy.run_module(f"tdbg.examples.{name}", run_name="__main__", alter_sys=True)
        except BaseException as error:
            end, message = type(error).__name__, str(error)
    return Result(out.getvalue(), err.getvalue(), end, message)


def main() -> None:
    work = json.loads(sys.stdin.read())
    print(json.dumps([asdict(_run(*call)) for call in work]))


if __name__ == "__main__":
    main()
