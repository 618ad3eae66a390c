"""The debugger's prompt on a plain terminal or a pipe: lines of standard input in, Actions out."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any, NoReturn

from tdbg.capture import faults
from tdbg.tensorflow.session.prompt import Action, Filter, Kind, RunEnd, RunStart
from tdbg.tensorflow.session.texts import run_end_lines, run_start_lines

_HELP = """\
run (r)         run, and stop at the end of the run
  -n, --no_debug                     without the debugger; stop before the next run
  -t N, --times N                    N runs, of which the last is debugged
  -f FILTER, --till_filter_pass …    until a tensor passes the filter
  -fenn REGEX, --filter_exclude_…    nodes that the filter does not look at
  --node_name_filter, --op_type_filter, --tensor_dtype_filter REGEX   watch only these tensors
  -p, --profile                      measure how long each op takes
run_info (ri)   fetches and feeds of this run
help (h)        this text
exit, quit      end the program"""


class _Refused(Exception):
    """A command that cannot be done; its text is for the user."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Refused(message)


def run_parser() -> argparse.ArgumentParser:
    """The flags of ``run``."""
    parser = _Parser(prog="run", add_help=False, description="Run through, with or without debug tensor watching.")
    parser.add_argument("-t", "--times", type=int, default=1)
    parser.add_argument("-n", "--no_debug", action="store_true")
    parser.add_argument("-f", "--till_filter_pass", default="", metavar="FILTER")
    parser.add_argument("-fenn", "--filter_exclude_node_names", default="", metavar="REGEX")
    for name in ("node_name", "op_type", "tensor_dtype"):
        parser.add_argument(f"--{name}_filter", default=None, metavar="REGEX")
    parser.add_argument("-p", "--profile", action="store_true")
    return parser


def parse_run(words: list[str], filters: dict[str, Filter] | Any) -> Action:
    """The words behind ``run`` as an Action; _Refused, with a sentence, when they make no sense."""
    given = run_parser().parse_args(words)
    if given.till_filter_pass and given.till_filter_pass not in filters:
        raise _Refused(f'tensor filter "{given.till_filter_pass}" does not exist; there are: {", ".join(filters)}')
    if given.filter_exclude_node_names and not given.till_filter_pass:
        raise _Refused("-fenn (--filter_exclude_node_names) goes with -f (--till_filter_pass)")
    if given.till_filter_pass and (given.no_debug or given.profile):
        raise _Refused("-f looks at the tensors of each run, so it does not go with -n or -p")
    if given.times < 1:
        raise _Refused("-t (--times) must be 1 or more")
    return Action(
        debug=not given.no_debug,
        times=given.times,
        until_filter=given.till_filter_pass,
        exclude_nodes=given.filter_exclude_node_names,
        node_name_filter=given.node_name_filter,
        op_type_filter=given.op_type_filter,
        tensor_dtype_filter=given.tensor_dtype_filter,
        profile=given.profile,
    )


class LinePrompt:
    """Reads commands from standard input. At its end the program goes on without the debugger."""

    def run_start(self, info: RunStart) -> Action:
        print(f"run-start: {info.description}", *run_start_lines(info), sep="\n")
        return self._ask(info)

    def run_end(self, info: RunEnd) -> Action:
        print(*run_end_lines(info), sep="\n")
        return self._ask(info.start)

    def _ask(self, info: RunStart) -> Action:
        while True:
            sys.stdout.flush()
            try:
                line = input("tfdbg> ")
            except EOFError:
                print()
                faults.say("no more commands: the program goes on without the debugger")
                return Action(Kind.DETACH)
            try:
                action = self._obey(shlex.split(line), info)
            except (_Refused, ValueError) as error:
                print(f"ERROR: {error}")
                continue
            if action is not None:
                return action

    def _obey(self, words: list[str], info: RunStart) -> Action | None:
        if not words:
            return None
        command, *rest = words
        if command in ("run", "r"):
            return parse_run(rest, info.filters)
        if command in ("exit", "quit"):
            return Action(Kind.EXIT)
        if command in ("run_info", "ri"):
            print(*run_start_lines(info), sep="\n")
        elif command in ("help", "h"):
            print(_HELP)
        else:
            raise _Refused(f"there is no command {command!r}; type help for those that there are")
        return None
