"""Mutants of a trace in; what each reader did wrong with them out: a traceback, a wait, memory, control characters.

``python tests/mutated_traces.py TRACE --count 100000 --seed 1`` goes on for as long as one likes and prints each fault
once.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tdbg.__main__ import main
from tdbg.errors import TdbgError
from trace_mutants import bombed, mutant

MOST_SECONDS = 300  # on a busy machine; what hangs, hangs for ever
MOST_MEGABYTES = 400
HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")
PLACE = re.compile(r'File "[^"]*/(tdbg/[^"]+)", line (\d+)')
SQL = "SELECT o.name, t.seq, t.step FROM tensors t JOIN ops o USING (process, op) LIMIT 20"
TYPED = (
    "lt", "lt -f has_inf_or_nan", "run_info", "steps", "alerts", "why", "where", "health", "list_source", "ls",
    "list_profile", "history log", "sql SELECT * FROM executions", "ni -t -a {node}", "li {node}", "lo {node}",
    "pt {node}:0", "ps train.py", "grad {node}", "next", "lt -n Log",
)  # fmt: skip


class Late(BaseException):
    """A reader took longer than it may."""


def faults_of(trace: Path, other: Path, turn: int) -> list[str]:
    """What goes wrong with ``why`` and one of the other readers, by turns."""
    found = _command(["why", str(trace)])
    readers = [*_COMMANDS, _shell, _web]
    reader = readers[turn % len(readers)]
    if callable(reader):
        return found + reader(trace)
    output = str(trace.with_suffix(f".out{turn}"))
    words = [word.format(trace=trace, other=other, output=output) for word in reader]
    found += _command(words)
    for left in trace.parent.glob(f"{Path(output).name}*"):
        if left.name.endswith(".part"):
            found.append(f"{words[0]} left {left.name.rpartition('.')[2]} behind")
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    return found


_COMMANDS = (
    ["info", "{trace}"],
    ["info", "--json", "{trace}"],
    ["sql", "{trace}", SQL],
    ["sql", "{trace}", "SELECT * FROM alerts"],
    ["report", "{trace}", "-o", "{output}"],
    ["export", "--format", "tfdbg2", "{trace}", "{output}"],
    ["export", "--format", "tfdbg1", "{trace}", "{output}"],
    ["export", "--format", "parquet", "{trace}", "{output}"],
    ["export", "--format", "npz", "{trace}", "{output}"],
    ["diff", "{trace}", "{other}"],
)


def import_faults(folder: Path) -> list[str]:
    """What goes wrong with ``import`` of what another debugger wrote, and with reading what came of it."""
    output = folder.with_suffix(".imported.tdbg")
    found = _command(["import", str(folder), "-o", str(output)])
    left = [path.name for path in folder.parent.glob("*.part")]
    found += [f"import left {name} behind" for name in left]
    if output.exists():
        found += _command(["why", str(output)]) + _command(["info", str(output)])
        shutil.rmtree(output)
    return found


def _command(words: list[str]) -> list[str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        with _in_time(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(words)
    except Late:
        return [f"{words[0]} took too long: {_innermost(sys.exc_info()[2])}"]
    except BaseException as fault:
        return [f"{words[0]} raised {type(fault).__name__}"]
    found = []
    if "Traceback" in err.getvalue() or "bug in tdbg" in err.getvalue() + out.getvalue():
        places = PLACE.findall(err.getvalue())
        said = (err.getvalue() if places else out.getvalue() + err.getvalue()).strip().splitlines()
        last = said[-2 if places else -1][:200]
        found.append(f"{words[0]}: {'{}:{}'.format(*places[-1]) if places else '?'}: {last}")
    elif status not in (0, 1, 2):
        found.append(f"{words[0]} ended with {status}")
    if HOSTILE.search(out.getvalue() + err.getvalue()):
        found.append(f"{words[0]} printed control characters")
    return found


def _shell(trace: Path) -> list[str]:
    from tdbg.query.scene.trace_scene import TraceScene
    from tdbg.query.trace.trace import Trace
    from tdbg.shell.engine import Engine
    from tdbg.shell.layout import Layout
    from tdbg.shell.result_data import as_data
    from tdbg.shell.settings import Settings
    from tdbg.strict_json import to_json

    found = []
    try:
        with _in_time():
            try:
                engine = Engine(TraceScene(Trace.open(trace)), Settings())
            except TdbgError:
                return []
            for n, line in enumerate(TYPED):
                node = "Log" if n % 2 else _a_node(engine)
                result = engine.execute(line.format(node=node))
                lines = list(Layout(result, 100).plain())
                to_json(as_data(result))
                if any("bug in tdbg" in one for one in lines):
                    found.append(f"shell {line}: {_place_in(lines)}")
                if any(HOSTILE.search(one) for one in lines):
                    found.append(f"shell {line} shows control characters")
    except Late:
        found.append(f"shell took too long: {_innermost(sys.exc_info()[2])}")
    except Exception as fault:
        found.append(f"shell raised {type(fault).__name__}: {_innermost(fault.__traceback__)}")
    return found


def _a_node(engine: Any) -> str:
    nodes = engine.scene.node_names() if hasattr(engine.scene, "node_names") else []
    return nodes[0] if nodes else "Log"


def _place_in(lines: list[str]) -> str:
    return next(one for one in lines if "bug in tdbg" in one)[:160]


def _web(trace: Path) -> list[str]:
    from werkzeug.test import Client

    from tdbg.web.api import Api
    from tdbg.web.traces import Traces

    found = []
    err = io.StringIO()
    try:
        with _in_time(), contextlib.redirect_stderr(err):
            api = Api(Traces([trace]))
            client = Client(api)
            for route in api.routes:
                if route.method != "GET" or "live" in route.path or "{" in route.path.replace("{trace}", ""):
                    continue
                words = {one.name: "0" for one in route.parameters if one.name in ("op", "seq", "tensor", "execution")}
                answer = client.get(route.path.replace("{trace}", trace.stem), query_string=words)
                if answer.status_code == 500:
                    found.append(f"web {route.path}: {answer.get_data(as_text=True)[:160]}")
                answer.close()
    except Late:
        found.append(f"web took too long: {_innermost(sys.exc_info()[2])}")
    except Exception as fault:
        found.append(f"web raised {type(fault).__name__}: {_innermost(fault.__traceback__)}")
    return found


def _innermost(stack: Any) -> str:
    places = [place for place in traceback.extract_tb(stack) if "/tdbg/" in place.filename]
    return f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else "?"


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def most_megabytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_imports(folders: list[Path], seeds: range, place: Path) -> Iterator[tuple[str, str]]:
    """The same for folders of other debuggers."""
    for seed in seeds:
        target = place / f"i{seed}"
        said = mutant(folders[seed % len(folders)], target, seed)
        for fault in import_faults(target):
            yield said, fault
        shutil.rmtree(target)


def run(traces: list[Path], seeds: range, folder: Path, bombs: int = 0) -> Iterator[tuple[str, str]]:
    """(mutant, what a reader did wrong with it), as they come."""
    for turn, seed in enumerate(seeds):
        source = traces[seed % len(traces)]
        target = folder / f"m{seed}.tdbg"
        make = bombed if turn < bombs else mutant
        said = make(source, target, seed)
        os.environ["XDG_CACHE_HOME"] = str(folder)
        before = most_megabytes()
        for fault in faults_of(target, source, turn // (4 if turn < bombs else 1)):
            yield said, fault
        if most_megabytes() > before + MOST_MEGABYTES:
            yield said, f"{most_megabytes() - before} MB more"
        shutil.rmtree(target, ignore_errors=True)
        with contextlib.suppress(OSError):
            target.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bombs", type=int, default=0)
    parser.add_argument("--imports", action="store_true", help="these are folders of other debuggers")
    parser.add_argument("--minutes", type=float, default=600)
    args = parser.parse_args()
    began, seen = time.monotonic(), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        done = 0
        while done < args.count and time.monotonic() - began < 60 * args.minutes:
            part = range(args.seed + done, args.seed + min(done + 100, args.count))
            made = run_imports(args.traces, part, Path(place)) if args.imports else None
            for said, fault in made or run(args.traces, part, Path(place), args.bombs if not done else 0):
                seen[fault] += 1
                if seen[fault] == 1:
                    print(f"{said}\n    {fault}", flush=True)
            done += len(part)
            seconds = time.monotonic() - began
            state = f"{done:,} mutants, {sum(seen.values()):,} faults of {len(seen)} kinds"
            print(f"{state}, {most_megabytes()} MB, {seconds:.0f} s", file=sys.stderr, flush=True)
    for fault, count in seen.most_common():
        print(f"{count:6} {fault}")
