"""The pytest plugin around real TensorFlow tests, each in a pytest of its own."""

from __future__ import annotations

import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import tdbg

pytest.importorskip("tensorflow")
pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]

TESTS = """
    import pytest, tensorflow as tf

    @tf.function
    def log(x):
        return tf.math.log(x)

    @pytest.mark.parametrize("value", [1.0, -1.0])
    def test_fails(value):
        assert float(log(tf.constant(value))) > 5.0

    def test_passes_with_nan():
        log(tf.constant(-1.0))

    def test_is_well():
        log(tf.constant(1.0))

    def test_needs_no_tensorflow():
        assert True

    class TestTogether:
        @pytest.fixture(scope="class")
        @classmethod
        def weights(cls):
            return tf.Variable([1.0, -1.0])

        def test_one(self, weights):
            assert float(log(weights)[0]) == 0.0

        def test_two(self, weights):
            weights.assign([1.0, 2.0])
            assert float(log(weights)[0]) == 0.0
"""


def run(pytester: pytest.Pytester, *words: str) -> Any:
    """A pytest of its own, which has the plugin from where tdbg is installed, else from here."""
    installed = {entry.value for entry in entry_points(group="pytest11")}
    plugin = [] if "tdbg.pytest_plugin" in installed else ["-p", "tdbg.pytest_plugin"]
    return pytester.runpytest_subprocess(*plugin, "-p", "no:cacheprovider", *words)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setenv("TDBG_STRICT", "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(tdbg.__file__).parents[1]))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


def traces(pytester: pytest.Pytester, folder: str = ".tdbg") -> list[str]:
    return sorted(path.name.rpartition("-")[0] for path in (pytester.path / folder).glob("*.tdbg"))


def test_failing_tests_show_the_verdict_and_keep_their_traces(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester, "--tdbg")
    result.assert_outcomes(passed=5, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*test_fails?1.0?*",
            "*- tdbg -*",
            "tdbg: no bad values found in * tensors of 1 step",
            "*test_fails?-1.0?*",
            "*- tdbg -*",
            "tdbg: first bad value at step 0, event #*: Log → NaN ×1 of 1",
            " -> test_it.py:5  return tf.math.log(x)",
            "*[[]log_of_negative[]]",
            "next:  tdbg report .tdbg/test_it.py-test_fails--1.0-*.tdbg",
            "*tdbg: passed, with bad values*",
            "test_it.py::test_passes_with_nan: first bad value*Log → NaN ×1 of 1",
            "test_it.py::TestTogether::test_one: first bad value*Log → NaN ×1 of 2",
        ]
    )
    assert traces(pytester) == ["test_it.py-test_fails--1.0", "test_it.py-test_fails-1.0"]


def test_strict_fails_what_passed_with_bad_values(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester, "--tdbg-strict", "--tdbg-keep", "--tdbg-dir", "here", "-n", "2")
    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines(["*test_passes_with_nan*", "tdbg: first bad value at step 0*"])
    assert not (pytester.path / ".tdbg").exists()
    assert {"test_it.py-test_is_well", "test_it.py-TestTogether-test_two"} <= set(traces(pytester, "here"))


def test_without_the_option_nothing_happens(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = run(pytester, "-k", "nan or well")
    result.assert_outcomes(passed=2, deselected=5)
    assert "tdbg" not in result.stdout.str().replace("-p tdbg", "").partition("collected")[2]
    assert not (pytester.path / ".tdbg").exists()


def test_marks(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import pathlib, pytest, tensorflow as tf, tdbg

        @pytest.mark.tdbg
        def test_bad_values_fail():
            tf.math.log(tf.constant(-1.0))

        @pytest.mark.tdbg(fail_on="never", mode="health")
        def test_never_fails():
            tf.math.log(tf.constant(-1.0))

        @pytest.mark.tdbg(ops="Sqrt")
        def test_only_roots():
            tf.math.log(tf.constant(-1.0))

        def test_not_marked():
            tf.math.log(tf.constant(-1.0))

        @pytest.mark.tdbg(mode="helth")
        def test_wrong_mode():
            pass

        @pytest.mark.tdbg(fail_on="nan")
        def test_wrong_choice():
            pass

        @pytest.mark.tdbg
        def test_records_itself(tmp_path):
            tf.math.log(tf.constant(1.0))
            with tdbg.watch(tmp_path / "own.tdbg"):
                tf.math.log(tf.constant(-1.0))
            assert tdbg.open(tmp_path / "own.tdbg").first_bad()["nan"] == 1

        @pytest.mark.tdbg
        def test_switches_off_what_is_not_on():
            assert tdbg.disable() is None
            tf.math.log(tf.constant(1.0))

        @pytest.mark.tdbg
        @pytest.mark.xfail
        def test_expected():
            assert float(tf.math.log(tf.constant(-1.0))) == 0.0

        @pytest.mark.tdbg
        def test_skipped():
            pytest.skip("not today")

        def train():
            weights, targets = tf.Variable(tf.ones([3, 1])), tf.constant([1.0, 2.0, 3.0, 4.0])
            for _ in range(2):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(tf.ones([4, 3]) @ weights - targets))
                weights.assign_sub(0.1 * tape.gradient(loss, weights))

        @pytest.mark.tdbg
        def test_an_alert_is_no_bad_value():
            train()

        @pytest.mark.tdbg(fail_on="trouble")
        def test_an_alert_is_trouble():
            train()
        """
    )
    result = run(pytester, "--strict-markers")
    result.assert_outcomes(passed=6, failed=2, errors=2, xfailed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*unknown mode 'helth'; choose one of: *",
            "*unknown choice 'nan' for fail_on; choose one of: bad_values, trouble, never",
            "tdbg: first bad value at step 0, event #*: Log → NaN ×1 of 1",
            "tdbg: no bad values, but *[[]broadcast_shape[]]",
            "*tdbg: passed, with bad values*",
            "*test_never_fails: first bad value *",
            "*tdbg: passed, but training was not healthy*",
            "*test_an_alert_is_no_bad_value: no bad values, but *[[]broadcast_shape[]]",
        ]
    )
    assert traces(pytester) == ["test_it.py-test_an_alert_is_trouble", "test_it.py-test_bad_values_fail"]


def test_tests_that_do_not_use_tensorflow_load_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import sys

        def test_plain():
            assert not {"numpy", "pyarrow", "duckdb", "tensorflow"} & set(sys.modules)

        def test_still_plain():
            assert not {"numpy", "pyarrow", "duckdb", "tensorflow"} & set(sys.modules)
        """
    )
    run(pytester, "--tdbg-strict", "--tdbg-keep").assert_outcomes(passed=2)
    assert not (pytester.path / ".tdbg").exists()


def test_the_plugin_is_registered() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"tdbg": "tdbg.pytest_plugin"}
