"""``print_source`` shows a Python file with what each of its lines made, or what each cost."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from tdbg.errors import TdbgError
from tdbg.query.listing.profile import UNITS, ProfileFilter, line_totals, list_profile
from tdbg.scene import Selection, SourceLine
from tdbg.shell import command
from tdbg.shell.neighbour_tree import node_link
from tdbg.shell.result import Cell, Column, Line, Result, Span, Table, Text, text

_OF_PROFILE = ("--cost_type", "--time_unit", "-d", "--device_name_filter", "-n", "--node_name_filter", "--init_line")
_COSTS = {"exec_time": "Exec time", "op_time": "Op time"}
_BAR = 20


class Command(command.Command):
    """Prints a Python file with the nodes that each line created.

    After run -p, or in a trace with a profile, it can show how long each line took.
    """

    name = "print_source"
    aliases = ("ps",)
    examples = (
        ("ps debug_mnist.py", "the file, with the nodes of each line"),
        ("ps -t -b 42 debug_mnist.py", "with tensors instead of nodes, from line 42 on"),
        ("ps -m 2 debug_mnist.py", "at most two of them per line"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add("source_file_path", metavar="SOURCE", help="the file, or the end of its path")
        add("-t", "--tensors", action="store_true", help="show tensors instead of nodes")
        text = "show at most N per line (default: 10)"
        add("-m", "--max_elements_per_line", type=int, default=10, metavar="N", help=text)
        add("-b", "--line_begin", type=int, default=1, metavar="LINE", help="start at this line")

    def profile_parser(self) -> command.Parser:
        parser = command.Parser(prog=self.name, add_help=False)
        add = parser.add_argument
        add("source_file_path", metavar="SOURCE", help="the file, or the end of its path")
        add("--cost_type", choices=list(_COSTS), default="exec_time", help="which time to show (default: exec_time)")
        add("--time_unit", choices=list(UNITS), default="us", help="the unit of time (default: us)")
        add("-d", "--device_name_filter", default="", metavar="REGEX", help="only nodes on devices that match")
        add("-n", "--node_name_filter", default="", metavar="REGEX", help="only nodes whose name matches")
        add("-t", "--op_type_filter", default="", metavar="REGEX", help="only ops whose type matches")
        add("--init_line", type=int, default=0, metavar="LINE", help="start at this line")
        return parser

    def parsers(self) -> dict[str, command.Parser]:
        return {"": self.parser(), "with a profile, to show times": self.profile_parser()}

    def parse(self, words: Sequence[str]) -> Namespace:
        """Leaves the words as they are: -t means another thing where there is a profile, which only ``run`` can
        know."""
        return Namespace(words=list(words))

    def run(self, shell: command.Context, args: Namespace) -> Result:
        if _asks_for_times(shell, args.words):
            return _times(shell, self.profile_parser().parse_args(args.words))
        given = self.parser().parse_args(args.words)
        if given.max_elements_per_line < 1:
            raise TdbgError("-m (--max_elements_per_line) must be 1 or more")
        lines = shell.scene.source(given.source_file_path)
        _check_line("-b (--line_begin)", given.line_begin, lines)
        shown = [*_without_text(lines), *_annotated(lines, given)]
        data = [
            {"line": line.number, "text": line.text, "nodes": list(line.nodes), "tensors": list(line.tensors)}
            for line in lines[given.line_begin - 1 :]
        ]
        return Result([Text(shown, data)], menu=[Span("list_source", link="ls")])


def _without_text(lines: Sequence[SourceLine]) -> Iterator[Line]:
    if lines and not any(line.text for line in lines):
        yield (Span("The text of this file was not recorded; these are the lines that created nodes.", "dim"),)


def _asks_for_times(shell: command.Context, words: Sequence[str]) -> bool:
    if any(word.partition("=")[0] in _OF_PROFILE for word in words):
        return True
    has_own = any(word in ("-b", "--line_begin", "-m", "--max_elements_per_line", "--tensors") for word in words)
    return not has_own and not len(shell.scene.tensors(Selection())) and bool(shell.scene.profile())


def _check_line(flag: str, number: int, lines: Sequence[SourceLine]) -> None:
    if not 1 <= number <= max(len(lines), 1):
        raise TdbgError(f"{flag} {number}: the file has lines 1 to {len(lines)}")


def _annotated(lines: Sequence[SourceLine], args: Namespace) -> Iterator[Line]:
    path, first = command.quoted(args.source_file_path), args.line_begin
    flags = " -t" if args.tensors else ""
    if first > 1:
        yield (Span(f"(... Omitted {first - 1} source lines ...) "), Span("+0", "name", f"ps -b 1{flags} {path}"))
    digits = len(str(len(lines)))
    for line in lines[first - 1 :]:
        made = line.tensors if args.tensors else line.nodes
        link = f"ps -b {line.number}{flags} {path}" if made else ""
        number = Span(f"L{line.number}".ljust(digits + 1), "name" if made else "dim", link)
        mark = Span("! ", "error") if line.is_bad else Span("  ")
        yield (mark, number, Span("  "), Span(line.text, "user" if made else "code"))
        yield from _made(made, args, line.number, digits)


def _made(names: Sequence[str], args: Namespace, line: int, digits: int) -> Iterator[Line]:
    indent, most = " " * (digits + 9), args.max_elements_per_line
    for name in names[:most]:
        link = f"pt {command.quoted(name)}" if args.tensors else node_link(name)
        yield (Span(f"{indent}● "), Span(name, "name", link))
    if len(names) > most:
        word, flags = ("tensor(s)", " -t") if args.tensors else ("op(s)", "")
        more = f"ps -b {line}{flags} -m {len(names)} {command.quoted(args.source_file_path)}"
        said = f"{indent}(... Omitted {len(names) - most} of {len(names)} {word} ...) "
        yield (Span(said), Span(f"+{len(names) - most}", "name", more))


def _times(shell: command.Context, args: Namespace) -> Result:
    nodes = shell.scene.profile()
    if not nodes:
        raise TdbgError("there is no profile here; to make one, type run -p at a Session's prompt")
    lines = shell.scene.source(args.source_file_path)
    if args.init_line:
        _check_line("--init_line", args.init_line, lines)
    chosen = ProfileFilter(args.node_name_filter, args.op_type_filter, args.device_name_filter)
    passing = list_profile(nodes, chosen)
    path = next(
        (node.frame.file for node in passing if node.frame and _is_end(args.source_file_path, node.frame.file)), ""
    )
    totals = line_totals(passing, path)
    most = max((getattr(total, args.cost_type) for total in totals.values()), default=0)

    def row(line: SourceLine) -> list[Cell]:
        total = totals.get(line.number)
        if total is None:
            return [f"L{line.number}", "", "", "", Span(line.text, "code"), 0, 0]
        cost = getattr(total, args.cost_type)
        bar = "|" * max(1, round(_BAR * cost / most)) if most else ""
        time = f"{cost / UNITS[args.time_unit]:.3f}".rstrip("0").rstrip(".") + args.time_unit
        link = f"lp --file_path_filter .*{path.rpartition('/')[2]} --min_lineno {line.number}"
        link += f" --max_lineno {line.number + 1}"
        number = Span(f"L{line.number}", "name", link)
        return [
            number,
            Span(bar, "warning"),
            time,
            f"{total.nodes}({total.runs})",
            Span(line.text, "user"),
            cost,
            total.nodes,
        ]

    columns = (
        Column("Line", "line"),
        Column("", "bar"),
        Column(_COSTS[args.cost_type], "time", right=True),
        Column("#nodes(#calls)", "calls", right=True),
        Column("Source", "text", is_whole=True),
        Column("", f"{args.cost_type}_ns", is_shown=False),
        Column("", "nodes", is_shown=False),
    )
    table = Table(columns, [row(line) for line in lines[max(args.init_line - 1, 0) :]])
    return Result(
        [text((Span(path or args.source_file_path, "title"),)), table], menu=[Span("list_profile", link="lp")]
    )


def _is_end(given: str, path: str) -> bool:
    return path == given or path.endswith("/" + given.lstrip("/"))
