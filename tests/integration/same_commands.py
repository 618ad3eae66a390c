"""A trace in; every command of the prompt that only looks is typed on it, and what each gave comes out."""

from __future__ import annotations

import json
from pathlib import Path

from tdbg.commands.trace_argument import open_trace
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout
from tdbg.shell.result_data import as_data
from tdbg.strict_json import to_json

COMMANDS = (
    "run_info", "steps", "lt", "lt -s dump_size -r", "lt -n .*", "lt -t {type}", "lt -f has_inf_or_nan",
    "lt -f 'elements > 0'", "pt {tensor}", "pt -s {tensor}", "pt {tensor}[...]", "pt -a -y {tensor}", "/.", "/",
    "eval 'np.sum(`{tensor}`)'", "ni {node}", "ni -a -d -t {node}", "li {node}", "li -r -c -t {node}",
    "lo -r -d 3 {node}", "ls", "ls -n .*", "ps {file}", "ps -t -m 3 {file}", "why", "where {tensor}", "alerts",
    "history {tensor}", "health", "grad", "sql 'SELECT count(*) FROM tensors'", "prev", "next", "config show",
    "help lt", "version",
)  # fmt: skip


def type_all(path: Path | str, tensor: str) -> dict[str, str]:
    """The text of each command's screen. None may fail, and each is data too."""
    engine = Engine(TraceScene(open_trace(str(path), keep_values=True)))
    node = tensor.rpartition(":")[0]
    kind = engine.scene.node(node).op_type
    sources = [source for source in engine.scene.sources() if source.is_user] or engine.scene.sources()
    shown = {}
    for command in COMMANDS:
        file = sources[0].path if sources else ""
        if "{file}" in command and not file:
            continue  # dumps of TensorFlow itself know no lines
        typed = command.format(tensor=tensor, node=node, type=kind, file=file)
        result = engine.execute(typed)
        layout = Layout(result, 100)
        text = "\n".join("".join(span.text for span in line) for line in layout.lines(0, min(len(layout), 400)))
        assert not result.is_error, f"{typed}: {text}"
        assert text.strip(), typed
        json.loads(to_json(as_data(result)))
        shown[command] = text
    return shown
