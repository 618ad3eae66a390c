"""``list_profile`` tells how long each op of a profiled run took."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tdbg.errors import TdbgError
from tdbg.model import ProfiledNode
from tdbg.query.listing.profile import (
    SORT_KEYS,
    UNITS,
    ProfileFilter,
    TimeRange,
    format_time,
    list_profile,
    parse_time_range,
    place_of,
)
from tdbg.shell import command
from tdbg.shell.neighbour_tree import node_link
from tdbg.shell.result import Block, Cell, Column, Result, Span, Table, text

_DECIMALS = {"us": 1, "ms": 3, "s": 6}


class Command(command.Command):
    """Lists the ops of a run and the time each took, device by device.

    Op time is the op's own; exec time includes the executor's work around it. Write a time range as >100us, <=2s or
    [1ms,2s]; a number without a unit is in us.
    """

    name = "list_profile"
    aliases = ("lp",)
    examples = (
        ("lp", "all ops, in the order they started"),
        ("lp -s op_time -r", "the slowest first"),
        ("lp -e '>100us' -t MatMul", "slow matrix products"),
        ("lp -f .*mnist.* --min_lineno 40 --max_lineno 45", "ops created on some lines"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add("-d", "--device_name_filter", default="", metavar="REGEX", help="only ops on devices that match")
        add("-n", "--node_name_filter", default="", metavar="REGEX", help="only nodes whose name matches")
        add("-t", "--op_type_filter", default="", metavar="REGEX", help="only ops whose type matches")
        add("-f", "--file_path_filter", default="", metavar="REGEX", help="only ops created in files that match")
        add("--min_lineno", type=int, default=-1, metavar="LINE", help="from this line of the file on")
        add("--max_lineno", type=int, default=-1, metavar="LINE", help="before this line of the file")
        add("-e", "--execution_time", default="", metavar="RANGE", help="only exec times in this range")
        add("-o", "--op_time", default="", metavar="RANGE", help="only op times in this range")
        add(
            "-s",
            "--sort_by",
            default="start_time",
            choices=list(SORT_KEYS),
            help="what to sort by (default: start_time)",
        )
        add("-r", "--reverse", action="store_true", help="in reverse order")
        add("--time_unit", choices=list(UNITS), default="us", help="the unit of the times shown (default: us)")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        nodes = shell.scene.profile()
        if not nodes:
            raise TdbgError("there is no profile here; to make one, type run -p at a Session's prompt")
        chosen = ProfileFilter(
            args.node_name_filter,
            args.op_type_filter,
            args.device_name_filter,
            args.file_path_filter,
            args.min_lineno,
            args.max_lineno,
            _range(args.op_time),
            _range(args.execution_time),
        )
        passing = list_profile(nodes, chosen, args.sort_by, args.reverse)
        if not passing:
            return Result([text(f"none of the {len(nodes)} profiled nodes passes these filters", data=[])])
        began = min(node.start for node in nodes)
        devices = sorted({node.device for node in passing})
        blocks: list[Block] = []
        for number, device in enumerate(devices, 1):
            group = [node for node in passing if node.device == device]
            label = f"Device {number} of {len(devices)}: {device}"
            blocks.append(text(*([""] if number > 1 else []), Span(label, "title")))
            blocks.append(Table(_columns(args), [_row(node, began, args.time_unit) for node in group]))
            blocks.append(_total(group, args.time_unit))
        return Result(blocks)


def _range(given: str) -> TimeRange:
    return parse_time_range(given) if given else TimeRange()


def _columns(args: Namespace) -> list[Column]:
    unit = args.time_unit

    def again(key: str) -> str:
        return f"lp -s {key} --time_unit {unit}" + (" -r" if key == args.sort_by and not args.reverse else "")

    return [
        Column("Node", "node", sort=again("node"), is_whole=True),
        Column("Op Type", "op_type", sort=again("op_type")),
        Column(f"Start Time ({unit})", "start", right=True, sort=again("start_time")),
        Column(f"Op Time ({unit})", "op_time", right=True, sort=again("op_time")),
        Column(f"Exec Time ({unit})", "exec_time", right=True, sort=again("exec_time")),
        Column("Filename:Lineno(function)", "place", sort=again("line"), is_whole=True),
        Column("", "device", is_shown=False),
        Column("", "op_time_ns", is_shown=False),
        Column("", "exec_time_ns", is_shown=False),
    ]


def _row(node: ProfiledNode, began: int, unit: str) -> list[Cell]:
    frame = node.frame
    link = f"ps --init_line {frame.line} {command.quoted(frame.file)}" if frame else ""
    return [
        Span(node.node, "name", node_link(node.node)),
        Span(node.type, "op"),
        _aligned(node.start - began, unit),
        _aligned(node.op_time, unit) + unit,
        _aligned(node.exec_time, unit) + unit,
        Span(place_of(node), "name" if link else "", link),
        node.device,
        node.op_time,
        node.exec_time,
    ]


def _aligned(ns: int, unit: str) -> str:
    """Writes a time with as many decimals as all others in this unit."""
    return f"{ns / UNITS[unit]:.{_DECIMALS[unit]}f}"


def _total(nodes: Sequence[ProfiledNode], unit: str) -> Block:
    op_time, exec_time = sum(node.op_time for node in nodes), sum(node.exec_time for node in nodes)
    said = f"{len(nodes)} node(s): {format_time(op_time, unit)} in ops, {format_time(exec_time, unit)} with execution"
    return text(Span(said, "dim"))
