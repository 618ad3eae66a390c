"""Builds the native extension; where that is impossible tdbg installs without it and works, slower."""

import sys
from glob import glob

from setuptools import Extension, setup

FOLDERS = ("src/tdbg/native/*", "src/tdbg/frameworks/*/native")  # of no framework, and what each adds to it


def files(kind: str) -> list[str]:
    return sorted(file for folder in FOLDERS for file in glob(f"{folder}/*.{kind}"))


setup(
    ext_modules=[
        Extension(
            "tdbg.native._native",
            files("c"),
            include_dirs=["src/tdbg/native", "src/tdbg"],
            extra_compile_args=[]
            if sys.platform == "win32"
            else ["-std=gnu11", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"],
            libraries=[] if sys.platform == "win32" else ["dl", "m", "pthread"],
            depends=files("h"),
            optional=True,
        )
    ]
)
