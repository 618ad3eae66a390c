"""tfdbg's listing commands, flag by flag, on a scene in memory."""

import pytest
from small_scene import FILE, LIBRARY
from typed import engine, links, printed, said

from tdbg.capture.control import Action
from tdbg.shell.commands import all_commands
from tdbg.shell.engine import Engine
from tdbg.shell.result import Result
from tdbg.shell.result_data import as_data
from tdbg.shell.settings import SETTINGS, Settings


def names(shell: Engine, line: str) -> list[str]:
    return [row["tensor"] for row in as_data(shell.execute(line))]


# ---- list_tensors


def test_lt_looks_as_people_know_it():
    assert printed(engine(), "lt -f has_inf_or_nan") == [
        '3 of 8 dumped tensor(s) passing filter "has_inf_or_nan":',
        "  t (ms)  Size (B)  Op type  Tensor name",
        " [6.250]        24  Log      cross_entropy/Log:0  -inf ×2",
        " [7.500]        24  Mul      cross_entropy/mul:0  nan ×2",
        "[10.000]         4  Mean     Mean:0               nan ×1",
    ]
    assert printed(engine(), "list_tensors --tensor_filter has_inf_or_nan") == printed(engine(), "lt -f has_inf_or_nan")


def test_lt_filters_are_names_or_conditions():
    shell = engine()
    shell.scene.filters["scalars"] = lambda datum, tensor: tensor.shape == ()
    assert names(shell, "lt -f scalars") == ["Mean:0"]
    assert names(shell, "lt -f 'neg_inf > 0 and op == \"Log\"'") == ["cross_entropy/Log:0"]
    assert 'tensor filter "nothing" does not exist; use has_inf_or_nan, scalars' in said(shell, "lt -f nothing")
    assert "there is no field 'nann'" in said(shell, "lt -f 'nann > 0'")


def test_lt_excludes_nodes_from_the_filter():
    shell = engine()
    assert names(shell, "lt -f has_inf_or_nan -fenn cross.*") == ["Mean:0"]
    assert names(shell, "lt -f has_inf_or_nan --filter_exclude_node_names Mean") == [
        "cross_entropy/Log:0",
        "cross_entropy/mul:0",
    ]
    assert said(shell, "lt -fenn x") == "-fenn (--filter_exclude_node_names) needs -f (--tensor_filter)"


def test_lt_by_node_name_and_op_type():
    shell = engine()
    assert names(shell, "lt -n .*entropy.*") == ["cross_entropy/Log:0", "cross_entropy/mul:0"]
    assert names(shell, "lt --node_name_filter entropy") == []
    assert names(shell, "lt -t Mul") == ["cross_entropy/mul:0"]
    assert names(shell, "lt --op_type_filter M.* -n cross.*") == ["cross_entropy/mul:0"]
    assert printed(shell, "lt -n nothing") == ['0 of 8 dumped tensor(s), node name "nothing"']
    assert said(shell, "lt -t (").startswith("this is not a regular expression")


def test_lt_sorts():
    shell = engine()
    assert names(shell, "lt -s dump_size")[-1] == "weights/Read:0"
    assert names(shell, "lt -s dump_size -r")[0] == "weights/Read:0"
    assert names(shell, "lt --sort_by tensor_name --reverse")[0] == "x:0"
    assert names(shell, "lt -s op_type")[0] == "cross_entropy/Log:0"
    assert names(shell, "lt -s timestamp")[0] == "x:0"
    assert "invalid choice: 'size'" in said(shell, "lt -s size")


def test_lt_links_names_and_titles():
    found = links(engine(), "lt -t Log -s op_type")
    assert found == [
        "lt -s timestamp -t Log",
        "lt -s dump_size -t Log",
        "lt -s op_type -r -t Log",
        "lt -s tensor_name -t Log",
        "pt cross_entropy/Log:0",
    ]
    assert "pt 'labels é:0'" in links(engine(), "lt")


def test_lt_before_anything_ran():
    assert printed(engine(begins=True), "lt") == ["0 dumped tensor(s)"]


# ---- node_info


def test_ni_shows_a_node_and_its_neighbours():
    assert printed(engine(), "ni hidden/MatMul") == [
        "Node hidden/MatMul",
        "",
        "  Op: MatMul",
        "  Device: /job:localhost/device:CPU:0",
        "  Written as: MatMul",
        "  Function: train_step",
        "  Phase: forward",
        "",
        "2 input(s) + 0 control input(s):",
        "  2 input(s):",
        "    [Placeholder] x",
        "    [ReadVariableOp] weights/Read",
        "",
        "1 recipient(s) + 0 control recipient(s):",
        "  1 recipient(s):",
        "    [Softmax] Softmax",
    ]
    assert printed(engine(), "node_info hidden/MatMul:0") == printed(engine(), "ni hidden/MatMul")
    assert "ni -t x" in links(engine(), "ni hidden/MatMul")


def test_ni_control_edges():
    lines = printed(engine(), "ni init")
    assert "0 input(s) + 1 control input(s):" in lines
    assert lines[-3:] == ["  2 control recipient(s):", "    [ReadVariableOp] weights/Read", "    [Mean] Mean"]


def test_ni_attributes():
    for flag in ("-a", "--attributes"):
        assert printed(engine(), f"ni {flag} Softmax")[-4:] == [
            "Node attributes:",
            "  T: float32",
            "  _class: ['loc:@weights']",
            '  fused_ops: list { s: "BiasAdd" s: "Relu" }',
        ]


def test_ni_dumps():
    for flag in ("-d", "--dumps"):
        lines = printed(engine(), f"ni {flag} cross_entropy/Log")
        assert lines[-2:] == ["1 dumped tensor(s):", "  Slot 0 @ DebugIdentity @ 6.250 ms  -inf ×2"]
    assert "pt cross_entropy/Log:0" in links(engine(), "ni -d cross_entropy/Log")
    assert printed(engine(), "ni -d weights")[-1] == "0 dumped tensor(s)"


def test_ni_traceback_shows_the_line_and_its_text():
    for flag in ("-t", "--traceback"):
        assert printed(engine(), f"ni {flag} cross_entropy/Log")[-6:] == [
            "Traceback of node construction:",
            f"-> 0: {FILE}",
            "     Line:     6",
            "     Function: loss_of",
            '     Text:     "loss = -labels * tf.math.log(probabilities)"',
            "   (1 library line)",
        ]
    assert f"   1: {LIBRARY}" in printed(engine(), "ni -a -t cross_entropy/Log")
    assert f"ps -b 6 {FILE}" in links(engine(), "ni -t cross_entropy/Log")
    assert printed(engine(), "ni -t x")[-1] == "The lines that created this node are unknown."


def test_ni_as_data():
    found = as_data(engine().execute("ni -a -d -t cross_entropy/Log"))
    assert found["op_type"] == "Log" and found["inputs"] == [{"node": "Softmax", "slot": 0, "op_type": "Softmax"}]
    assert found["traceback"][0]["line"] == 6 and found["attributes"]["T"] == "float32"
    assert found["dumps"][0]["tensor"] == "cross_entropy/Log:0"


# ---- list_inputs, list_outputs


def test_li_lists_inputs():
    assert printed(engine(), "li hidden/MatMul") == [
        'Inputs to node "hidden/MatMul" (Depth limit = 1):',
        "|- (1) x",
        "|- (1) weights/Read",
        "",
        "Legend:",
        "  (d): recursion depth = d.",
    ]
    assert printed(engine(), "list_inputs x")[1] == "  [None] (no inputs)"


def test_li_is_a_tree_with_op_types_and_control_marks():
    lines = printed(engine(), "li -r -c -t Mean")
    assert lines[0] == 'Inputs to node "Mean" (Depth limit = 20, control inputs included):'
    assert lines[1:12] == [
        "|- (1) [Mul] cross_entropy/mul",
        "|  |- (2) [Placeholder] labels é",
        "|  |- (2) [Log] cross_entropy/Log",
        "|     |- (3) [Softmax] Softmax",
        "|        |- (4) [MatMul] hidden/MatMul",
        "|           |- (5) [Placeholder] x",
        "|           |- (5) [ReadVariableOp] weights/Read",
        "|              |- (6) [VarHandleOp] weights",
        "|              |- (6) (Ctrl) [NoOp] init",
        "|                 |- (7) (Ctrl) [Mean] Mean  (see above)",
        "|- (1) (Ctrl) [NoOp] init  (see above)",
    ]
    assert printed(engine(), "li --recursive --control --op_type Mean") == lines


def test_li_stops_at_a_depth():
    lines = printed(engine(), "li -r -d 2 Mean")
    assert lines[0] == 'Inputs to node "Mean" (Depth limit = 2):'
    assert lines[1:5] == [
        "|- (1) cross_entropy/mul",
        "   |- (2) labels é",
        "   |- (2) cross_entropy/Log",
        "      |- ...",
    ]
    assert printed(engine(), "li -r --depth 2 Mean") == lines
    assert "list_inputs -r -d 3 cross_entropy/Log" in links(engine(), "li -r -d 2 Mean")
    assert said(engine(), "li -r -d 0 Mean") == "-d (--depth) must be 1 or more"
    shell = engine()
    shell.execute("config set graph_recursion_depth 2")
    assert printed(shell, "li -r Mean") == lines


def test_lo_lists_recipients():
    assert printed(engine(), "lo -r -t -d 2 Softmax")[:4] == [
        'Recipients of node "Softmax" (Depth limit = 2):',
        "|- (1) [Log] cross_entropy/Log",
        "   |- (2) [Mul] cross_entropy/mul",
        "      |- ...",
    ]
    assert (
        printed(engine(), "list_outputs --recursive --op_type --depth 2 Softmax")[:4]
        == (printed(engine(), "lo -r -t -d 2 Softmax")[:4])
    )
    assert "|- (1) (Ctrl) Mean" in printed(engine(), "lo -c init")
    assert printed(engine(), "lo --control init")[0] == (
        'Recipients of node "init" (Depth limit = 1, control recipients included):'
    )
    assert printed(engine(), "lo init")[1] == "  [None] (no recipients)"


def test_a_graph_of_many_ways_stays_a_short_tree():
    """Each node is expanded once, so 2**40 paths are 80 lines."""
    from tdbg.scene import Edge, Node

    class Ladder:
        def node(self, name):
            number = int(name)
            edges = [Edge(str(number + 1), 0, "Add")] * 2 if number < 40 else []
            return Node(name, "Add", "", edges, [], [], [], {}, [])

    assert len(printed(Engine(Ladder()), "li -r -d 50 0")) == 80 + 4


# ---- list_source, print_source


def test_ls_counts_by_file():
    assert printed(engine(), "ls") == [
        "List of source files that created nodes in this run",
        "",
        "Source file path          #(nodes)  #(tensors)  #(tensor dumps)",
        "/home/ada/debug_mnist.py         5           5                8",
        "",
        "and 1 library file(s), which -p lists too",
    ]
    assert f"ps -b 4 {FILE}" in links(engine(), "ls")


def test_ls_filters():
    assert LIBRARY in "\n".join(printed(engine(), "list_source -p .*keras.*"))
    assert printed(engine(), "ls --path_filter nothing")[-1] == "[No source file information.]"
    for flag in ("-n", "--node_name_filter"):
        (row,) = as_data(engine().execute(f"ls {flag} .*Log"))
        assert (row["nodes"], row["tensors"], row["dumps"]) == (1, 1, 1)


def test_ps_annotates_lines_with_nodes():
    lines = printed(engine(), "ps debug_mnist.py")
    assert lines[3:9] == [
        "  L4      logits = tf.matmul(x, weights)",
        "          ● weights/Read",
        "          ● hidden/MatMul",
        "  L5      probabilities = tf.nn.softmax(logits)",
        "          ● Softmax",
        "! L6      loss = -labels * tf.math.log(probabilities)",
    ]
    assert printed(engine(), f"print_source {FILE}") == lines
    assert "ni -t Softmax" in links(engine(), "ps debug_mnist.py")
    assert "holds no file 'other.py'" in said(engine(), "ps other.py")


def test_ps_with_tensors_from_a_line_on_and_few_of_each():
    lines = printed(engine(), "ps -t -b 6 -m 1 debug_mnist.py")
    assert lines == [
        "(... Omitted 5 source lines ...) +0",
        "! L6      loss = -labels * tf.math.log(probabilities)",
        "          ● cross_entropy/Log:0",
        "          (... Omitted 1 of 2 tensor(s) ...) +1",
        "  L7      return tf.reduce_mean(loss)",
        "          ● Mean:0",
    ]
    long = "ps --tensors --line_begin 6 --max_elements_per_line 1 debug_mnist.py"
    assert printed(engine(), long) == lines
    assert "ps -b 6 -t -m 2 debug_mnist.py" in links(engine(), "ps -t -b 6 -m 1 debug_mnist.py")
    assert said(engine(), "ps -b 99 debug_mnist.py") == "-b (--line_begin) 99: the file has lines 1 to 7"
    assert said(engine(), "ps -m 0 debug_mnist.py") == "-m (--max_elements_per_line) must be 1 or more"


# ---- profiles


def test_ps_of_a_profile_shows_what_lines_cost():
    shell = engine(profiled=True)
    lines = printed(shell, "ps --cost_type op_time debug_mnist.py")
    assert lines[0] == FILE
    assert [line.split() for line in lines if "us " in line] == [
        ["L4", "|" * 20, "250us", "1(1)", "logits", "=", "tf.matmul(x,", "weights)"],
        ["L6", "|||||", "60us", "2(2)", "loss", "=", "-labels", "*", "tf.math.log(probabilities)"],
    ]
    assert any("0.3ms" in line for line in printed(shell, "ps --cost_type exec_time --time_unit ms debug_mnist.py"))
    assert any("50us" in line for line in printed(shell, "ps --cost_type op_time -n .*Log debug_mnist.py"))
    by_long = "ps --cost_type op_time --node_name_filter .*Log debug_mnist.py"
    assert printed(shell, by_long) == printed(shell, "ps --cost_type op_time -n .*Log debug_mnist.py")
    assert any("10us" in line for line in printed(shell, "ps --cost_type op_time -t Mul debug_mnist.py"))
    assert any("10us" in line for line in printed(shell, "ps --cost_type op_time --op_type_filter Mul debug_mnist.py"))
    assert not any("us " in line for line in printed(shell, "ps -d .*GPU.* debug_mnist.py"))
    assert not any("us " in line for line in printed(shell, "ps --device_name_filter .*GPU.* debug_mnist.py"))
    assert len(printed(shell, "ps --init_line 6 debug_mnist.py")) == 2 + 2
    assert "there is no profile here" in said(engine(), "ps --cost_type op_time debug_mnist.py")


def test_ps_after_run_p_needs_no_flag():
    assert any("300us" in line for line in printed(engine(profiled=True, begins=True), "ps debug_mnist.py"))
    assert any("● Softmax" in line for line in printed(engine(profiled=True, begins=True), "ps -b 1 debug_mnist.py"))


def nodes(line: str) -> list[str]:
    return [row["node"] for row in as_data(engine(profiled=True).execute(line)) if "node" in row]


def test_lp_looks_as_people_know_it():
    assert printed(engine(profiled=True), "lp -n hidden.*") == [
        "Device 1 of 1: /job:localhost/device:CPU:0",
        "Node           Op Type  Start Time (us)  Op Time (us)  Exec Time (us)  Filename:Lineno(function)",
        "hidden/MatMul  MatMul             100.0       250.0us         300.0us  debug_mnist.py:4(loss_of)",
        "1 node(s): 250us in ops, 300us with execution",
    ]
    assert f"ps --init_line 4 {FILE}" in links(engine(profiled=True), "list_profile")
    assert "there is no profile here" in said(engine(), "lp")


def test_lp_filters():
    assert nodes("lp -d .*GPU.*") == nodes("lp --device_name_filter .*GPU.*") == []
    assert nodes("lp --node_name_filter .*Log") == ["cross_entropy/Log"]
    assert nodes("lp -t Mul") == nodes("lp --op_type_filter Mul") == ["cross_entropy/mul"]
    assert nodes("lp -f .*mnist.*") == nodes("lp --file_path_filter .*mnist.*")
    assert len(nodes("lp -f .*mnist.*")) == 3
    assert nodes("lp -f .*mnist.* --min_lineno 4 --max_lineno 6") == ["hidden/MatMul"]
    assert nodes("lp -e >100us") == nodes("lp --execution_time '>100us'") == ["hidden/MatMul"]
    assert nodes("lp -o [10us, 50us]") == nodes("lp --op_time [10us,50us]")
    assert nodes("lp -o [10us, 50us]") == ["cross_entropy/Log", "cross_entropy/mul"]
    assert "not a time range: 7" in said(engine(profiled=True), "lp -e 7")


def test_lp_sorts_and_shows_other_units():
    assert nodes("lp")[0] == nodes("lp -s start_time")[0] == "_SOURCE"
    assert nodes("lp -s op_time -r")[0] == nodes("lp --sort_by exec_time --reverse")[0] == "hidden/MatMul"
    assert nodes("lp -s node")[0] == "_SOURCE" and nodes("lp -s op_type")[0] == "cross_entropy/Log"
    assert nodes("lp -s line")[1] == "hidden/MatMul"
    assert "0.250ms" in "\n".join(printed(engine(profiled=True), "lp --time_unit ms"))


# ---- run, run_info


def act(line: str) -> Action | None:
    return engine(is_held=True).execute(line).action


def test_run_is_an_action():
    assert act("run") == act("r") == Action()
    assert act("run -t 10") == act("run --times 10") == Action(times=10)
    assert act("run -n") == act("run --no_debug") == Action(debug=False)
    assert act("run -p") == act("run --profile") == Action(profile=True)
    assert act("run -f has_inf_or_nan") == act("run --till_filter_pass has_inf_or_nan")
    assert act("run -f 'nan > 0' -fenn .*grad.*") == Action(until_filter="nan > 0", exclude_nodes=".*grad.*")
    assert act("run -f bad --filter_exclude_node_names x") == Action(until_filter="bad", exclude_nodes="x")
    assert act("run --node_name_filter a --op_type_filter b --tensor_dtype_filter c") == Action(
        node_name_filter="a", op_type_filter="b", tensor_dtype_filter="c"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run -f nothing", 'tensor filter "nothing" does not exist'),
        ("run -fenn x", "-fenn (--filter_exclude_node_names) needs -f (--till_filter_pass)"),
        ("run -f bad -n", "-f checks the tensors of every run, so it cannot be combined with -n or -p"),
        ("run -t 0", "-t (--times) must be 1 or more"),
        ("run -t many", "invalid int value: 'many'"),
        ("run --op_type_filter (", "this is not a regular expression"),
    ],
)
def test_run_says_what_makes_no_sense(line, message):
    assert message in said(engine(is_held=True), line)


def test_run_outside_of_a_program_says_what_to_do_instead():
    assert "tdbg run train.py" in said(engine(), "run")


def test_ri_shows_fetches_and_feeds():
    lines = printed(engine(), "ri")
    assert lines[1:] == [
        "run #4: 1 fetch (Mean:0); 2 feeds",
        "",
        "Fetch(es):",
        "  Mean:0",
        "",
        "Target node(s):",
        "  init",
        "",
        "Feed dict:",
        "  x:0",
        "  labels é:0",
        lines[0],
    ]
    assert "pf 'labels é:0'" in links(engine(), "run_info")
    held = printed(engine(is_held=True), "ri")
    assert any(line.startswith("  run -f <filter>") and "has_inf_or_nan" in line for line in held)


# ---- config, mouse, help


def test_config_shows_and_sets(tmp_path):
    shell = engine(settings=Settings(tmp_path / "settings.json"))
    assert printed(shell, "config show") == printed(shell, "cfg")
    assert printed(shell, "config set graph_recursion_depth 3") == ["graph_recursion_depth is now 3"]
    assert "graph_recursion_depth: 3 " in printed(shell, "cfg show")[1]
    assert shell.execute("config set mouse_mode off").controls == {"mouse": False}
    assert Settings(tmp_path / "settings.json")["mouse_mode"] is False
    assert (
        said(shell, "config set graph_recursion_depth 0")
        == "graph_recursion_depth must be a number of at least 1, not '0'"
    )
    assert f"the settings are: {', '.join(SETTINGS)}" in said(shell, "config set colour red")
    assert "config set SETTING VALUE" in said(shell, "config set")


def test_mouse_is_switched():
    shell = engine()
    assert shell.execute("mouse off").controls == {"mouse": False}
    assert printed(shell, "m on") == ["mouse mode is on"]
    assert printed(shell, "m") == ["mouse mode is off"]
    assert "invalid choice" in said(shell, "mouse up")


def test_help_has_every_command_and_all_flags():
    shell = engine()
    overview = "\n".join(printed(shell, "help"))
    for command in all_commands().values():
        assert f"\n  {command.name} " in overview
        about = "\n".join(printed(shell, f"help {command.name}"))
        flags = {
            flag
            for parser in command.parsers().values()
            for action in parser._actions
            for flag in action.option_strings
        }
        assert all(flag in about for flag in flags)
        assert all(action.help for parser in command.parsers().values() for action in parser._actions), command.name
        assert command.summary().endswith((".", "…")), command.name
    assert printed(shell, "h lt") == printed(shell, "help list_tensors")
    assert "max_abs" in "\n".join(printed(shell, "help filters"))
    assert "did you mean 'lt'" in said(shell, "help ltt")
    assert isinstance(shell.execute("help"), Result)
