"""Whose code a line of a stack is."""

import sysconfig
from pathlib import Path

import numpy as np

import tdbg
from tdbg.frames import is_own_file, is_user_file

HERE = Path(tdbg.__file__).parent


def test_the_installed_command_is_tdbgs_own_and_not_the_users():
    command = str(Path(sysconfig.get_path("scripts")) / "tdbg")
    assert is_own_file(command) and not is_user_file(command)


def test_programs_are_the_users_and_libraries_are_not():
    assert is_user_file("/home/ada/train.py") and is_user_file("<stdin>")
    assert is_user_file(str(HERE / "examples/debug_mnist.py")) and not is_own_file(str(HERE / "demos/digits.py"))
    assert is_own_file(str(HERE / "frames.py")) and not is_user_file(str(HERE / "frames.py"))
    assert not is_user_file(np.__file__) and not is_user_file("<frozen runpy>")
