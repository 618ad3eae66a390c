"""``node_info`` shows one op: its neighbours, attributes and tensors, and the lines that created it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tdbg.frameworks import dialect_of
from tdbg.model import Frame
from tdbg.scene import Edge, Node, Seen
from tdbg.shell import command
from tdbg.shell.bad_elements import bad_spans
from tdbg.shell.neighbour_tree import edge_spans
from tdbg.shell.result import Line, Result, Span, Text


class Command(command.Command):
    """Shows what an op is, where its inputs come from and where its outputs go."""

    name = "node_info"
    aliases = ("ni",)
    page_lines = 30
    examples = (
        ("ni cross_entropy/Log", "the op, its inputs and recipients"),
        ("ni -t cross_entropy/Log", "and the lines that created it"),
        ("ni -a -d cross_entropy/Log", "its attributes, and the tensors seen from it"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add(
            "node_name",
            metavar="NODE",
            help="the op's name, such as hidden/MatMul; a tensor, hidden/MatMul:0, stands for its op",
        )
        add("-a", "--attributes", action="store_true", help="list its attributes; with -t, library lines too")
        add("-d", "--dumps", action="store_true", help="list the tensors seen from it")
        add("-t", "--traceback", action="store_true", help="show the Python stack that created it")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        node = shell.scene.node(args.node_name)
        seen = _seen(shell, node) if args.dumps else []
        lines = [
            *_what(node),
            *_around(node),
            *(_attributes(node) if args.attributes else ()),
            *(_dumps(seen) if args.dumps else ()),
            *(_traceback(node, args.attributes) if args.traceback else ()),
        ]
        return Result([Text(lines, _data(node, args, seen))], menu=_menu(node))


def _menu(node: Node) -> list[Span]:
    name = command.quoted(node.name)
    menu = [
        Span("list_tensors", link="lt"),
        Span("print_tensor", link=f"pt {name}:0" if name == node.name else f"pt {command.quoted(node.name + ':0')}"),
        Span("list_inputs", link=f"li -c -r {name}"),
        Span("list_outputs", link=f"lo -c -r {name}"),
        Span("all", link=f"ni -a -d -t {name}"),
    ]
    frame = next((frame for frame, _ in node.stack if frame.is_user), None)
    if frame:
        menu.append(Span("print_source", link=f"ps -b {frame.line} {command.quoted(frame.file)}"))
    return menu


def _what(node: Node) -> Iterator[Line]:
    yield (Span("Node "), Span(node.name, "title"))
    yield ()
    facts = [("Op", node.op_type, "op"), ("Device", node.device, ""), ("Written as", node.written_as, "")]
    if node.part_of:
        facts.append(
            ("Value", f"not visible: {dialect_of(node.framework).title} computes it inside {node.part_of}", "")
        )
    facts += [("Function", node.graph, ""), ("Phase", node.phase, "")]
    for label, value, style in facts:
        if value:
            yield (Span(f"  {label}: "), Span(value, style))


def _around(node: Node) -> Iterator[Line]:
    for word, edges, controls in (
        ("input", node.inputs, node.control_inputs),
        ("recipient", node.recipients, node.control_recipients),
    ):
        yield ()
        yield (Span(f"{len(edges)} {word}(s) + {len(controls)} control {word}(s):"),)
        yield from _edges(f"{word}(s)", edges)
        yield from _edges(f"control {word}(s)", controls)


def _edges(label: str, edges: Sequence[Edge]) -> Iterator[Line]:
    if edges:
        yield (Span(f"  {len(edges)} {label}:"),)
        for edge in edges:
            yield (Span("    "), *edge_spans(edge))


def _attributes(node: Node) -> Iterator[Line]:
    yield ()
    yield (Span("Node attributes:" if node.attributes else "The attributes of this node are unknown."),)
    for name, value in node.attributes.items():
        yield (Span(f"  {name}: "), Span(" ".join(line.strip() for line in value.splitlines()), "code"))


def _seen(shell: command.Context, node: Node) -> list[Seen]:
    tensors = [name for name in shell.scene.tensor_names() if name.rpartition(":")[0] == node.name]
    return [one for tensor in tensors for one in shell.scene.seen(tensor)]


def _dumps(seen: Sequence[Seen]) -> Iterator[Line]:
    yield ()
    yield (Span(f"{len(seen)} dumped tensor(s){':' if seen else ''}"),)
    for one in seen:
        link = f"pt {command.quoted(one.tensor)}" + (f" -n {one.number}" if one.number else "")
        place = Span(f"Slot {one.slot} @ {one.debug_op} @ {one.time:.3f} ms", "name", link)
        bad = bad_spans(one)
        yield (Span("  "), place, *((Span("  "), *bad) if bad else ()))


def _traceback(node: Node, shows_all: bool) -> Iterator[Line]:
    """Writes the stack, the outermost line first. Lines of libraries are counted where there are lines of the user."""
    yield ()
    if not node.stack:
        yield (Span("The lines that created this node are unknown."),)
        return
    yield (Span("Traceback of node construction:"),)
    shows_all = shows_all or not any(frame.is_user for frame, _ in node.stack)
    innermost = next((frame for frame, _ in node.stack if frame.is_user), None)
    for is_folded, group in groupby(
        enumerate(reversed(node.stack)), lambda one: not shows_all and not one[1][0].is_user
    ):
        places = list(group)
        if is_folded:
            link = f"ni -a -t {command.quoted(node.name)}"
            frames = "line" if len(places) == 1 else "lines"
            yield (Span("   "), Span(f"({len(places)} library {frames})", "dim", link))
            continue
        for number, (frame, text) in places:
            mark = "->" if frame is innermost else "  "
            yield from _frame(f"{mark} {number}: ", frame, text)


def _frame(label: str, frame: Frame, text: str) -> Iterator[Line]:
    link = f"ps -b {frame.line} {command.quoted(frame.file)}" if frame.is_user else ""
    yield (Span(label, "user" if frame.is_user else "dim"), Span(frame.file, "file" if frame.is_user else "dim"))
    yield (Span("     Line:     "), Span(str(frame.line), "name" if link else "", link))
    yield (Span(f"     Function: {frame.function}"),)
    if text:
        yield (Span("     Text:     "), Span(f'"{text.strip()}"', "code"))


def _data(node: Node, args: Namespace, seen: Sequence[Seen]) -> dict:
    def edges(some: Sequence[Edge]) -> list[dict]:
        return [{"node": edge.node, "slot": edge.slot, "op_type": edge.op_type} for edge in some]

    found: dict[str, Any] = {
        "node": node.name,
        "op_type": node.op_type,
        "device": node.device,
        "written_as": node.written_as,
        "part_of": node.part_of,
        "function": node.graph,
        "phase": node.phase,
        "inputs": edges(node.inputs),
        "control_inputs": edges(node.control_inputs),
        "recipients": edges(node.recipients),
        "control_recipients": edges(node.control_recipients),
    }
    if args.attributes:
        found["attributes"] = dict(node.attributes)
    if args.dumps:
        found["dumps"] = [{"tensor": one.tensor, "debug_op": one.debug_op, "time_ms": one.time} for one in seen]
    if args.traceback:
        found["traceback"] = [
            {"file": frame.file, "line": frame.line, "function": frame.function, "text": text, "is_user": frame.is_user}
            for frame, text in reversed(node.stack)
        ]
    return found
