"""A debugger for the numbers inside deep-learning programs."""

from tdbg.errors import TdbgError
from tdbg.recording import disable, enable, step, watch
from tdbg.recording import open_trace as open

__version__ = "0.1.0"
__all__ = ["TdbgError", "__version__", "disable", "enable", "open", "step", "watch"]
