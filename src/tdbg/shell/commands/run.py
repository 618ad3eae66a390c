"""``run``: what a held program does next, as an Action."""

from __future__ import annotations

from argparse import Namespace

from tdbg.capture.control import Action
from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.filters import check_filter, check_pattern
from tdbg.shell.result import Result

_OUTSIDE = (
    "no program is held here; record one with: tdbg run train.py, or hold one with: tdbg run --break 'nan > 0' train.py"
)


class Command(command.Command):
    """Lets the program go on, and looks at what it computes.

    Without flags it runs to the end of the next Session.run() (or, in a TensorFlow 2 program, to the next breakpoint)
    and shows the tensors there.

    In a program that conditions hold (tdbg run --break), what is a run here is a training step: -t N holds it where the
    N-th step from here begins, and -n lets conditions count again when the next one does. -f stands in for the
    conditions until it is met. The filters say what is recorded from here on.
    """

    name = "run"
    aliases = ("r",)
    examples = (
        ("run", "one run, and look at its tensors"),
        ("run -t 10", "ten runs, of which the last is looked at"),
        ("run -f has_inf_or_nan", "until a tensor holds NaN or an infinity"),
        ("run -f 'max_abs > 1e4'", "until a tensor meets a condition; help filters tells the words"),
        ("run -n", "one run without the debugger"),
        ("run -p", "one run with the time that each op takes; then lp"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        add = parser.add_argument
        add("-t", "--times", type=int, default=1, metavar="N", help="run N times; the last is debugged")
        add("-n", "--no_debug", action="store_true", help="without the debugger; stop before the next run")
        add("-f", "--till_filter_pass", default="", metavar="FILTER", help="run until a tensor passes this filter")
        text = "nodes that the filter does not look at"
        add("-fenn", "--filter_exclude_node_names", default="", metavar="REGEX", help=text)
        for name, what in (("node_name", "names"), ("op_type", "op types"), ("tensor_dtype", "element types")):
            add(f"--{name}_filter", default=None, metavar="REGEX", help=f"watch only tensors with such {what}")
        add("-p", "--profile", action="store_true", help="measure how long each op takes")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        action = action_of(args, shell)
        if not shell.is_held:
            raise TdbgError(_OUTSIDE)
        return Result(action=action)


def action_of(args: Namespace, shell: command.Context) -> Action:
    """TdbgError, with a sentence, when the flags make no sense together."""
    until, exclude = args.till_filter_pass, args.filter_exclude_node_names
    if until:
        check_filter(until, shell.scene)
    if exclude and not until:
        raise TdbgError("-fenn (--filter_exclude_node_names) goes with -f (--till_filter_pass)")
    if until and (args.no_debug or args.profile):
        raise TdbgError("-f looks at the tensors of each run, so it does not go with -n or -p")
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
