"""The programs of this folder and their truth in; how much of it ``tdbg why`` finds, as a table or JSON, out.

    python tests/corpus/score.py                    all of them
    python tests/corpus/score.py --only where_log   one
    python tests/corpus/score.py --json             for a machine
    python tests/corpus/score.py --apply            also runs the programs with the proposed fixes written into them

A program's truth is in truth.json. Places are given as a piece of source text that occurs once in the program. ``also``
lists other names of a cause that would be as true; ``may_alert`` rules that are right to speak up as well. ``trial`` is
false where no fix can be executed: data, learning rates, what grows from step to step.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
TRUTH: dict[str, dict[str, Any]] = json.loads((HERE / "truth.json").read_text())


@dataclass
class Score:
    """What was right about one program; None where there was nothing to find."""

    name: str
    verdict: bool = False
    lines: bool | None = None
    kinds: bool | None = None
    causes: bool | None = None
    tried: bool | None = None  # all fixes that can be executed were, and the others say why not
    alerts: bool | None = None
    benign: bool | None = None
    holds: bool | None = None  # with the fixes written into it, no bad value begins at those lines
    false_alarms: list[str] = field(default_factory=list)
    seconds: float = 0.0
    found: list[str] = field(default_factory=list)  # in words, for whoever reads the table


def line_of(name: str, text: str) -> int:
    """The line of the only place where this text is."""
    source = (PROGRAMS / f"{name}.py").read_text()
    if source.count(text) != 1:
        raise ValueError(
            f"{name}.py has {source.count(text)} times {text!r}; truth.json needs a text that is there once"
        )
    return source[: source.index(text)].count("\n") + 1


def judge(name: str, verdict: dict[str, Any], seconds: float = 0.0, has_rules: bool = False) -> Score:
    truth, score = TRUTH[name], Score(name, seconds=seconds)
    origins, alerts = verdict["origins"], verdict.get("alerts", [])
    score.found = [f"{o['line']} {o['kind']} {o['op_type']} {o['cause']}" for o in origins]
    score.found += [f"{a['line']} {a['rule']}" for a in alerts]
    score.found += [f"{b['line']} {b['reason']}" for b in verdict["benign"]]
    wanted = truth.get("origins", [])
    score.verdict = verdict["verdict"] in (truth["verdict"], "clean" if truth["verdict"] == "unhealthy" else "")
    if wanted:
        at = {line_of(name, one["at"]): one for one in wanted}
        score.lines = sorted(at) == sorted(o["line"] or 0 for o in origins) and all(
            o["file"] == str(PROGRAMS / f"{name}.py") for o in origins
        )
        met = [(at[o["line"]], o) for o in origins if o["line"] in at]
        score.kinds = len(met) == len(wanted) and all(one["kind"] == o["kind"] for one, o in met)
        score.causes = len(met) == len(wanted) and all(o["cause"] in _causes(one) for one, o in met)
        score.tried = len(met) == len(wanted) and all(_is_tried(one, o["fix"] or {}) for one, o in met)
    else:
        score.false_alarms += [f"line {o['line']}: {o['cause']}" for o in origins]
    if "benign" in truth:
        score.benign = set(truth["benign"]) == {one["reason"] for one in verdict["benign"]}
    if has_rules:
        _judge_alerts(score, truth, alerts)
    return score


def _is_tried(one: dict[str, Any], fix: dict[str, Any]) -> bool:
    if one.get("trial", True):
        return bool(fix.get("trial"))
    return bool(fix.get("not_executed")) and fix["trial"] is None


def _causes(one: dict[str, Any]) -> list[str]:
    return [one["cause"], *one.get("also", [])]


def _judge_alerts(score: Score, truth: dict[str, Any], alerts: list[dict[str, Any]]) -> None:
    wanted = truth.get("alerts", [])
    if wanted:
        score.alerts = all(
            any(
                a["rule"] == one["rule"] and (not one["at"] or a["line"] == line_of(score.name, one["at"]))
                for a in alerts
            )
            for one in wanted
        )
    if not truth.get("origins"):
        allowed = {one["rule"] for one in wanted} | set(truth.get("may_alert", []))
        score.false_alarms += [f"line {a['line']}: {a['rule']}" for a in alerts if a["rule"] not in allowed]


# ---- recording


def record(
    names: list[str], folder: Path, jobs: int = 2, programs: Path = PROGRAMS, **options: Any
) -> dict[str, dict[str, Any]]:
    """Records programs in worker processes, several in each, for TensorFlow takes longer to load than they run. Gives
    by name: the verdict, the seconds that it took, and the exception that ended the program, if one did."""
    shares = [share for share in (names[i::jobs] for i in range(jobs)) if share]
    with ThreadPoolExecutor(len(shares) or 1) as pool:
        found = pool.map(lambda share: _work(share, folder, programs, options), shares)
        return {name: one for share in found for name, one in share.items()}


def _work(names: list[str], folder: Path, programs: Path, options: dict[str, Any]) -> dict[str, Any]:
    import tdbg

    environment = os.environ | {
        "PYTHONPATH": str(Path(tdbg.__file__).parents[1]),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TDBG_STRICT": "1",
    }
    command = [
        sys.executable,
        str(HERE / "score.py"),
        "--worker",
        str(folder),
        str(programs),
        json.dumps(options),
        *names,
    ]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=800)
    if ran.returncode:
        raise RuntimeError(f"a worker failed:\n{ran.stderr[-4000:]}")
    return json.loads(ran.stdout)


def worker(folder: Path, programs: Path, options: dict[str, Any], names: list[str]) -> None:
    import tensorflow as tf

    import tdbg
    from tdbg.__main__ import main as tdbg_main

    found = {}
    for name in names:
        tf.keras.backend.clear_session()
        trace, ended = folder / f"{name}.tdbg", None
        began = time.perf_counter()
        tdbg.enable(trace, force=True, **options)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(str(programs / f"{name}.py"), run_name="__main__")
        except Exception as error:
            ended = f"{type(error).__name__}: {str(error)[:300]}"
        finally:
            tdbg.disable()
        recorded = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            tdbg_main(["why", "--json", str(trace)])
        answered = time.perf_counter()
        verdict = json.loads(printed.getvalue())
        found[name] = {
            "verdict": verdict,
            "ended": ended,
            "seconds": answered - recorded,
            "recording_seconds": recorded - began,
        }
    print(json.dumps(found))


# ---- fixes written into the programs


def repaired(name: str, verdict: dict[str, Any]) -> tuple[str, list[range]] | None:
    """A program with the statements that were proposed for it, and which lines those are; None when there are none."""
    source = (PROGRAMS / f"{name}.py").read_text()
    lines, tree = source.split("\n"), ast.parse(source)
    changes = []
    for origin in verdict["origins"]:
        if origin["fix"] and origin["fix"]["code"]:
            statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
            around = [node for node in statements if node.lineno <= origin["line"] <= (node.end_lineno or 0)]
            innermost = min(around, key=lambda node: (node.end_lineno or 0) - node.lineno)
            changes.append((innermost.lineno - 1, innermost.end_lineno, innermost.col_offset, origin["fix"]["code"]))
    changed = []
    for first, last, indent, code in sorted(changes, reverse=True):
        lines[first:last] = textwrap.indent(textwrap.dedent(code), " " * indent).split("\n")
        changed.append(range(first + 1, first + 2 + code.count("\n")))
    return ("\n".join(lines), changed) if changes else None


def apply_fixes(verdicts: dict[str, dict[str, Any]], folder: Path, jobs: int = 2) -> dict[str, bool]:
    """Runs the programs that have such fixes: whether nothing bad begins at the changed lines any more."""
    made = {name: found for name, verdict in verdicts.items() if (found := repaired(name, verdict)) is not None}
    programs = folder / "repaired"
    programs.mkdir()
    for name, (text, _) in made.items():
        (programs / f"{name}.py").write_text(text)
    found = record(sorted(made), programs, jobs, programs)
    return {
        name: one["ended"] is None
        and not any(o["line"] in lines for o in one["verdict"]["origins"] for lines in made[name][1])
        for name, one in found.items()
    }


# ---- the table


def scores(names: list[str], folder: Path, jobs: int = 2, with_fixes: bool = False) -> list[Score]:
    import importlib.util

    has_rules = importlib.util.find_spec("tdbg.query.rules") is not None
    found = record(names, folder, jobs)
    holds = apply_fixes({name: one["verdict"] for name, one in found.items()}, folder, jobs) if with_fixes else {}
    made = []
    for name in names:
        one = found[name]
        if (one["ended"] is not None) != bool(TRUTH[name].get("dies")):
            raise RuntimeError(f"{name} ended with {one['ended']}")
        made.append(judge(name, one["verdict"], one["seconds"], has_rules))
        made[-1].holds = holds.get(name)
    return made


def _mark(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "NO"


def table(made: list[Score]) -> str:
    columns = ("verdict", "lines", "kinds", "causes", "tried", "holds", "alerts", "benign")
    lines = [f"{'program':28}" + "".join(f"{column:>9}" for column in columns) + f"{'false':>7}{'why s':>7}  found"]
    for one in made:
        marks = "".join(f"{_mark(getattr(one, column)):>9}" for column in columns)
        lines.append(
            f"{one.name:28}{marks}{len(one.false_alarms):>7}{one.seconds:>7.2f}  {'; '.join(one.found)}".rstrip()
        )
    total = [
        f"{sum(getattr(one, c) is True for one in made)}/{sum(getattr(one, c) is not None for one in made)}"
        for c in columns
    ]
    lines.append(
        f"{f'{len(made)} programs':28}"
        + "".join(f"{text:>9}" for text in total)
        + f"{sum(len(one.false_alarms) for one in made):>7}{max(one.seconds for one in made):>7.2f}"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="of this program; may be repeated")
    parser.add_argument("--json", action="store_true", help="the scores as JSON")
    parser.add_argument("--jobs", type=int, default=2, help="processes that record at the same time")
    parser.add_argument("--apply", action="store_true", help="also run the programs with the fixes written into them")
    parser.add_argument("--keep", type=Path, help="leave the traces in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = scores(options.only or sorted(TRUTH), options.keep or Path(folder), options.jobs, options.apply)
    print(json.dumps([asdict(one) for one in made], indent=1) if options.json else table(made))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(Path(sys.argv[2]), Path(sys.argv[3]), json.loads(sys.argv[4]), sys.argv[5:])
    else:
        main()
