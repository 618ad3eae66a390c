"""Gives the wrapped Session, or the hooks, that the words on the command line ask for; every example takes them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from tdbg.tensorflow import debug as tf_debug

TensorFilter = Callable[[Any, Any], bool]


def make_parser(story: str) -> ArgumentParser:
    """A parser that has the options of the debugger; an example adds its own."""
    parser = ArgumentParser(description=story)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--debug", action="store_true", help="stop at a prompt before and after every run")
    which.add_argument("--dump_dir", "--dump_root", metavar="DIR", help="write every tensor to files in this folder")
    which.add_argument(
        "--debugger_address",
        "--tensorboard_debug_address",
        metavar="HOST:PORT",
        help="send every tensor to the debugger that listens there",
    )
    parser.add_argument(
        "--ui_type", default="curses", choices=["curses", "readline", "screen"], help="the prompt of --debug"
    )
    return parser


def wrap_session(session: Any, args: Namespace, **filters: TensorFilter) -> Any:
    """The Session as it is, or in the wrapper that was asked for; ``filters`` are for ``run -f`` at the prompt."""
    if args.debug:
        wrapped = tf_debug.LocalCLIDebugWrapperSession(session, ui_type=args.ui_type)
        for name, function in filters.items():
            wrapped.add_tensor_filter(name, function)
        return wrapped
    if args.dump_dir:
        return tf_debug.DumpingDebugWrapperSession(session, args.dump_dir)
    if args.debugger_address:
        return tf_debug.TensorBoardDebugWrapperSession(session, args.debugger_address)
    return session


def make_hooks(args: Namespace) -> list[Any]:
    """The hook that was asked for, in a list, for whatever makes its Sessions itself."""
    if args.debug:
        return [tf_debug.LocalCLIDebugHook(ui_type=args.ui_type)]
    if args.dump_dir:
        return [tf_debug.DumpingDebugHook(args.dump_dir)]
    if args.debugger_address:
        return [tf_debug.TensorBoardDebugHook(args.debugger_address)]
    return []
