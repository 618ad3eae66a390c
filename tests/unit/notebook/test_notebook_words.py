"""Where the page can be shown, and what is said where there is no IPython."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tdbg
from tdbg.notebook.cell_output import reaches_loopback


@pytest.mark.parametrize("name", ["COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "JUPYTERHUB_USER", "SSH_CONNECTION"])
def test_a_browser_that_is_elsewhere(name):
    assert not reaches_loopback({name: "x"}, ())


def test_colab_is_known_by_its_module():
    assert not reaches_loopback({}, {"google.colab"})


def test_a_shell_that_is_none():
    with pytest.raises(tdbg.TdbgError, match="%load_ext tdbg"):
        tdbg.load_ipython_extension(None)


def test_ipython_is_not_needed():
    """Nothing of it is loaded before there is a shell."""
    modules = ", ".join(f"tdbg.notebook.{name}" for name in ("magics", "cell_code", "cell_output"))
    code = f"import sys, {modules}; print('IPython' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240).stdout.strip()
        == "False"
    )
