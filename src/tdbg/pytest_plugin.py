"""Records a test while it runs, and puts the verdict into its report. ``pytest --tdbg``, ``@pytest.mark.tdbg``.

Loaded at every start of pytest, so it imports nothing that is not needed to say which options there are.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_FAIL_ON = ("bad_values", "trouble", "never")
_SECTION = "tdbg"
_BAD, _UNHEALTHY = "tdbg", "tdbg_unhealthy"  # properties of a test that passed all the same


@dataclass
class _Recorded:
    """What is known of one test that is recorded."""

    path: Path
    fail_on: str
    lines: list[str]  # the verdict, once there is one
    is_bad: bool = False  # there is a NaN or an infinity that did harm
    is_trouble: bool = False  # that, or training was not healthy
    has_failed: bool = False
    is_open: bool = True
    is_said: bool = False  # the verdict is the failure itself

    @property
    def fails(self) -> bool:
        """Whether the verdict alone fails the test."""
        return {"bad_values": self.is_bad, "trouble": self.is_trouble}.get(self.fail_on, False)


_key = pytest.StashKey[_Recorded]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tdbg", "where NaN and infinity began (tdbg)")
    add = group.addoption
    add("--tdbg", action="store_true", help="record every test; one that fails shows where bad values began")
    add("--tdbg-strict", action="store_true", help="like --tdbg, and bad values also fail a test that passed")
    add("--tdbg-keep", action="store_true", help="keep the traces of tests that passed too")
    add("--tdbg-dir", metavar="DIR", help="where traces go (default: .tdbg in the root folder)")


def pytest_configure(config: pytest.Config) -> None:
    text = "tdbg(fail_on='bad_values', **options): record this test; options are those of tdbg.enable(), such as mode"
    config.addinivalue_line("markers", text)


# ---- around a test


# The innermost wrappers: when they fail, those of pytest itself have begun and can end what they began.
@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    _begin(item)
    try:
        return (yield)
    except BaseException:
        _end(item)
        raise


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    try:
        yield
    finally:
        _end(item)
    recorded = item.stash.get(_key, None)
    if recorded is not None and recorded.fails:
        recorded.is_said = True
        pytest.fail("\n".join(recorded.lines), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator[None, Any, Any]:
    report = yield
    recorded = item.stash.get(_key, None)
    if recorded is None:
        return report
    recorded.has_failed |= report.failed
    if recorded.lines and (report.failed or recorded.is_trouble) and report.when == "call" and not recorded.is_said:
        report.sections.append((_SECTION, "\n".join(recorded.lines)))
    if report.passed and recorded.is_trouble and report.when == "call":
        report.user_properties.append((_BAD if recorded.is_bad else _UNHEALTHY, recorded.lines[0]))
    if report.when == "teardown":
        if not recorded.has_failed and not item.config.getoption("tdbg_keep"):
            _remove(recorded.path)
        del item.stash[_key]
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tests that passed although there was trouble, those of xdist's workers too."""
    passed = terminalreporter.stats.get("passed", [])
    hints = {
        _BAD: ("with bad values", "--tdbg-strict makes them fail, --tdbg-keep keeps their traces"),
        _UNHEALTHY: ("but training was not healthy", "--tdbg-keep keeps their traces"),
    }
    for kind, (title, hint) in hints.items():
        found = [(r.nodeid, text) for r in passed for name, text in r.user_properties if name == kind]
        if found:
            terminalreporter.section(f"tdbg: passed, {title}")
            for nodeid, text in found:
                terminalreporter.write_line(f"{nodeid}: {text.removeprefix('tdbg: ')}")
            terminalreporter.write_line(f"({hint})")


# ---- recording


def _begin(item: pytest.Item) -> None:
    mark = item.get_closest_marker("tdbg")
    is_strict = item.config.getoption("tdbg_strict")
    if mark is None and not item.config.getoption("tdbg") and not is_strict:
        return
    from tdbg import recording
    from tdbg.capture import faults
    from tdbg.config import make_config
    from tdbg.errors import TdbgError
    from tdbg.store.place import make_room

    options = dict(mark.kwargs) if mark is not None else {}
    fail_on = options.pop("fail_on", "bad_values" if mark is not None or is_strict else "never")
    path = _place(item)
    try:
        if mark is not None and mark.args:
            raise TdbgError("the mark takes keywords only, such as mode='health'")
        if fail_on not in _FAIL_ON:
            raise TdbgError(f"unknown choice {fail_on!r} for fail_on; choose one of: {', '.join(_FAIL_ON)}")
        if "output" in options:
            raise TdbgError("the plugin chooses where the trace goes; name a folder with --tdbg-dir")
        config = make_config(**options, output=path)
        if recording.is_recording():
            return  # tdbg run records this process already, or an earlier test has left its recording on
        make_room(path, True, "--tdbg-dir")
    except TdbgError as error:
        pytest.fail(f"tdbg: {error}", pytrace=False)
    with faults.guard("recording a test"):
        recording.begin_test(config)
        item.stash[_key] = _Recorded(path, fail_on, [])


def _place(item: pytest.Item) -> Path:
    given = item.config.getoption("tdbg_dir")
    folder = item.config.invocation_params.dir / given if given else item.config.rootpath / ".tdbg"
    name = re.sub(r"[^\w.-]+", "-", item.nodeid.rpartition("/")[2]).strip("-")[:80]
    return folder.absolute() / f"{name}-{hashlib.sha1(item.nodeid.encode()).hexdigest()[:8]}.tdbg"


def _end(item: pytest.Item) -> None:
    recorded = item.stash.get(_key, None)
    if recorded is None or not recorded.is_open:
        return
    from tdbg import recording
    from tdbg.capture import faults

    recorded.is_open = False
    with faults.guard("ending the recording of a test"):
        recording.end_test()
    with faults.guard("looking for the cause"):
        _explain(recorded, item.config.invocation_params.dir)


def _explain(recorded: _Recorded, folder: Path) -> None:
    if not (recorded.path / "trace.json").exists():
        return  # the test did not use a framework
    import warnings

    import numpy as np

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from tdbg.query.verdict.text import full_lines
        from tdbg.query.verdict.verdict import explain
        from tdbg.store.reader import Trace

        trace = Trace.open(recorded.path)
        if trace.row_count("tensors") == 0:
            return
        verdict = explain(trace)
        recorded.is_bad, recorded.is_trouble = bool(verdict.origins), verdict.is_trouble
        recorded.lines = full_lines(verdict)
    shown = os.path.relpath(recorded.path, folder)
    recorded.lines += [f"next:  tdbg report {shown}"] if recorded.is_trouble else []


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):  # there are traces of other tests in it
        path.parent.rmdir()
