"""Traces, folders of other debuggers and a seed in; what readers did wrong with hundreds of mutants a second out.

``python tests/mutant_campaign.py TRACE... FOLDER... --count 1000000 --seed 1``: each mutant is made in memory, in
place, and put right again. Every mutant is opened and what its changed file holds is read; some get the verdict and
all tables, a few all commands (see mutated_traces.py). Workers are forked: one that dies, waits or needs too much
memory costs its mutant alone, which is reported with its seed. What readers know of the files that were not changed is
shared, as between the readers of one server.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

from mutated_traces import MOST_MEGABYTES, faults_of, import_faults, most_megabytes
from tdbg.errors import TdbgError
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.verdict import explain
from tdbg.store.damage import damage_in
from tdbg.store.file_facts import FileFacts
from tdbg.store.format import SCHEMAS, parse_name
from tdbg.store.tables import ProcessTables
from trace_mutants import Kind, damage, place, texts

MOST_SECONDS = 60  # for one mutant; then it hangs
_ADDRESS_SPACE = 8 << 30
_A_WORKERS_MUTANTS = 20_000  # Arrow and DuckDB keep some memory; a new process begins anew
_NOW = struct.Struct("<qd")  # the seed of the mutant at hand, and when it was begun


class Patient:
    """A folder that is damaged in place and put right again."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.path = source, folder / source.name
        self.is_trace = source.suffix == ".tdbg"
        self.content: dict[Path, bytes] = {}
        self._copy()
        self.facts: dict[str, FileFacts] = {}
        if self.is_trace:
            self.facts = {tables.process.name: tables.facts for tables in _read_all(Trace.open(self.path))}

    def _copy(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.source, self.path)
        found = sorted(path for path in self.path.rglob("*") if path.is_file())
        self.content = {path: path.read_bytes() for path in found}

    @contextlib.contextmanager
    def damaged(self, seed: int) -> Iterator[tuple[str, Path, Kind]]:
        said, file, how = damage(list(self.content), self.is_trace, seed)
        try:
            yield said, file, how
        finally:
            if how is place:
                self._copy()
            else:
                for path, data in self.content.items():
                    if path.stem.split(".")[0] == file.stem.split(".")[0] or (how is texts and path.suffix == ".json"):
                        path.write_bytes(data)

    def open(self, file: Path, how: Kind) -> Trace:
        """With what is known of all files but the one that was changed."""
        trace = Trace.open(self.path)
        if how is not place:
            trace._processes = [
                ProcessTables(process, _without(self.facts.get(process.name), file)) for process in trace.processes
            ]
        return trace


def _without(known: FileFacts | None, file: Path) -> FileFacts:
    rest = FileFacts()
    if known is None:
        return rest
    stem = file.name.split(".")[0]
    rest.sealed_rows = {path: rows for path, rows in known.sealed_rows.items() if path.stem != stem}
    rest._is_intact = {path: intact for path, intact in known._is_intact.items() if path.stem != stem}
    rest._small = {path: rows for path, rows in known._small.items() if path != file}
    rest._rollups = {} if stem.startswith("tensors") else dict(known._rollups)
    return rest


def _read_all(trace: Trace) -> list[ProcessTables]:
    for table in SCHEMAS:
        trace.table(table)
    for kind in ("ops", "steps"):
        trace.rollup(kind)
    _ = trace.problems
    return trace._processes


def _read_changed(trace: Trace, file: Path) -> None:
    """What the changed file is read for."""
    parsed = parse_name(file.name.replace(".crc32", ".parquet"))
    table = "values" if file.suffix == ".blob" else parsed[0] if parsed else file.name.split("-")[0]
    if table in SCHEMAS:
        rows = trace.table(table)
        assert trace.row_count(table) >= 0
        if table == "tensors":
            for kind in ("ops", "steps"):
                trace.rollup(kind)
            trace.first_bad()
        if table == "values":
            for value in rows["value"].to_pylist()[:3]:
                with contextlib.suppress(TdbgError):
                    trace.value(0, value)
    else:
        _ = trace.problems


def faults_of_one(patient: Patient, seed: int, verdict: bool, commands: bool) -> Iterator[tuple[str, str]]:
    with patient.damaged(seed) as (said, file, how):
        before = most_megabytes()
        if not patient.is_trace:
            for fault in import_faults(patient.path):
                yield said, fault
        else:
            try:
                with contextlib.suppress(TdbgError):
                    trace = patient.open(file, how)
                    _read_changed(trace, file)
                    if verdict:
                        _read_all(trace)
                        explain(trace).as_dict()
            except Exception as fault:
                if damage_in(fault) is None:  # else commands say that a file is damaged
                    yield said, f"{type(fault).__name__}: {fault}"[:200] + f" at {_place(fault)}"
            if commands:
                for one in faults_of(patient.path, patient.source, seed // 7):
                    yield said, one
        if most_megabytes() > before + MOST_MEGABYTES:
            yield said, f"{most_megabytes() - before} MB more"


def _place(fault: Exception) -> str:
    places = [one for one in traceback.extract_tb(fault.__traceback__) if "/tdbg/" in one.filename]
    return f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else "?"


# ---- workers


def work(sources: list[Path], seeds: range, share: argparse.Namespace, now: mmap.mmap, out: int) -> None:
    """In a process of its own: says each fault in a line."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    with tempfile.TemporaryDirectory(dir=share.place) as folder:  # in the campaign's own, which goes with it
        os.environ["XDG_CACHE_HOME"] = folder
        traces = [Patient(one, Path(folder)) for one in sources if one.suffix == ".tdbg"]
        others = [Patient(one, Path(folder)) for one in sources if one.suffix != ".tdbg"]
        for seed in seeds:
            _NOW.pack_into(now, 0, seed, time.monotonic())
            is_import = bool(others) and seed % share.imports == 0
            patients = others if is_import else traces
            patient = patients[seed // share.imports % len(patients) if is_import else seed % len(patients)]
            verdict, commands = seed % share.verdicts == 1, seed % share.commands == 2
            for said, fault in faults_of_one(patient, seed, verdict, commands):
                line = f"{said}\t{fault}".replace("\n", " ")
                os.write(out, line.encode("utf-8", "replace")[:3000] + b"\n")
        _NOW.pack_into(now, 0, seeds.stop, time.monotonic())


def run(
    sources: list[Path], seeds: range, share: argparse.Namespace, seen: Callable[[str], None]
) -> Generator[int, None, None]:
    """Gives the next seed now and then; a worker that is gone is followed by one that goes on behind its mutant."""
    now = mmap.mmap(-1, _NOW.size)
    at = seeds.start
    while at < seeds.stop:
        part = range(at, min(at + _A_WORKERS_MUTANTS, seeds.stop))
        _NOW.pack_into(now, 0, at, time.monotonic())
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(read)
                work(sources, part, share, now, write)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        os.close(write)
        try:
            yield from _watch(pid, read, now, seen)
        except GeneratorExit:  # time is up
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        at = _NOW.unpack_from(now)[0]
        if status or at != part.stop:
            seen(f"seed {at}: ?\ta worker ended with {status}")
            at += 1
    yield at


def _watch(pid: int, read: int, now: mmap.mmap, seen: Callable[[str], None]) -> Iterator[int]:
    rest = b""
    while True:
        if select.select([read], [], [], 5)[0]:
            data = os.read(read, 1 << 16)
            if not data:
                os.close(read)
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                seen(line.decode("utf-8", "replace"))
        seed, began = _NOW.unpack_from(now)
        if time.monotonic() - began > MOST_SECONDS:
            seen(f"seed {seed}: ?\tit hangs")
            os.kill(pid, signal.SIGKILL)
        yield seed


def campaign(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=Path, help="traces (*.tdbg) and folders of other debuggers")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--verdicts", type=int, default=100, help="every how manieth mutant gets all tables and why")
    parser.add_argument("--commands", type=int, default=2000, help="every how manieth gets a command more")
    parser.add_argument("--imports", type=int, default=50, help="every how manieth is one of another debugger's files")
    parser.add_argument("--place", type=Path, default=Path("/dev/shm"), help="where mutants are made")
    args = parser.parse_args(words)
    kinds, began, shown = Counter[str](), time.monotonic(), 0.0

    def seen(line: str) -> None:
        said, _, fault = line.partition("\t")
        kinds[fault] += 1
        if kinds[fault] == 1:
            print(f"{said}\n    {fault}", flush=True)

    at = args.seed
    with tempfile.TemporaryDirectory(dir=args.place) as args.place:
        running = run(args.sources, range(args.seed, args.seed + args.count), args, seen)
        for at in running:
            seconds = time.monotonic() - began
            if seconds > shown + 60:
                shown = seconds
                print(f"{at - args.seed:,} mutants, {sum(kinds.values())} faults, {seconds:.0f} s", flush=True)
            if seconds > args.seconds:
                break
        running.close()
    seconds = time.monotonic() - began
    done = at - args.seed
    print(f"{done:,} mutants in {seconds:.0f} s, {done / seconds:.0f} a second; {sum(kinds.values())} faults")
    for fault, count in kinds.most_common():
        print(f"{count:6} {fault}")
    return bool(kinds)


if __name__ == "__main__":
    raise SystemExit(campaign())
