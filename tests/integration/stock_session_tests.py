"""TensorFlow's own tests of watching and reading dumps, with tdbg's watch functions and DebugDumpDir in their place.

It switches TensorFlow 2's behaviour off, so test_session_stock_tests.py runs it in a process of its own.
"""

from __future__ import annotations

import os

import tensorflow as tf

tf.compat.v1.disable_v2_behavior()

from tensorflow.python.debug.lib import session_debug_testlib as testlib  # noqa: E402

from tdbg.frameworks.tensorflow.reading_dumps import dump_dir  # noqa: E402
from tdbg.frameworks.tensorflow.tfdbg import watching  # noqa: E402

for stock, ours in ((testlib.debug_data, dump_dir), (testlib.debug_utils, watching)):
    for name in vars(stock):
        if not name.startswith("_") and hasattr(ours, name):
            setattr(stock, name, getattr(ours, name))


class TestSessionDebugging(testlib.SessionDebugTestBase):
    def _debug_urls(self, run_number=None):
        return [f"file://{self._debug_dump_dir(run_number)}"]

    def _debug_dump_dir(self, run_number=None):
        return self._dump_root if run_number is None else os.path.join(self._dump_root, f"run_{run_number}")

    # Stock refuses such a dump. Here it is a warning: see test_dump_dir.py.
    testCausalityCheckOnDumpsDetectsWrongTemporalOrder = None
