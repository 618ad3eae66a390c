"""``tdbg run`` beside plain Python: the same program must not be able to tell them apart."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import tdbg

SOURCE = str(Path(tdbg.__file__).parents[1])
NOT_USED = "tdbg: this program did not use TensorFlow, so nothing was recorded"


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def program_err(self) -> str:
        """Standard error without tdbg's lines."""
        return "".join(line for line in self.err.splitlines(True) if not line.startswith("tdbg: "))


def python(words: list[str], folder: Path, stdin: str = "", **env: str) -> Result:
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", **env}
    environment.pop("TDBG_OUTPUT", None)
    ran = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, input=stdin, capture_output=True, text=True, timeout=240
    )
    return Result(ran.returncode, ran.stdout, ran.stderr)


def tdbg_run(words: list[str], folder: Path, stdin: str = "", **env: str) -> Result:
    return python(["-m", "tdbg", "run", *words], folder, stdin, **env)


def without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def assert_same(words: list[str], folder: Path, stdin: str = "") -> Result:
    plain, recorded = python(words, folder, stdin), tdbg_run(words, folder, stdin)
    assert without_addresses(recorded.out) == without_addresses(plain.out)
    assert without_addresses(recorded.program_err) == without_addresses(plain.err)
    assert recorded.status == plain.status
    assert not list(folder.glob("*.tdbg"))
    return recorded


SHOW = "import sys\nprint(sys.argv, sys.orig_argv, sys.path)\nprint(dict(vars()))\n"
RAISES = """\
def fail():
    try:
        1 / 0
    except ArithmeticError as error:
        raise ValueError("bad") from error
fail()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Programs in every form that Python takes."""
    for path, text in {
        "show.py": SHOW,
        "deep/show.py": SHOW,
        "app/__init__.py": "",
        "app/__main__.py": SHOW,
        "empty/__init__.py": "",
        "raises.py": RAISES,
        "failing/__main__.py": RAISES,
        "breaks.py": "if 1:\nprint(1)\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "latin.py").write_bytes(b'x = "\xff"\n')
    (tmp_path / "null.py").write_bytes(b"x = 1\0\n")
    (tmp_path / "link.py").symlink_to("deep/show.py")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("__main__.py", SHOW)
    return tmp_path


PROGRAMS = {
    "script": ["show.py", "a", "b"],
    "flags like ours": ["show.py", "-q", "--help", "--mode", "none", "--", "-o", "x"],
    "path with dots": ["./deep/../deep/show.py"],
    "symbolic link": ["link.py"],
    "folder": ["app", "-q"],
    "folder with slash": ["app/"],
    "zip": ["app.zip", "a"],
    "package": ["-m", "app", "-q", "-m", "x"],
    "module": ["-m", "deep.show", "a"],
    "code": ["-c", SHOW, "a", "-c"],
    "missing module": ["-m", "nowhere"],
    "package without main": ["-m", "empty"],
    "folder without main": ["deep"],
    "module that does not compile": ["-m", "breaks"],
    "script that does not compile": ["breaks.py"],
    "script in another encoding": ["latin.py"],
    "script with a null byte": ["null.py"],
    "code that does not compile": ["-c", "f("],
    "uncaught in script": ["raises.py"],
    "uncaught in module": ["-m", "raises"],
    "uncaught in folder": ["failing"],
}


@pytest.mark.parametrize("words", PROGRAMS.values(), ids=PROGRAMS)
def test_program_looks_as_in_python(folder: Path, words: list[str]) -> None:
    assert_same(words, folder)


ENDS = {
    "nothing": "",
    "exit": "raise SystemExit",
    "exit 0": "import sys; sys.exit(0)",
    "exit 3": "import sys; sys.exit(3)",
    "exit -1": "import sys; sys.exit(-1)",
    "exit 300": "import sys; sys.exit(300)",
    "exit text": "import sys; sys.exit('so long')",
    "exit list": "import sys; sys.exit([1])",
    "exit at once": "import os; print('x', flush=True); print('lost', end=''); os._exit(5)",
    "aborted": "import os; os.abort()",
    "interrupted": "import os, signal; os.kill(os.getpid(), signal.SIGINT)\nwhile True: pass",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)\nwhile True: pass",
    "KeyboardInterrupt": "raise KeyboardInterrupt('by hand')",
    "GeneratorExit": "raise GeneratorExit",
    "own exception of tdbg": "import tdbg; raise tdbg.TdbgError('mine')",
    "broken pipe": "raise BrokenPipeError('mine')",
    "hook": "import sys; sys.excepthook = lambda *a: print(a, a[2].tb_frame.f_code, a[2].tb_next)\n1/0",
    "hook that fails": "import sys\ndef hook(*a): raise KeyError(1)\nsys.excepthook = hook\n1/0",
    "hook that exits": "import sys\nsys.excepthook = lambda *a: sys.exit(7)\n1/0",
    "hook missing": "import sys\ndel sys.excepthook\n1/0",
    "hook None": "import sys\nsys.excepthook = None\n1/0",
    "atexit": "import atexit, sys; atexit.register(print, 'bye'); sys.exit(2)",
    "atexit fails": "import atexit; atexit.register(lambda: 1/0)",
    "last traceback": "import atexit, sys\n"
    "atexit.register(lambda: print(sys.excepthook, sys.last_value, sys.last_traceback.tb_frame.f_code.co_name))\n1/0",
    "exit in thread": "import sys, threading; threading.Thread(target=sys.exit, args=(4,)).start(); print('main')",
    "thread after main": "import threading\nended = threading.Event()\n"
    "def work():\n    threading.main_thread().join(); print('thread')\n"
    "threading.Thread(target=work).start(); print('main')",
    "deleted at the end": "class Last:\n    def __del__(self): print('deleted')\nlast = Last()",
    "stdout closed": "import sys; print('x'); sys.stdout.close()",
    "stderr closed": "import sys; sys.stderr.close(); sys.exit(3)",
    "fork": "import os, sys\nif os.fork(): os.wait()\nprint('done', flush=True); sys.exit(6)",
    "main is importable": "import pickle, __main__\nclass A: pass\nprint(__main__.A is pickle.loads(pickle.dumps(A)))",
    "no features leak": "print(type(__annotations__)); x: 1/1 = 2; print(__annotations__)",
}


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
def test_program_ends_as_in_python(tmp_path: Path, code: str) -> None:
    assert_same(["-c", code], tmp_path)


SPAWNS = """\
import multiprocessing, sys, os

class Thing:
    pass

def work(queue, thing):
    main = sys.modules["__main__"]
    names = [] if sys.argv[1] == "fork" else [name for name in sys.modules if name.startswith("tdbg")]
    queue.put((__name__, type(thing).__module__, sys.argv, sys.path[0], names, main.__name__, str(main.__spec__)))

print("loaded as", __name__, flush=True)
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    process = context.Process(target=work, args=(queue, Thing()))
    process.start()
    print(queue.get(timeout=240), flush=True)
    process.join()
    print(process.exitcode)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("form", [["spawns.py"], ["-m", "pack.spawns"]], ids=["script", "module"])
def test_children_are_those_of_python(tmp_path: Path, method: str, form: list[str]) -> None:
    (tmp_path / "pack").mkdir()
    for name in ("spawns.py", "pack/spawns.py"):
        (tmp_path / name).write_text(SPAWNS)
    assert_same([*form, method], tmp_path)


def test_program_from_standard_input(tmp_path: Path) -> None:
    assert_same(["-", "a", "-q"], tmp_path, stdin=SHOW + "print(repr(sys.stdin.read()))\n1/0\n")


def test_standard_input_is_the_programs(tmp_path: Path) -> None:
    assert_same(["-c", "print(input(), repr(input()))"], tmp_path, stdin="one\ntwo\n")


def test_compiled_script(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES)
    python(["-c", "import py_compile; py_compile.compile('raises.py', 'raises.pyc')"], tmp_path)
    assert_same(["raises.pyc"], tmp_path)


@pytest.mark.parametrize("flags", [["-P"], ["-O"], ["-X", "dev"], ["-u"]], ids="".join)
def test_interpreter_options_stay(folder: Path, flags: list[str]) -> None:
    words = ["show.py", "a"]
    plain = python([*flags, *words], folder)
    recorded = python([*flags, "-m", "tdbg", "run", *words], folder)
    assert without_addresses(recorded.out) == without_addresses(plain.out)


def on_one_pipe(code: str, folder: Path) -> str:
    words = [sys.executable, "-m", "tdbg", "run", "-c", code]
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    pipe = subprocess.PIPE
    return subprocess.run(
        words, cwd=folder, env=environment, stdout=pipe, stderr=subprocess.STDOUT, text=True, timeout=240
    ).stdout


def test_line_of_tdbg_comes_last(tmp_path: Path) -> None:
    code = "import atexit, sys; atexit.register(print, 'bye'); print('hello')"
    assert on_one_pipe(code, tmp_path) == f"hello\nbye\n{NOT_USED}\n"


def test_line_of_tdbg_comes_once(tmp_path: Path) -> None:
    code = "import atexit, os; atexit.register(print, 'bye'); os.fork()"
    both = on_one_pipe(code, tmp_path)
    assert (both.count(NOT_USED), both.count("bye")) == (1, 2)


def test_quiet_says_nothing(tmp_path: Path) -> None:
    assert tdbg_run(["-q", "-c", "print(1)"], tmp_path) == Result(0, "1\n", "")


def test_json_on_standard_error(tmp_path: Path) -> None:
    result = tdbg_run(["--json", "-c", "print(1)"], tmp_path)
    assert result.out == "1\n"
    assert json.loads(result.err) == {
        "trace": None,
        "verdict": "clean",
        "coverage": {"notes": [NOT_USED.removeprefix("tdbg: ")]},
    }


def test_nothing_heavy_is_loaded_before_the_program(tmp_path: Path) -> None:
    code = (
        "import sys; print({'numpy', 'pyarrow', 'duckdb', 'rich', 'multiprocessing', 'tensorflow'} & set(sys.modules))"
    )
    assert tdbg_run(["-c", code], tmp_path).out == "set()\n"


def test_a_fault_of_tdbg_leaves_the_program_alone(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("version = 1\n")  # not the one that tdbg can attach to
    (tmp_path / "train.py").write_text("import sys, tensorflow; print(tensorflow.version); sys.exit(3)\n")
    result = tdbg_run(["train.py"], tmp_path)
    assert (result.status, result.out, result.program_err) == (3, "1\n", "")
    assert "tdbg failed while attaching to tensorflow" in result.err
    assert result.err.endswith("tdbg: nothing was recorded\n")


# ---- wrong usage is said before the program starts


def _make_trace(path: Path) -> Path:
    path.mkdir()
    (path / "trace.json").write_text('{"format": "tdbg", "version": 1}')
    return path


WRONG = {
    "no program": ([], "which program?"),
    "only --": (["--"], "which program?"),
    "no module": (["-m"], "-m needs a module"),
    "no code": (["-q", "-c"], "-c needs code"),
    "missing script": (["nowhere.py", "a"], "can't open file"),
    "python before script": (["python", "train.py"], "leave 'python' out: tdbg run train.py"),
    "unknown option": (["--colour", "ran.py"], "--colour"),
    "unknown mode": (["--mode", "all", "ran.py"], "unknown mode 'all'"),
    "bad range": (["--steps", "9:2", "ran.py"], "empty range"),
    "no number": (["--every", "x", "ran.py"], "--every"),
    "bad expression": (["--ops", "(", "ran.py"], "not a regular expression"),
    "small ring": (["--ring", "3", "ran.py"], "at least 64"),
    "trace exists": (["-o", "old.tdbg", "ran.py"], "to overwrite it, use --force"),
    "force on other folder": (["--force", "-o", "data", "ran.py"], "only overwrites traces"),
    "force on a file": (["--force", "-o", "ran.py", "ran.py"], "only overwrites traces"),
    "below a file": (["-o", "ran.py/x.tdbg", "ran.py"], "this is a file"),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_usage(tmp_path: Path, words: list[str], sentence: str) -> None:
    (tmp_path / "ran.py").write_text("print('the program ran')")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "keep").write_text("mine")
    _make_trace(tmp_path / "old.tdbg")
    before = sorted(tmp_path.rglob("*"))
    result = tdbg_run(words, tmp_path)
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith("tdbg: ")
    assert result.err.count("\n") == 1
    assert sentence in result.err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder_is_known_before(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    result = tdbg_run(["-c", "print(1)"], tmp_path)
    tmp_path.chmod(0o755)
    assert result.status == 2
    assert "not writable" in result.err


def test_program_that_does_not_compile_keeps_the_old_trace(folder: Path) -> None:
    old = _make_trace(folder / "old.tdbg")
    assert tdbg_run(["--force", "-o", "old.tdbg", "breaks.py"], folder).status == 1
    assert old.exists()


def test_force_removes_the_old_trace(tmp_path: Path) -> None:
    old = _make_trace(tmp_path / "old.tdbg")
    assert tdbg_run(["--force", "-o", "old.tdbg", "-c", ""], tmp_path).status == 0
    assert not old.exists()


# ---- with TensorFlow

BAD = """\
import atexit, glob, os, sys, threading
import tensorflow as tf

@tf.function
def loss(x):
    return tf.reduce_sum(tf.math.log(x))

def late():
    threading.main_thread().join()
    print("late", float(loss(tf.constant([1.0, 0.0]))))

atexit.register(lambda: print("closed", len(glob.glob("run.tdbg/*/end.json"))))
print(float(loss(tf.constant([1.0, 1.0]))))
threading.Thread(target=late).start()
os.mkdir("elsewhere")
{end}
"""


def _train(folder: Path, end: str, *options: str) -> Result:
    (folder / "train.py").write_text(BAD.format(end=end))
    return tdbg_run(["-o", "run.tdbg", *options, "train.py"], folder)


def test_verdict_of_a_failing_program(tmp_path: Path) -> None:
    result = _train(tmp_path, "raise RuntimeError('stop')")
    assert result.status == 1
    assert result.out == "0.0\nlate -inf\nclosed 1\n"
    assert "RuntimeError: stop" in result.err
    lines = result.err[result.err.index("tdbg: ") :].splitlines()
    assert len(lines) <= 8
    assert "Log" in lines[0]
    assert "train.py:6" in lines[1]
    assert lines[-1].startswith("next:  tdbg ")
    assert lines[-1].endswith(" run.tdbg")
    end = json.loads(next(tmp_path.glob("run.tdbg/*/end.json")).read_text())
    assert (end["how"], end["status"]) == ("exception", 1)
    why = python(["-m", "tdbg", "why"], tmp_path)
    assert why.status == 1
    assert why.out.splitlines()[:2] == lines[:2]


def test_interrupted_program(tmp_path: Path) -> None:
    result = _train(tmp_path, "os.chdir('elsewhere'); os.kill(os.getpid(), 2)\nwhile True: pass", "--json")
    assert result.status == -signal.SIGINT
    assert "KeyboardInterrupt" in result.err
    verdict = json.loads(result.err.splitlines()[-1])
    assert verdict["verdict"] == "bad_values"
    end = json.loads(next(tmp_path.glob("run.tdbg/*/end.json")).read_text())
    assert (end["how"], end["status"]) == ("interrupted", 130)
