"""A stack frame's file and function in; whether the user wrote it, and which phase of training it tells, out."""

from __future__ import annotations

import os
import re
import site
import sysconfig

from tdbg.model import Phase

_HERE = os.path.dirname(os.path.abspath(__file__))
_SEP = os.sep


def _library_folders() -> tuple[str, ...]:
    folders = {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.update(site.getsitepackages() if hasattr(site, "getsitepackages") else [])
    if site.ENABLE_USER_SITE:
        folders.add(site.getusersitepackages())
    folders.add(_HERE)
    return tuple(os.path.realpath(folder) + _SEP for folder in folders)


_LIBRARIES = _library_folders()
# Programs to debug, wherever they are installed.
_PROGRAMS = tuple(os.path.join(os.path.realpath(_HERE), folder) + _SEP for folder in ("demos", "examples"))
_COMMANDS = ("tdbg", "tdbg.exe", "tdbg-script.py")  # what an installer makes, outside of all libraries
_LIBRARY_ELSEWHERE = re.compile(r"[/\\](site-packages|dist-packages|lib[/\\]python\d[.\d]*)[/\\]", re.IGNORECASE)


def is_own_file(file: str) -> bool:
    """tdbg's own code, which users do not want to see in a stack."""
    path = os.path.realpath(file)
    if os.path.basename(path) in _COMMANDS:
        return True
    return path.startswith(os.path.realpath(_HERE) + _SEP) and not path.startswith(_PROGRAMS)


def is_user_file(file: str) -> bool:
    """Code that the user wrote: not Python's own, not an installed package, not tdbg. Notebook cells count."""
    if file.startswith("<"):
        return file.startswith(("<ipython-input", "<cell ", "<string>", "<stdin>"))
    path = os.path.realpath(file)
    if os.path.basename(path) in _COMMANDS:
        return False
    return path.startswith(_PROGRAMS) or (not path.startswith(_LIBRARIES) and f"{_SEP}site-packages{_SEP}" not in path)


def is_user_file_elsewhere(file: str) -> bool:
    """The same for a path that another machine wrote down, where libraries may lie in other folders."""
    return is_user_file(file) and not _LIBRARY_ELSEWHERE.search(file)


_PYTHON = f"tensorflow{_SEP}python{_SEP}"
_BACKWARD = (
    (f"{_PYTHON}eager{_SEP}backprop.py", ("gradient", "jacobian", "_gradient_function")),
    (f"{_PYTHON}eager{_SEP}imperative_grad.py", ("imperative_grad",)),
    (f"{_PYTHON}ops{_SEP}gradients_util.py", ("_GradientsHelper",)),
)
_UPDATE = ("apply_gradients", "apply", "_internal_apply_gradients", "_backend_apply_gradients", "update_step")
_CREATION = (
    (f"{_PYTHON}ops{_SEP}resource_variable_ops.py", ("_init_from_args",)),
    (f"{_PYTHON}ops{_SEP}ref_variable.py", ("_init_from_args",)),
    (f"{_PYTHON}training{_SEP}saver.py", ("_build", "build", "_build_internal")),  # what a checkpoint holds is assigned
)


def phase_of(file: str, function: str) -> Phase | None:
    """BACKWARD inside gradient code, UPDATE inside an optimizer's apply, OTHER while a variable is made.

    ``function`` may be qualified (``GradientTape.gradient``) or, as TensorFlow's own stacks have it, bare.
    """
    name = function.rsplit(".", 1)[-1]
    for suffix, functions in _BACKWARD:
        if file.endswith(suffix) and name in functions:
            return Phase.BACKWARD
    if f"{_SEP}optimizers{_SEP}" in file or file.endswith(f"training{_SEP}optimizer.py"):
        return Phase.UPDATE if name in _UPDATE else None
    for suffix, functions in _CREATION:
        if file.endswith(suffix) and name in functions:
            return Phase.OTHER
    return None
