"""Gives the file name of a stack frame as people know it: ``<cell 3>`` for a cell of a notebook."""

from __future__ import annotations

import re
import sys
from typing import Any


def shown_file(file: str) -> str:
    """IPython compiles each cell under a made-up file name, and knows which cell that was."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = name_of(file) if name_of is not None else None  # such as ("Cell", "In[3]")
    number = re.search(r"\d+", found[1]) if found else None
    return f"<cell {number[0]}>" if number else file
