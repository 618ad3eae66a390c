"""Whose code a line of a stack is."""

import json
import subprocess
import sys
import sysconfig
import zipfile
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


PROGRAM = """
import json, sys
import beside, installed, zipped
import numpy  # of this folder: a package by that name is a library wherever it lies
from tdbg.frames import is_user_file
print(json.dumps([is_user_file(one.__file__) for one in (sys.modules["__main__"], beside, installed, zipped, numpy)]))
"""


def test_a_library_is_known_by_where_it_was_imported_from(tmp_path: Path):
    """Given a program below a folder named site-packages, and libraries below other folders of the search path."""
    program, target, sources, archive = (
        tmp_path / name for name in ("site-packages/mine", "target", "sources", "lib.zip")
    )
    for folder in (program, target / "installed-1.0.dist-info", sources / "numpy"):
        folder.mkdir(parents=True)
    (program / "train.py").write_text(PROGRAM)
    for file in (program / "beside.py", target / "installed.py", sources / "numpy/__init__.py"):
        file.write_text("")
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("zipped.py", "")
    paths = f"import sys, runpy; sys.path[:0] = {[str(one) for one in (program, target, archive, sources)]}; "
    run = paths + f"sys.argv = [{str(program / 'train.py')!r}]; runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-c", run], capture_output=True, text=True, check=True, timeout=240)
    assert json.loads(done.stdout) == [True, True, False, False, False]
