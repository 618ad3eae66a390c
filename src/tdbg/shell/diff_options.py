"""Declares the options of ``tdbg diff`` and of the prompt's ``diff``: how strictly two runs are compared."""

from __future__ import annotations

from argparse import ArgumentParser


def add_diff_options(parser: ArgumentParser) -> None:
    parser.add_argument("--exact", action="store_true", help="compare bit by bit: rounding counts as a difference too")
    parser.add_argument(
        "--numbers-only",
        action="store_true",
        help="compare values across element types, and skip ops that only one run has",
    )
