"""``tdbg info`` tells on one screen what is in a trace, and what is not."""

from __future__ import annotations

import shlex
import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from tdbg.commands import BaseCommand
from tdbg.commands.printing import print_labelled, size
from tdbg.commands.trace_argument import add_trace_argument, open_trace
from tdbg.strict_json import to_json

if TYPE_CHECKING:
    from tdbg.query.trace.trace import Trace
    from tdbg.store.process import ProcessInfo

_COUNTED = ("tensors", "executions", "steps", "graphs", "ops", "functions", "frames", "sources", "values")
_MOST_PROCESSES = 8
_MOST_SENTENCES = 6


class Command(BaseCommand):
    """Show what a trace contains: program, processes, how much was recorded, what was left out."""

    def prepare_parser(self, parser: ArgumentParser) -> None:
        add_trace_argument(parser)
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def run(self, args: Namespace) -> int:
        facts = collect(open_trace(args.trace))
        if args.json:
            print(to_json(facts, indent=1))
        else:
            print_labelled(_lines(facts))
        return 0


def collect(trace: Trace) -> dict[str, Any]:
    """Collects what is known of a trace: counts, footers, rollups, what the processes said; rows only where an alert
    is."""
    from tdbg.query.over_time.alerts import count_alerts
    from tdbg.query.trace.evidence import count_tensors
    from tdbg.query.trace.overview import notes

    problems = trace.problems
    counts = {table: trace.row_count(table) for table in _COUNTED}
    steps = trace.rollup("steps")
    numbers = steps["step"].to_numpy()
    stored = _stored_bytes(trace)
    rows = counts["tensors"]
    counts["tensors"] = count_tensors(trace)
    return {
        "trace": str(trace.path),
        "bytes": trace.size_bytes(),
        "processes": [_process(process) for process in trace.processes],
        "rows": counts,
        "first_step": int(numbers.min()) if len(numbers) else None,
        "last_step": int(numbers.max()) if len(numbers) else None,
        "bad_tensors": int(steps["bad"].to_numpy().sum()),
        "alerts": count_alerts(trace),
        "tensor_bytes": stored["tensors"],
        "bytes_per_tensor": round(stored["tensors"] / rows, 1) if rows else None,
        "value_bytes": stored["values"],
        "notes": notes(trace),
        "problems": problems,
    }


def _process(process: ProcessInfo) -> dict[str, Any]:
    info, end = process.info, process.end or {}
    started, ended = info.get("started"), end.get("ended")
    seconds = (ended - started) / 1e9 if isinstance(started, int) and isinstance(ended, int) else None
    said = {name: info.get(name) for name in ("pid", "host", "rank", "argv", "mode", "ring", "filters", "versions")}
    first, last, every = info.get("steps") or (0, None, 1)
    said["steps"] = {"first": first, "last": last, "every": every}
    counted = {name: end.get(name) for name in ("events", "dropped", "values_dropped", "waits")}
    outcome = {"how": end.get("how"), "status": end.get("status"), "seconds": seconds}
    return {"state": process.state, **outcome, "started": started, **said, **counted, "faults": end.get("faults") or {}}


def _stored_bytes(trace: Trace) -> dict[str, int]:
    """Adds up the bytes on disk of the rows of ``tensors`` and of the full values, without rollups and names."""
    from tdbg.store.format import parse_name

    total = {"tensors": 0, "values": 0}
    for process in trace.processes:
        for file in process.folder.iterdir():
            parsed = parse_name(file.name)
            table = "values" if file.suffix == ".blob" else parsed[0] if parsed else None
            if table == "tensors" or file.suffix == ".blob":
                try:
                    total[table or ""] += file.lstat().st_size
                except FileNotFoundError:  # sealed meanwhile
                    continue
    return total


# ---- as text


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    first = facts["processes"][0]
    lines = [
        ("trace", f"{facts['trace']}  ({size(facts['bytes'])})"),
        ("program", shlex.join(map(str, first["argv"] or ["unknown"]))),
        ("versions", ", ".join(f"{name} {text}" for name, text in (first["versions"] or {}).items()) or "unknown"),
        ("recorded", _recorded(first)),
    ]
    shown = facts["processes"][:_MOST_PROCESSES]
    lines += [("process" if n == 0 else "", _process_line(process)) for n, process in enumerate(shown)]
    if len(facts["processes"]) > len(shown):
        lines.append(("", f"… {len(facts['processes']) - len(shown):,} more processes"))
    rows = facts["rows"]
    lines += [
        ("steps", _steps(facts)),
        ("tensors", _tensors(facts)),
        ("alerts", _alerts(facts)),
        ("values", f"{rows['values']:,} kept whole ({size(facts['value_bytes'])})"),
        ("executions", f"{rows['executions']:,}"),
        ("graphs", f"{rows['graphs']:,} ({rows['functions']:,} callable); {rows['ops']:,} ops"),
        ("sources", f"{rows['sources']:,}; {rows['frames']:,} lines in stacks"),
    ]
    return lines + _sentences("left out", _left_out(facts)) + _sentences("problems", facts["problems"])


def _recorded(process: dict[str, Any]) -> str:
    parts = [f"mode {process['mode'] or 'unknown'}"]
    steps = process["steps"]
    if steps["first"] or steps["last"] is not None:
        parts.append(f"steps {steps['first']}:{'' if steps['last'] is None else steps['last']}")
    if steps["every"] != 1:
        parts.append(f"every {steps['every']} steps")
    if process["ring"]:
        parts.append(f"ring of the last {process['ring']:,} events")
    parts += [f"--{name} {shlex.quote(pattern)}" for name, pattern in (process["filters"] or {}).items() if pattern]
    return ", ".join(parts)


def _process_line(process: dict[str, Any]) -> str:
    state = process["state"]
    if process["how"]:
        state += {"finished": "", "exception": " by an exception", "interrupted": " by Ctrl-C"}.get(process["how"], "")
        state += f", status {process['status']}"
    took = f", {process['seconds']:,.1f} s" if process["seconds"] is not None else ""
    began = process["started"]
    when = time.strftime(", began %Y-%m-%d %H:%M:%S", time.localtime(began / 1e9)) if isinstance(began, int) else ""
    return f"{process['pid']} on {process['host']}: {state}{took}{when}"


def _steps(facts: dict[str, Any]) -> str:
    if facts["first_step"] is None:
        return "none"
    return f"{facts['first_step']:,} to {facts['last_step']:,}"


def _tensors(facts: dict[str, Any]) -> str:
    rows = facts["rows"]["tensors"]
    if not rows:
        return "none"
    bad = f"{facts['bad_tensors']:,} hold NaN or infinity" if facts["bad_tensors"] else "none holds NaN or infinity"
    return f"{rows:,}, {bad}; {facts['bytes_per_tensor']} bytes each on disk"


def _alerts(facts: dict[str, Any]) -> str:
    said = {
        "bad_values": "outputs with bad values",
        "retrace": "functions traced again",
        "shape_change": "changed shapes",
    }
    return ", ".join(f"{said[kind]}: {count:,}" for kind, count in facts["alerts"].items() if count) or "none"


def _left_out(facts: dict[str, Any]) -> list[str]:
    noted = {note["kind"] for note in facts["notes"]}
    found = [note["text"] if note["count"] == 1 else f"{note['count']:,} {note['text']}" for note in facts["notes"]]
    for process in facts["processes"]:
        if process["dropped"] and "dropped" not in noted:
            found.append(f"{process['dropped']:,} events were dropped by process {process['pid']}")
        if process["values_dropped"] and "values_dropped" not in noted:
            found.append(f"{process['values_dropped']:,} full values were not kept by process {process['pid']}")
        found += [f"{count:,} internal errors of tdbg while {doing}" for doing, count in process["faults"].items()]
    return found


def _sentences(label: str, sentences: list[str]) -> list[tuple[str, str]]:
    if not sentences:
        return [(label, "nothing" if label == "left out" else "none")]
    shown = [(label if n == 0 else "", text) for n, text in enumerate(sentences[:_MOST_SENTENCES])]
    more = len(sentences) - len(shown)
    return [*shown, ("", f"… {more} more (--json shows all)")] if more > 0 else shown
