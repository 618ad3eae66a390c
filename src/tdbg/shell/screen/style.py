"""Arranges the parts of the screen, as Textual's style sheet."""

CSS = """
Screen { layout: vertical; background: $background; color: $foreground; }
#title { background: $panel; }
#links { background: $surface; }
#slice { background: $surface; }
#body { height: 1fr; }
#output {
    width: 1fr; height: 100%; padding: 0; background: $background; color: $foreground;
    scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; overflow-x: auto; overflow-y: auto;
    scrollbar-background: $surface; scrollbar-background-hover: $surface; scrollbar-background-active: $surface;
    scrollbar-color: $secondary; scrollbar-color-hover: $primary; scrollbar-color-active: $primary;
    scrollbar-corner-color: $background;
}
#beside { height: 100%; padding: 0 1; background: $surface; overflow: hidden; }
#message { height: auto; max-height: 5; padding: 0 1; background: $surface; }
#menu { background: $panel; height: 8; }
#rule { background: $background; color: $secondary; }
#line { height: 1; }
#label { width: auto; height: 1; color: $accent; text-style: bold; }
#prompt {
    width: 1fr; height: 1; border: none; padding: 0; background: $background; color: $foreground;
}
#prompt:focus { border: none; background: $background; background-tint: $foreground 0%; }
#prompt > .input--suggestion { color: $secondary; }
#hint { width: auto; height: 1; color: $secondary; }
#question { background: $accent; color: $background; text-style: bold; }
#keys { background: $panel; }
"""
