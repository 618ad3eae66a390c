"""tdbg records what Debugger V2 records: both run the same program, in every mode, and nothing may differ unlisted."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from debugger_v2_comparison import MODES, compare_modes


@pytest.fixture(scope="module")
def differences(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder: Path = tmp_path_factory.mktemp("debugger_v2")
    return compare_modes(folder, list(MODES))


@pytest.mark.parametrize("mode", MODES)
def test_the_same_executions_graph_tensors_numbers_and_lines(differences: dict[str, list[str]], mode: str) -> None:
    assert differences[mode] == []
