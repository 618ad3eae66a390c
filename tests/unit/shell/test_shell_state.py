"""What is kept between prompts: settings and history."""

import json

from tdbg.shell.line_history import LineHistory
from tdbg.shell.settings import Settings, state_folder


def test_settings_are_kept_in_the_file_that_is_named(tmp_path):
    path = tmp_path / "new folder" / "tfdbg_config"
    Settings.of_user(path).set("graph_recursion_depth", "7")
    assert Settings.of_user(str(path))["graph_recursion_depth"] == 7
    assert json.loads(path.read_text())["mouse_mode"] is True


def test_a_bad_file_gives_one_warning_and_the_usual_settings(tmp_path):
    path = tmp_path / "settings.json"
    for text, reason in (("{", "Expecting property name"), ("[1]", "it does not contain a JSON object")):
        path.write_text(text)
        settings = Settings(path)
        assert reason in settings.warning and settings["graph_recursion_depth"] == 20
    path.write_text('{"graph_recursion_depth": -4, "mouse_mode": false}')
    settings = Settings(path)
    assert "graph_recursion_depth must be a number of at least 1, not '-4'" in settings.warning
    assert settings["graph_recursion_depth"] == 20 and settings["mouse_mode"] is False


def test_the_state_folder_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TDBG_STATE", str(tmp_path / "state"))
    assert state_folder() == tmp_path / "state"
    LineHistory.of_user().add("lt")
    assert (tmp_path / "state" / "history").read_text() == "lt\n"
    monkeypatch.delenv("TDBG_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "tdbg"


def test_history_goes_on_and_is_searched_by_prefix(tmp_path):
    path = tmp_path / "history"
    first = LineHistory(path)
    for line in ("lt", "lt", "pt x:0", "", "ni x", "pt y:0", "pt x:0"):
        first.add(line)
    again = LineHistory(path)
    assert again.lines == ["lt", "pt x:0", "ni x", "pt y:0", "pt x:0"]
    assert again.with_prefix("pt") == ["pt x:0", "pt y:0"]
    for number in range(3000):
        again.add(f"ni node_{number}")
    assert len(again.lines) == len(LineHistory(path).lines) == 1000
    assert LineHistory(path).lines[-1] == "ni node_2999"


def test_a_history_that_cannot_be_kept_disturbs_nobody(tmp_path):
    (tmp_path / "file").write_text("")
    history = LineHistory(tmp_path / "file" / "history")
    history.add("lt")
    history.add("ri")
    assert history.lines == ["lt", "ri"]
