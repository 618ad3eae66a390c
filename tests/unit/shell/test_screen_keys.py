"""What keys and clicks do on the screen."""

import re

from screen_pilot import TriedEngine, drive, seen, settled, typed, until
from small_scene import SmallScene
from textual import events

from tdbg.capture.control import Action, Kind, Pause
from tdbg.shell.screen.bars import Bar, Links
from tdbg.shell.screen.output import Output
from tdbg.shell.screen.prompt import Menu, Prompt
from tdbg.shell.screen.questions import Question
from tdbg.shell.screen.theme import links_of

PAUSE = Pause("breakpoint", "breakpoint", SmallScene(), "lt")


def prompt_of(app):
    return app.query_one(Prompt)


def test_history_by_prefix_and_its_ghost():
    engine = TriedEngine()
    for line in ("ni Mean", "lt -r", "ni Softmax"):
        engine.history.add(line)

    async def play(app, pilot):
        await typed(pilot, "ni", "up")
        assert prompt_of(app).value == "ni Softmax"
        await typed(pilot, "", "up")
        assert prompt_of(app).value == "ni Mean"
        await typed(pilot, "", "up", "down", "down")
        assert prompt_of(app).value == "ni"
        await typed(pilot, "", "right")
        assert prompt_of(app).value == "ni Softmax", "the ghost is taken with the right arrow"
        await typed(pilot, "", "ctrl+c")
        assert prompt_of(app).value == ""
        await typed(pilot, "lt")
        assert engine.history.lines[-1] == "lt"

    drive(play, engine=engine)


def test_completion():
    async def play(app, pilot):
        menu = app.query_one(Menu)
        await typed(pilot, "ni cross", "tab")
        assert prompt_of(app).value == "ni cross_entropy/", "as much as all of them share"
        assert menu.display
        await typed(pilot, "m", "escape")
        assert not menu.display
        await typed(pilot, "", "backspace", "tab")
        assert menu.display
        await typed(pilot, "", "tab", "enter")
        assert (prompt_of(app).value, menu.display) == ("ni cross_entropy/mul ", False)
        await typed(pilot, "", "ctrl+c")
        await typed(pilot, "ni Soft", "tab")
        assert prompt_of(app).value == "ni Softmax ", "the only one is taken"
        await typed(pilot, "", "ctrl+c")
        await typed(pilot, "ni lab", "tab")
        assert prompt_of(app).value == "ni 'labels é' ", "a name with a space has quotes"
        await typed(pilot, "", "ctrl+c")
        await typed(pilot, "ni cross", "tab")
        await pilot.click(menu, offset=(3, 0))
        await settled(pilot)
        assert prompt_of(app).value == "ni cross_entropy/Log "
        await typed(pilot, "", "ctrl+c")
        await typed(pilot, "zzz", "tab")
        assert (prompt_of(app).value, menu.display) == ("zzz", False)

    drive(play)


def test_links_with_the_keyboard():
    engine = TriedEngine()

    async def play(app, pilot):
        output = app.query_one(Output)
        await typed(pilot, "", "tab")
        assert output.has_focus
        assert "follow" in seen(app).splitlines()[-1]
        await typed(pilot, "", *["tab"] * 4, "shift+tab", "tab")
        line, place = output.at
        links = [span.link for span in output.pages.line(line) if span.link]
        await typed(pilot, "", "enter")
        assert engine.done[-1] == links[place]
        await typed(pilot, "", "tab")
        await typed(pilot, "", "v", "e", "r", "enter")
        assert engine.done[-1] == "ver", "letters go to the prompt"

    drive(play, engine=engine)


def test_the_links_above_the_output():
    engine = TriedEngine()

    async def play(app, pilot):
        await typed(pilot, "", "shift+tab")
        links = app.query_one(Links)
        assert links.has_focus
        every = [span.link for span in links_of(links._left)]
        assert len(every) > 4
        await typed(pilot, "", *["right"] * (len(every) - 1))
        assert seen(app).splitlines()[1].rstrip().endswith("print_source"), "what does not fit comes into view"
        await typed(pilot, "", "right", "tab", "enter")
        assert engine.done[-1] == every[1]
        assert prompt_of(app).has_focus
        await typed(pilot, "pt Softmax:0")
        await typed(pilot, "", "shift+tab", "escape")
        assert prompt_of(app).has_focus

    drive(play, engine=engine, first="pt Softmax:0", size=(60, 15))


def test_links_with_the_mouse_and_the_way_back():
    engine = TriedEngine()

    async def play(app, pilot):
        output, title = app.query_one(Output), app.query_one("#title", Bar)
        row = next(n for n, line in enumerate(seen(app).splitlines()) if "Softmax:0" in line)
        await pilot.click(output, offset=(seen(app).splitlines()[row].index("Softmax:0") + 2, row - 1))
        await settled(pilot)
        assert engine.done[-1] == "pt Softmax:0"
        assert 'Tensor "Softmax:0' in seen(app)
        await typed(pilot, "", "alt+left")
        assert "8 dumped tensor(s)" in seen(app)
        await typed(pilot, "", "alt+right")
        assert 'Tensor "Softmax:0' in seen(app)
        at = seen(app).splitlines()[0].index("◀")
        await pilot.click(title, offset=(at, 0))
        await settled(pilot)
        assert "8 dumped tensor(s)" in seen(app)
        await typed(pilot, "", "ctrl+right", "ctrl+left")
        assert engine.done[-2:] == ["next", "prev"]
        await typed(pilot, "prev")
        assert "no screen before this one" in seen(app)

    drive(play, engine=engine)


def test_back_finds_the_place_that_was_left():
    async def play(app, pilot):
        output = app.query_one(Output)
        await typed(pilot, "", "pagedown", "pagedown", "ctrl+up")
        top = output.top
        assert top > 30
        await typed(pilot, "version")
        await typed(pilot, "", "alt+left")
        assert output.top == top

    drive(play, first="many")


def test_search():
    async def play(app, pilot):
        output = app.query_one(Output)
        await typed(pilot, "/cross")
        assert "/cross 1 of 2" in seen(app)
        await typed(pilot, "/")
        assert "/cross 2 of 2" in seen(app)
        await typed(pilot, "")
        assert "/cross 1 of 2" in seen(app), "round and round"
        await typed(pilot, "", "tab")
        await typed(pilot, "", "N")
        assert "/cross 2 of 2" in seen(app)
        await typed(pilot, "", "n")
        assert "/cross 1 of 2" in seen(app)
        await typed(pilot, "", "escape", "escape")
        assert "/cross" not in seen(app)
        await typed(pilot, "/zebra")
        assert "no line on this screen matches: zebra" in seen(app)
        await typed(pilot, "/[")
        assert "not a regular expression" in seen(app)
        await typed(pilot, "many")
        await typed(pilot, "/node_14321:")
        assert "1 of 1" in seen(app)
        assert output.top <= 14322 < output.top + output.rows

    engine = TriedEngine()
    engine.rows.count = 20_000
    drive(play, engine=engine)


def test_a_search_ends_when_something_else_is_typed():
    async def play(app, pilot):
        prompt_of(app).fill("/zebra")
        await pilot.press("enter")
        await until(pilot, "(looked at")
        await typed(pilot, "version")
        assert "── version" in seen(app)

    drive(play, first="many")


def test_a_command_that_takes_long_is_stopped():
    async def play(app, pilot):
        for key in ("escape", "ctrl+c"):
            await pilot.press(*"slow", "enter")
            await until(pilot, "slow", "Esc stops it")
            await typed(pilot, "", key)
            assert "stopped" in seen(app)
        await typed(pilot, "version")
        assert "tdbg " in seen(app)

    drive(play)


def test_questions():
    engine = TriedEngine()

    async def play(app, pilot):
        question = app.query_one(Question)
        for keys, done in (
            (["n", "enter"], "ask"),
            (["escape"], "ask"),
            (["enter"], "ask"),
            (["y", "enter"], "version"),
        ):
            await typed(pilot, "ask")
            await typed(pilot, "", *keys)
            assert engine.done[-1] == done and not question.display
        assert prompt_of(app).has_focus

    drive(play, engine=engine)


def test_ctrl_r_searches_the_history():
    async def play(app, pilot):
        for line in ("ni Softmax", "lt -n Log", "lt", "version"):
            await typed(pilot, line)
        await typed(pilot, "", *"lt", "ctrl+r")
        assert app.query_one(Menu).chosen == "lt"
        await pilot.press("ctrl+r")
        assert app.query_one(Menu).chosen == "lt -n Log"
        await typed(pilot, "", "backspace", "backspace", *"oft", "enter")
        assert prompt_of(app).value == "ni Softmax" and not app.query_one(Menu).display

    drive(play)


def test_a_command_that_was_typed_ahead_does_not_answer_a_question():
    engine = TriedEngine()

    async def play(app, pilot):
        await typed(pilot, "ask")
        prompt_of(app).fill("")
        await typed(pilot, "", *"ny", "backspace", "backspace", *"lt")
        assert app.query_one(Question).display and engine.done[-1] == "ask"
        await typed(pilot, "", "enter")
        assert engine.done[-1] == "lt" and not app.query_one(Question).display

    drive(play, engine=engine)


def test_an_action_ends_the_screen():
    async def play(app, pilot):
        await typed(pilot, "exit")

    assert drive(play).return_value == Action(Kind.EXIT)


def test_leaving_a_held_program_asks_how():
    ways = (("ctrl+c", "r", Action()), ("ctrl+d", "d", Action(Kind.DETACH)), ("ctrl+q", "x", Action(Kind.EXIT)))
    for way, key, action in ways:

        async def play(app, pilot, way=way, key=key):
            await typed(pilot, "", way)
            assert app.query_one(Question).display
            await pilot.press(key)

        assert drive(play, pause=PAUSE).return_value == action


def test_without_a_program_the_screen_just_ends():
    async def play(app, pilot):
        await typed(pilot, "", "ctrl+c")
        assert "Ctrl-Q" in seen(app)
        await pilot.press("ctrl+q")

    assert drive(play).return_value == Action(Kind.EXIT)


def test_pages_of_a_tensor():
    async def play(app, pilot):
        await typed(pilot, "cube")
        assert "all 2" in seen(app)
        await typed(pilot, "", "right")
        assert "[0, :, :]" in seen(app)
        assert "1 of 2" in seen(app)
        assert "nan" not in seen(app)
        await typed(pilot, "", "right")
        assert "[1, :, :]" in seen(app)
        assert re.search(r"nan +1 +8.33%", seen(app)), "the panel counts what is shown"
        await typed(pilot, "version")
        await typed(pilot, "", "alt+left")
        assert "[1, :, :]" in seen(app), "the page is found again"
        await typed(pilot, "", "left", "left")
        assert "all 2" in seen(app)
        slice_bar = app.query_one("#slice", Bar)
        await pilot.click(slice_bar, offset=(8, 0))
        await settled(pilot)
        assert prompt_of(app).value == "cube[:, :, :]"

    drive(play, size=(120, 30))


def test_an_element_that_an_ellipsis_hides():
    async def play(app, pilot):
        await typed(pilot, "eval 'np.arange(100000).reshape(1000, 100)'")
        await typed(pilot, "@[500,50]")
        assert "50050" in seen(app)
        assert "100,000" in seen(app), "the panel still counts the whole"
        await typed(pilot, "@[20,3]")
        assert "2003" in seen(app)

    drive(play, size=(120, 30))


def test_eighty_million_elements():
    async def play(app, pilot):
        await typed(pilot, "huge")
        assert "0.5, 0.5, 0.5" in seen(app)
        assert "80,000,000" in seen(app)
        assert "too many to count by default" in seen(app)
        await typed(pilot, "", "end")
        assert "[79, 999, " in seen(app)
        await typed(pilot, "", *["right"] * 3)
        assert "[2, :, :]" in seen(app)
        assert "3 of 80" in seen(app)

    drive(play, size=(120, 30))


def test_scrolling_while_the_prompt_has_the_focus():
    async def play(app, pilot):
        output = app.query_one(Output)
        await typed(pilot, "", "pagedown")
        assert output.top > 20
        await typed(pilot, "", "end")
        assert f"of {len(output.pages):,}" in seen(app)
        assert "node_9999999:0" in seen(app)
        await typed(pilot, "", "home")
        assert output.top == 0
        assert prompt_of(app).has_focus

    drive(play, first="many")


def test_a_fault_is_a_line():
    async def play(app, pilot):
        await typed(pilot, "fault")
        assert "something broke" in seen(app)
        await typed(pilot, "version")
        assert "tdbg " in seen(app)

    drive(play)


def test_the_palette_runs_commands_and_goes_to_moments():
    engine = TriedEngine()

    async def play(app, pilot):
        await typed(pilot, "", "ctrl+p")
        await pilot.press(*"version")
        await until(pilot, "Shows the version")
        await pilot.pause(0.3)
        await typed(pilot, "", "enter")
        await settled(pilot)
        assert engine.done[-1] == "version"
        await typed(pilot, "", "ctrl+p")
        await pilot.press(*"step 2")
        await until(pilot, "8 tensors")
        await pilot.pause(0.3)
        await typed(pilot, "", "enter")
        await settled(pilot)
        assert engine.done[-1] == "steps 2"
        await typed(pilot, "", "ctrl+p")
        await pilot.press(*"print_tensor")
        await until(pilot, "Shows the elements of a tensor")
        await pilot.pause(0.3)
        await typed(pilot, "", "enter")
        await settled(pilot)
        assert prompt_of(app).value == "print_tensor ", "what needs a name is for the person to go on"

    drive(play, engine=engine)


def test_the_palette_stands_before_a_screen_that_goes_on():
    async def play(app, pilot):
        await pilot.press("ctrl+p")
        app.type_line("slow")
        await pilot.resize_terminal(70, 20)
        await pilot.pause(0.5)
        await pilot.press("escape")
        await until(pilot, "Esc stops it")
        await typed(pilot, "", "escape")
        assert "stopped" in seen(app)

    drive(play)


def test_names_cannot_move_the_cursor():
    async def play(app, pilot):
        await typed(pilot, "nonsense\x1b[2J\x07")
        assert "\x1b" not in seen(app)

    drive(play)


def test_a_small_window_grows():
    async def play(app, pilot):
        await pilot.resize_terminal(100, 30)
        await settled(pilot)
        assert "cross_entropy/Log:0  -inf ×2" in seen(app)
        await pilot.resize_terminal(30, 8)
        await settled(pilot)
        await typed(pilot, "version")
        assert "tdbg " in seen(app)

    drive(play, size=(60, 15))


def press_at_once(app, *keys):
    """As from a terminal that was asked late: all of them are there before any was looked at."""
    for key in keys:
        app.post_message(events.Key({"\r": "enter", " ": "space"}.get(key, key), key))


def test_lines_typed_ahead_stay_apart():
    engine = TriedEngine()

    async def play(app, pilot):
        press_at_once(app, *"lt\rversion\rni Mean\r")
        await until(pilot, "Node Mean")
        assert engine.done[-3:] == ["lt", "version", "ni Mean"]

    drive(play, engine=engine)


def test_a_line_typed_while_the_output_has_the_focus():
    engine = TriedEngine()

    async def play(app, pilot):
        await typed(pilot, "", "tab")
        assert app.query_one(Output).has_focus
        press_at_once(app, *"ni Mean\r")
        await until(pilot, "Node Mean")
        assert (engine.done[-1], prompt_of(app).value) == ("ni Mean", "")

    drive(play, engine=engine)
