"""TensorFlow's own tests of its Session debugger in; that they pass on tdbg's names out."""

import os
import re
import subprocess
import sys
from pathlib import Path


def test_tensorflows_own_tests_pass(tmp_path):
    script = Path(__file__).with_name("stock_session_tests.py")
    words = ["-q", "-c", os.devnull, "--rootdir", str(tmp_path), "-p", "no:cacheprovider", "-W", "ignore", str(script)]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-k", "TestSessionDebugging"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        timeout=240,
    )
    assert ran.returncode == 0, ran.stdout
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) >= 33, ran.stdout
