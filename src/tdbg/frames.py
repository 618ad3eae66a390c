"""Tells from a stack frame's file and function whether the user wrote it, and which phase of training it is."""

from __future__ import annotations

import contextlib
import os
import re
import site
import sys
import sysconfig
from functools import lru_cache

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
# Packages that run a program's ops, or run the program; they are libraries wherever they were imported from.
_PACKAGES = (
    "tensorflow", "keras", "tf_keras", "tensorflow_estimator", "tensorflow_probability", "tensorflow_hub",
    "tensorflow_datasets", "tf_slim", "tensorflow_addons", "transformers", "sonnet", "numpy", "absl", "wrapt", "pytest",
    "_pytest", "pluggy", "IPython", "ipykernel", "traitlets", "tornado", "tensorboard",
)  # fmt: skip
# Programs to debug, wherever they are installed.
_PROGRAMS = tuple(os.path.join(os.path.realpath(_HERE), folder) + _SEP for folder in ("demos", "examples"))
_COMMANDS = ("tdbg", "tdbg.exe", "tdbg-script.py")  # what an installer makes, outside of all libraries
_SITE_PACKAGES = re.compile(r"[/\\](site-packages|dist-packages)[/\\]", re.IGNORECASE)
_LIBRARY_ELSEWHERE = re.compile(r"[/\\](site-packages|dist-packages|lib[/\\]python\d[.\d]*)[/\\]", re.IGNORECASE)


def is_own_file(file: str) -> bool:
    """tdbg's own code, which users do not want to see in a stack."""
    path = os.path.realpath(file)
    if os.path.basename(path) in _COMMANDS:
        return True
    return path.startswith(os.path.realpath(_HERE) + _SEP) and not path.startswith(_PROGRAMS)


def is_user_file(file: str) -> bool:
    """Code that the user wrote: not Python's own, not an installed package, not tdbg. Notebook cells count.

    The innermost folder that is known decides: a package's, an installation's, or that of the program itself.
    """
    if file.startswith("<"):
        return file.startswith(("<ipython-input", "<cell ", "<string>", "<stdin>"))
    path = os.path.realpath(file)
    if os.path.basename(path) in _COMMANDS:
        return False
    users = [*_PROGRAMS, *_program_folder()]
    libraries = [*_LIBRARIES, *_package_folders(), *_installations()]
    user, library = (max((len(one) for one in some if path.startswith(one)), default=0) for some in (users, libraries))
    return user > library or (not library and not _SITE_PACKAGES.search(path))


def _program_folder() -> list[str]:
    """The folder of the script that runs; whose a module is that Python found (``-m``) is not known. A script that lies
    among installed packages is the user's alone, without what lies beside it."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if not file or getattr(main, "__spec__", None) is not None:
        return []
    path = os.path.realpath(file)
    folder = os.path.dirname(path) + _SEP
    return [path if folder in (*_LIBRARIES, *_installations()) else folder]


def _package_folders() -> list[str]:
    """Where the known packages were imported from: any folder, or a zip archive."""
    found = []
    for name in _PACKAGES:
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        folders = [os.path.dirname(file)] if file else [*(getattr(module, "__path__", None) or ())]
        found += [os.path.realpath(folder) + _SEP for folder in folders if isinstance(folder, str)]
    return found


def _installations() -> tuple[str, ...]:
    """Folders of the search path into which an installer has put packages, and zip archives on it, but for one that is
    the program itself."""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    folders, archives = _among(tuple(entry for entry in sys.path if isinstance(entry, str)))
    return (*folders, *(one for one in archives if not os.path.realpath(main).startswith(one)))


@lru_cache(maxsize=8)
def _among(search_path: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """(folders into which an installer has put packages, archives)"""
    folders, archives = [], []
    for entry in search_path:
        if os.path.isfile(entry):
            archives.append(os.path.realpath(entry) + _SEP)
            continue
        with contextlib.suppress(OSError), os.scandir(entry or ".") as inside:
            if any(one.name.endswith(".dist-info") for one in inside):
                folders.append(os.path.realpath(entry) + _SEP)
    return folders, archives


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
