"""Finds the program that the words after ``tdbg run`` name, and runs it in this process as Python itself would.

What Python does in C is done again here (the search path, ``sys.argv``, a new ``__main__``); what it does in ``runpy``
is left to ``runpy``, so that its messages and tracebacks are the same ones.
"""

from __future__ import annotations

import builtins
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.machinery import BuiltinImporter, SourceFileLoader, SourcelessFileLoader
from typing import Any

from tdbg.errors import TdbgCommandError

Body = Callable[[], object]


class Program:
    """A program, named in one of several ways. ``enter`` may be called once."""

    def __init__(self, name: str, words: Sequence[str], argv: Sequence[str]) -> None:
        self.name = name  # short, for the trace's file name
        self.words = list(words)  # as they would follow ``python``
        self.argv = list(argv)
        self.error: BaseException | None = None  # why it cannot be compiled

    def check(self) -> None:
        """Raises TdbgCommandError when there is no such program; sets ``error`` when Python cannot compile it."""

    def enter(self) -> Body:
        """Makes this process look like the program's, and gives what runs it, without a Python frame of its own."""
        raise NotImplementedError

    def _become_main(self, path0: str, attributes: Mapping[str, Any], always: bool = False) -> dict[str, Any]:
        sys.orig_argv = [*python_words(), *self.words]
        sys.argv = self.argv
        if not sys.flags.safe_path:
            sys.path[:1] = [path0]
        elif always:
            sys.path.insert(0, path0)
        main = types.ModuleType("__main__")
        names = main.__dict__
        names.update(__loader__=BuiltinImporter, __spec__=None)
        if sys.version_info < (3, 14):
            names.update(__annotations__={})
        names.update(__builtins__=builtins, **attributes)
        sys.modules["__main__"] = main
        return names


class Code(Program):
    """A program given as code: ``-c``, and ``-`` (standard input) once it is read."""

    def __init__(self, source: str | bytes, file: str, words: Sequence[str], argv: Sequence[str], **given: Any) -> None:
        super().__init__("python", words, argv)
        self._source, self._file, self._attributes = source, file, given
        self._code: types.CodeType | None = None

    def check(self) -> None:
        self._code = self._compiled(self._source, self._file)

    def _compiled(self, source: str | bytes, file: str) -> types.CodeType | None:
        try:
            return compile(source, file, "exec", dont_inherit=True)
        except Exception as error:
            self.error = error
            return None

    def enter(self) -> Body:
        assert self._code is not None
        return partial(exec, self._code, self._become_main("", self._attributes))


class Script(Code):
    """A program that is a file, or a folder or zip archive with a ``__main__.py``."""

    def __init__(self, path: str, args: Sequence[str]) -> None:
        # Python joins the two as they are: ``./train.py`` keeps its dot in __file__ and in tracebacks.
        file = os.path.join(os.getcwd(), path)
        super().__init__("", file, [path, *args], [path, *args])
        self.name = os.path.basename(path.rstrip(os.sep)) or "python"
        self._is_container = False
        self._loader: Any = SourceFileLoader

    def check(self) -> None:
        import pkgutil

        self._is_container = pkgutil.get_importer(self._file) is not None
        if self._is_container:
            return
        try:
            self._read()
        except OSError as error:
            hint = ""
            if self.name.startswith("python") and len(self.argv) > 1:
                hint = f"; leave {self.name!r} out: tdbg run {self.argv[1]}"
            raise TdbgCommandError(
                f"can't open file {self._file!r}: [Errno {error.errno}] {error.strerror}{hint}"
            ) from error

    def _read(self) -> None:
        import io
        import pkgutil

        with io.open_code(self._file) as file:
            self._code = pkgutil.read_code(file)
            if self._code is not None:
                self._loader = SourcelessFileLoader
                return
            file.seek(0)
            self._code = self._compiled(file.read(), self._file)

    def enter(self) -> Body:
        if self._is_container:
            self._become_main(self._file, {}, always=True)
            return _runpy("__main__", False)
        assert self._code is not None
        loader = self._loader("__main__", self._file)
        attributes = {"__loader__": loader, "__file__": self._file, "__cached__": None}
        folder = os.path.dirname(os.path.realpath(self._file))
        return partial(exec, self._code, self._become_main(folder, attributes))


class Module(Program):
    """A program named by ``-m``: found, compiled and run by ``runpy``, parents and all."""

    def __init__(self, module: str, args: Sequence[str]) -> None:
        super().__init__(module, ["-m", module, *args], ["-m", *args])

    def enter(self) -> Body:
        self._become_main(os.getcwd(), {})
        return _runpy(self.name, True)


def find_program(words: Sequence[str]) -> Program:
    """Finds the program that ``words`` name; everything after its name is its own."""
    first, rest = words[0], words[1:]
    flag, attached = first[:2], first[2:]
    if flag not in ("-c", "-m"):
        return Script(first, rest) if first != "-" else _standard_input(rest)
    if not attached and not rest:
        raise TdbgCommandError(f"{flag} needs {'a module' if flag == '-m' else 'code'} after it, as in Python")
    value, args = (attached, rest) if attached else (rest[0], rest[1:])
    if flag == "-m":
        return Module(value, args)
    return Code(value, "<string>", ["-c", value, *args], ["-c", *args])


def _standard_input(args: Sequence[str]) -> Program:
    if sys.stdin is None or sys.stdin.isatty():
        raise TdbgCommandError("'-' reads a program from a pipe; to run a script, name it: tdbg run train.py")
    source = sys.stdin.buffer.read()
    return Code(source, "<stdin>", ["-", *args], ["-", *args], __file__="<stdin>", __cached__=None)


def _runpy(module: str, alter_argv: bool) -> Body:
    import runpy

    # What ``python -m`` itself calls.
    return partial(runpy._run_module_as_main, module, alter_argv)  # type: ignore[attr-defined]


def python_words() -> list[str]:
    """Gives the interpreter and its own options, as this process was started."""
    head = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    if head[-1:] == ["tdbg"] and len(head) > 2:
        head = head[:-1]
    return head[:-1] or [sys.executable]
