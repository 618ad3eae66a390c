"""Builds the native extension; where that is impossible tdbg installs without it and works, slower."""

import sys
from glob import glob

from setuptools import Extension, setup

SOURCES = [
    "summary.c", "events.c", "executions.c", "shapes.c", "stacks.c", "check.c", "remembered.c", "condition.c",
    "breaks.c", "debug_events.c", "tensorflow_api.c", "tensorflow_op.c", "held.c", "debug_op.c", "session_op.c",
    "dump_op.c", "terminal_guard.c", "postponed.c", "module.c",
]  # fmt: skip

setup(
    ext_modules=[
        Extension(
            "tdbg.native._native",
            [f"src/tdbg/native/{name}" for name in SOURCES],
            extra_compile_args=[] if sys.platform == "win32" else ["-std=gnu11", "-O3", "-Wall", "-Wextra"],
            libraries=[] if sys.platform == "win32" else ["dl", "m", "pthread"],
            depends=sorted(glob("src/tdbg/native/*.h")),
            optional=True,
        )
    ]
)
