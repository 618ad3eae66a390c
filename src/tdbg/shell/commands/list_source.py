"""``list_source`` lists the Python files whose lines made ops."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence

from tdbg.errors import TdbgError
from tdbg.scene import Selection, SourceFile
from tdbg.shell import command
from tdbg.shell.filters import check_pattern
from tdbg.shell.result import Block, Cell, Column, Result, Span, Table, text

_COLUMNS = (
    Column("Source file path", "path"),
    Column("#(nodes)", "nodes", right=True),
    Column("#(tensors)", "tensors", right=True),
    Column("#(tensor dumps)", "dumps", right=True),
    Column("", "is_user", is_shown=False),
)


class Command(command.Command):
    """Lists the Python files that created ops.

    Library files are only counted, unless -p asks for them.
    """

    name = "list_source"
    aliases = ("ls",)
    examples = (
        ("ls", "all files, with the number of nodes and tensors each created"),
        ("ls -p .*mnist.*", "those whose path matches; -p .* lists library files too"),
        ("ls -n .*Log", "those that created nodes whose name matches"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add("-p", "--path_filter", default="", metavar="REGEX", help="only files whose path matches")
        add("-n", "--node_name_filter", default="", metavar="REGEX", help="count only nodes whose name matches")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        for pattern in (args.path_filter, args.node_name_filter):
            check_pattern(pattern)
        files = [file for file in shell.scene.sources() if re.match(args.path_filter, file.path)]
        if args.node_name_filter:
            files = list(_with_nodes(shell, files, args.node_name_filter))
        headline = "List of source files that created nodes in this run"
        named = (("file path", args.path_filter), ("node name", args.node_name_filter))
        headline += "".join(f', {what} "{pattern}"' for what, pattern in named if pattern)
        if not files:
            return Result([text(headline, "", "[No source file information.]", data=[])])
        blocks: list[Block] = [text(headline, "")]
        yours = [file for file in files if file.is_user]
        others = [file for file in files if not file.is_user]
        if yours:
            blocks.append(Table(_COLUMNS, [_row(file) for file in yours]))
        if yours and others and not args.path_filter:
            said = f"and {len(others)} library file(s), which -p lists too"
            blocks.append(text("", (Span(said, "dim", "ls -p .*"),)))
        elif others:
            blocks.append(text("", Span("Library file(s):", "title")))
            blocks.append(Table(_COLUMNS, [_row(file) for file in others]))
        return Result(blocks)


def _row(file: SourceFile) -> list[Cell]:
    link = f"ps -b {file.first_line} {command.quoted(file.path)}"
    path = Span(file.path, "name" if file.is_user else "", link if file.is_user else "")
    return [path, file.nodes, file.tensors, file.dumps, file.is_user]


def _with_nodes(shell: command.Context, files: Sequence[SourceFile], pattern: str) -> Iterator[SourceFile]:
    """Counts only nodes of such names; files without any are left out."""
    tensors = shell.scene.tensors(Selection(node_pattern=pattern))
    dumps = Counter(seen.tensor for seen in tensors)
    for file in files:
        try:
            lines = shell.scene.source(file.path)
        except TdbgError:
            continue
        nodes = {node for line in lines for node in line.nodes if re.match(pattern, node)}
        made = {tensor for line in lines for tensor in line.tensors if tensor.rpartition(":")[0] in nodes}
        first = min((line.number for line in lines if nodes & set(line.nodes)), default=1)
        if nodes:
            count = sum(dumps[tensor] for tensor in made)
            yield SourceFile(file.path, file.is_user, len(nodes), len(made), count, first)
