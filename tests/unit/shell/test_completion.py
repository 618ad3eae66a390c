"""Tab: what could stand for the word under the cursor."""

from small_scene import FILE
from typed import engine

from tdbg.shell.completion import completions


def offered(line: str, cursor: int | None = None) -> list[str]:
    return [one.text for one in engine().complete(line, cursor)]


def test_commands_come_with_what_they_do():
    found = {one.text: one.description for one in engine().complete("l")}
    assert {"list_tensors", "lt", "list_inputs", "li", "lp"} <= set(found)
    assert found["lt"] == "Lists the tensors seen in this step or run."
    assert offered("ver; list_i") == ["list_inputs"]
    assert len(offered("")) > 20


def test_flags_come_with_what_they_do():
    found = {one.text: one.description for one in engine().complete("lt -")}
    assert found["-fenn"] == "nodes for the filter to ignore"
    assert offered("lt --tensor") == ["--tensor_filter"]


def test_arguments_are_offered_by_what_they_are():
    assert offered("ni cross") == ["cross_entropy/Log", "cross_entropy/mul"]
    assert offered("li -r -d 3 Soft") == ["Softmax"]
    assert offered("lo Soft") == ["Softmax"]
    for word in ("pt", "where", "history"):
        assert offered(f"{word} cross_entropy/L") == ["cross_entropy/Log:0"]
    assert offered("pf x") == ["x:0"]
    assert offered("lt -f h") == ["has_inf_or_nan"]
    assert offered("run -f ") == ["has_inf_or_nan"]
    assert offered("lt -s d") == ["dump_size"]
    assert offered("ps debug") == offered("ps /home") == [FILE]
    assert offered("config set g") == ["graph_recursion_depth"]
    assert offered("config s") == ["show", "set"]
    assert offered("help list_t") == ["list_tensors"]
    assert offered("help f") == ["filters"]


def test_nothing_is_offered_where_nothing_is_known():
    assert offered("nothing x") == []
    assert offered("lt -n ab") == []
    assert offered("ni 'cross") == ["cross_entropy/Log", "cross_entropy/mul"]


def test_the_word_is_that_under_the_cursor():
    assert offered("ni Soft -t", cursor=7) == ["Softmax"]
    assert [one.text for one in completions(engine(), "m on; mouse o")] == ["on", "off"]
