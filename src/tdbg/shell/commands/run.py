"""``run`` tells a held program what to do next."""

from __future__ import annotations

from argparse import Namespace

from tdbg.capture.control import Action
from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.filters import check_filter, check_pattern
from tdbg.shell.result import Result

_OUTSIDE = (
    "no program is stopped here; record one with: tdbg run train.py, "
    "or stop one with: tdbg run --break 'nan > 0' train.py"
)


class Command(command.Command):
    """Lets the program continue, and shows what it computes.

    Without flags it runs to the end of the next Session.run() (or, in a TensorFlow 2 program, to the next breakpoint)
    and shows the tensors there.

    In a program stopped by a condition (tdbg run --break), a run means a training step: -t N stops it where the N-th
    step from here begins, and -n ignores the conditions until the next step begins. -f replaces the conditions until
    it is met. The filters choose what is recorded from now on.
    """

    name = "run"
    aliases = ("r",)
    examples = (
        ("run", "one run, then show its tensors"),
        ("run -t 10", "ten runs, stopping after the last"),
        ("run -f has_inf_or_nan", "until a tensor holds NaN or an infinity"),
        ("run -f 'max_abs > 1e4'", "until a tensor meets a condition; see help filters"),
        ("run -n", "one run without the debugger"),
        ("run -p", "one run that measures how long each op takes; then lp"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add("-t", "--times", type=int, default=1, metavar="N", help="run N times, and debug the last")
        add("-n", "--no_debug", action="store_true", help="run without the debugger, and stop before the next run")
        add("-f", "--till_filter_pass", default="", metavar="FILTER", help="run until a tensor passes this filter")
        text = "nodes for the filter to ignore"
        add("-fenn", "--filter_exclude_node_names", default="", metavar="REGEX", help=text)
        for name, what in (
            ("node_name", "name matches"),
            ("op_type", "op type matches"),
            ("tensor_dtype", "element type matches"),
        ):
            add(f"--{name}_filter", default=None, metavar="REGEX", help=f"watch only tensors whose {what}")
        add("-p", "--profile", action="store_true", help="measure how long each op takes")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        action = action_of(args, shell)
        if not shell.is_held:
            raise TdbgError(_OUTSIDE)
        return Result(action=action)


def action_of(args: Namespace, shell: command.Context) -> Action:
    """Makes an Action of the flags; TdbgError, with a sentence, when they make no sense together."""
    until, exclude = args.till_filter_pass, args.filter_exclude_node_names
    if until:
        check_filter(until, shell.scene)
    if exclude and not until:
        raise TdbgError("-fenn (--filter_exclude_node_names) needs -f (--till_filter_pass)")
    if until and (args.no_debug or args.profile):
        raise TdbgError("-f checks the tensors of every run, so it cannot be combined with -n or -p")
    if args.times < 1:
        raise TdbgError("-t (--times) must be 1 or more")
    for pattern in (exclude, args.node_name_filter, args.op_type_filter, args.tensor_dtype_filter):
        check_pattern(pattern or "")
    return Action(
        debug=not args.no_debug,
        times=args.times,
        until_filter=until,
        exclude_nodes=exclude,
        node_name_filter=args.node_name_filter,
        op_type_filter=args.op_type_filter,
        tensor_dtype_filter=args.tensor_dtype_filter,
        profile=args.profile,
    )
