"""``list_tensors`` lists the tensors that were seen, with time, size, op type, name and what is bad in them."""

from __future__ import annotations

from argparse import Namespace

from tdbg.errors import TdbgError
from tdbg.model import NAMES
from tdbg.scene import Seen, Selection
from tdbg.shell import command
from tdbg.shell.bad_elements import bad_spans
from tdbg.shell.filters import check_filter, check_pattern
from tdbg.shell.result import Cell, Column, Mapped, Result, Span, Table, text

_SORTED = ("timestamp", "dump_size", "op_type", "tensor_name")


class Command(command.Command):
    """Lists the tensors seen in this step or run.

    Patterns are regular expressions that match from the start of a name, as in tfdbg. The last column counts the
    elements that are NaN or infinite. "not looked at" means that the tensor is too large to be read unless you ask, or
    was recorded without its numbers; lt -f has_inf_or_nan and pt read what is there.
    """

    name = "list_tensors"
    aliases = ("lt",)
    page_lines = 3  # in which order later tensors come differs from run to run
    examples = (
        ("lt", "all tensors, in order of time"),
        ("lt -f has_inf_or_nan", "those that hold NaN or an infinity"),
        ("lt -f 'max_abs > 100'", "those that meet a condition"),
        ("lt -n .*hidden.* -t MatMul", "by name and op type"),
        ("lt -s dump_size -r", "the largest first"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add("-f", "--tensor_filter", default="", metavar="FILTER", help="only tensors that pass this filter")
        text = "nodes for the filter to ignore"
        add("-fenn", "--filter_exclude_node_names", default="", metavar="REGEX", help=text)
        add("-n", "--node_name_filter", default="", metavar="REGEX", help="only nodes whose name matches")
        add("-t", "--op_type_filter", default="", metavar="REGEX", help="only ops whose type matches")
        add("-s", "--sort_by", default="timestamp", choices=_SORTED, help="what to sort by (default: timestamp)")
        add("-r", "--reverse", action="store_true", help="in reverse order")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        selection = _selection(shell, args)
        tensors = shell.scene.tensors(selection)
        table = Table(_columns(args), Mapped(tensors, _row), Mapped(tensors, _measured))
        headline = _headline(len(tensors), tensors.total, selection)
        notes = [(Span(note, "warning"),) for note in tensors.notes]
        if not len(tensors):
            return Result([text(headline, *notes, data=[])])
        return Result([text(headline, *notes), table])


def _selection(shell: command.Context, args: Namespace) -> Selection:
    if args.tensor_filter:
        check_filter(args.tensor_filter, shell.scene)
    elif args.filter_exclude_node_names:
        raise TdbgError("-fenn (--filter_exclude_node_names) needs -f (--tensor_filter)")
    patterns = (args.filter_exclude_node_names, args.node_name_filter, args.op_type_filter)
    for pattern in patterns:
        check_pattern(pattern)
    return Selection(args.tensor_filter, *patterns, sort_by=args.sort_by, reverse=args.reverse)


def _headline(count: int, total: int, selection: Selection) -> str:
    said = f"{count:,}{f' of {total:,}' if total != count else ''} dumped tensor(s)"
    if selection.filter:
        said += f' passing filter "{selection.filter}"'
    patterns = [
        f'{what} "{pattern}"'
        for what, pattern in (
            ("excluding nodes", selection.exclude_nodes),
            ("node name", selection.node_pattern),
            ("op type", selection.op_pattern),
        )
        if pattern
    ]
    return said + "".join(f", {pattern}" for pattern in patterns) + (":" if count else "")


def _columns(args: Namespace) -> list[Column]:
    def again(key: str) -> str:
        """Writes the command for the same list sorted by another column; by the same one, the other way round."""
        words = ["lt", "-s", key]
        words += ["-r"] if key == args.sort_by and not args.reverse else []
        for flag, value in (
            ("-f", args.tensor_filter),
            ("-fenn", args.filter_exclude_node_names),
            ("-n", args.node_name_filter),
            ("-t", args.op_type_filter),
        ):
            words += [flag, command.quoted(value)] if value else []
        return " ".join(words)

    return [
        Column("t (ms)", "time_ms", sort=again("timestamp"), form="[{:.3f}]".format),
        Column("Size (B)", "size", right=True, sort=again("dump_size")),
        Column("Op type", "op_type", sort=again("op_type")),
        Column("Tensor name", "tensor", sort=again("tensor_name")),
        Column("", "bad"),
        *(Column("", key, is_shown=False) for key in ("step", "dtype", "shape", *NAMES)),
    ]


def _row(seen: Seen) -> list[Cell]:
    """Gives a row with a link to this very tensor; which of all it is takes counting in a large trace."""
    number = f" -n {seen.number}" if seen.number else ""
    return _measured(seen, f"pt {command.quoted(seen.tensor)}{number}")


def _measured(seen: Seen, link: str = "") -> list[Cell]:
    numbers = seen.numbers
    known = numbers.numbers().values() if numbers else [None] * len(NAMES)
    shape = None if seen.shape is None else "×".join(map(str, seen.shape))
    name = Span(seen.tensor, "name", link)
    shown = (round(seen.time, 3), seen.size, Span(seen.op_type, "op"), name, bad_spans(seen))
    return [*shown, seen.step, seen.dtype, shape, *known]
