"""``eval`` computes an expression over tensors."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.shell import command, numpy_words
from tdbg.shell.command import Completion
from tdbg.shell.result import Array, Block, Line, Result, Span, Text, text
from tdbg.shell.safe_eval import evaluate
from tdbg.shell.tensor_blocks import add_output_flags, header, question, write
from tdbg.shell.tensor_name import TensorName, take
from tdbg.shell.words import words_of

_TENSOR = re.compile(r"`([^`]*)`")
_NUMBERED = re.compile(r"(.*?:\d+(?::\w+)?)(?:#(\d+)(.*)|\[\s*(\d+)\s*\])")  # x:0#2, x:0[2]: dump 2
_FLAG = re.compile(r"(?:-a|--all|-y|--yes|--force|(?:-w|--write_path)[\s=]\s*(?:'[^']*'|\"[^\"]*\"|\S+))(?=\s|$)")


class Command(command.Command):
    """Evaluates a numpy expression over tensors: write numpy as np, and tensors in backticks.

    A tensor is `[DEVICE:]NODE:SLOT[:DEBUG_OP]`. One number in brackets, `NODE:SLOT[N]`, chooses one of several
    dumps, as in tfdbg (or write `NODE:SLOT#N`). A slice, `NODE:SLOT[0, :]`, selects elements, and so does an index
    after the backticks: `NODE:SLOT`[N]. You can use numbers, operators, comparisons, slices, functions of np and
    np.linalg, and attributes and methods of arrays such as .T, .shape and .sum(), but nothing that reads or writes
    files, imports modules, or makes arrays that do not fit in memory.
    """

    name = "eval"
    aliases = ("ev",)
    page_lines = 7
    is_raw = True
    examples = (
        ('eval "np.matmul((`Softmax:0` / `Softmax:0`).T, `Softmax:0`)"', "a product of matrices"),
        ("eval -a 'np.sum(`Softmax:0`, axis=1)'", "in full"),
        ("eval `Softmax:0[0, :]` - np.max(`Softmax:0`)", "without quotes; a slice"),
        ("eval -a 'np.sum(`Softmax:0`, axis=1)' -w softmax_sum.npy --force", "to a file"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument(
            "expression", metavar="EXPRESSION", help="an expression over tensors in backticks, with numpy as np"
        )
        add_output_flags(parser)

    def parse(self, words: Sequence[str]) -> Namespace:
        """Finds the flags, which may stand before and behind the expression; that may be in quotes."""
        rest = " ".join(words).strip()
        flags: list[str] = []
        while match := _FLAG.match(rest):
            flags.append(match[0])
            rest = rest[match.end() :].lstrip()
        while match := _last_flag(rest):
            flags.append(match[0])
            rest = rest[: match.start()].rstrip()
        if len(rest) > 1 and rest[0] in "'\"" and rest.find(rest[0], 1) == len(rest) - 1:
            rest = rest[1:-1]
        if not rest:
            raise TdbgError("eval what? write an expression such as np.max(`hidden/Relu:0`)")
        typed = [word.text for flag in flags for word in words_of(flag.replace("=", " ", 1))]
        args = self.parser().parse_args([*typed, "--", rest])
        args.again = " ".join(["eval", *flags, f"'{rest}'" if "'" not in rest else f'"{rest}"'])
        return args

    def complete(self, shell: command.Context, words: Sequence[str], word: str) -> Sequence[Completion]:
        begin, tick, typed = word.rpartition("`")
        if tick and begin.count("`") % 2 == 0:
            names = [name for name in shell.scene.tensor_names() if name.startswith(typed)]
            return [Completion(f"{begin}`{name}`") for name in names]
        match = re.search(r"np\.([\w.]*)$", word)
        if match is None:
            return ()
        known = [name for name in numpy_words.names() if name.startswith(match[1])]
        return [Completion(word[: match.start(1)] + name) for name in known]

    def run(self, shell: command.Context, args: Namespace) -> Result:
        arrays: dict[str, Any] = {}
        notes: list[Line] = []
        expression = _TENSOR.sub(lambda match: _stand_in(match[1], shell, arrays, notes), args.expression)
        if "`" in expression:
            raise TdbgError("a backtick is not closed; write tensors as `hidden/Relu:0`")
        value = evaluate(expression, arrays)
        if isinstance(value, tuple | list) and not _is_even(value):
            return _parts(args.expression, value, args.all, notes)
        if not isinstance(value, np.ndarray | np.generic | int | float | complex | tuple | list):
            return Result([text(*notes, f"{args.expression} is {value}", data=str(value))])
        array = np.asarray(value)
        asked = question(array, args, shell.can_ask, args.again)
        if asked is not None:
            return asked
        blocks: list[Block] = [Text(notes)] if notes else []
        blocks += [write(array, args.write_path, args.force)] if args.write_path else []
        name = f"eval {args.expression}"
        menu = [Span("all", "name", f"{args.again} -a")] if not args.all and array.size > 1000 else []
        return Result([*blocks, header(name, str(array.dtype), array.shape), Array(name, array, (), args.all)], menu)


def _last_flag(rest: str) -> re.Match[str] | None:
    """Finds a flag at the very end, behind a space; it cannot be a name, for names stand in backticks."""
    found = [
        match for match in _FLAG.finditer(rest) if match.end() == len(rest) and rest[: match.start()][-1:].isspace()
    ]
    return found[-1] if found else None


def _stand_in(typed: str, shell: command.Context, arrays: dict[str, Any], notes: list[Line]) -> str:
    """Gives a tensor a name that Python can read, and looks its elements up; of several dumps, unless one was named,
    the first is taken, and that is noted."""
    bare, number = _NUMBERED.fullmatch(typed), 0
    if bare is not None:
        typed, number = bare[1] + (bare[3] or ""), int(bare[2] or bare[4])
    name = TensorName.parse(typed)
    seen = shell.scene.seen(name.tensor, name.debug_op, name.device)
    if number >= len(seen):
        said = f"{name.tensor} has {len(seen)} dump{'s' * (len(seen) != 1)}; there is no #{number}"
        raise TdbgError(f"{said}. Its element {number} is `{name.tensor}`[{number}]")
    if bare is None and len(seen) > 1:
        said = f"{name.tensor} was seen {len(seen):,} times; this takes the first, and `{name.tensor}#N` another"
        notes.append((Span(said, "warning"),))
    stand_in = f"tensor_{len(arrays)}"
    arrays[stand_in] = take(np.asarray(shell.scene.value(seen[number])), name.index, name.tensor)
    return stand_in


def _is_even(value: Sequence[Any]) -> bool:
    """Whether the parts of a value make one array."""
    return all(np.ndim(one) == 0 and isinstance(one, int | float | complex | np.generic) for one in value)


def _parts(expression: str, value: Sequence[Any], shows_all: bool, notes: Sequence[Line]) -> Result:
    """Shows several arrays, one after the other."""
    blocks: list[Block] = [Text(notes)] if notes else []
    for name, one in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
        array = np.asarray(one)
        title = f"eval ({expression}){f'.{name}' if isinstance(name, str) else f'[{name}]'}"
        blocks += [header(title, str(array.dtype), array.shape), Array(title, array, (), shows_all), text("")]
    return Result(blocks[:-1])
