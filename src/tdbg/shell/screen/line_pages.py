"""Gives the lines of a layout of any length that are there already; the others are read on the worker, by page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from rich.cells import cell_len

from tdbg.shell.layout import Layout
from tdbg.shell.result import Line, plain
from tdbg.shell.screen.worker import Worker

SIZE = 100
_KEPT = 200
_WAITING = 6  # who drags the scrollbar over ten million rows wants the last pages, not all of them


class LinePages:
    """The lines of a layout. ``line`` gives None for what is not there yet; ``on_ready`` is called, on the worker, when
    more is."""

    def __init__(self, layout: Layout, worker: Worker, on_ready: Callable[[], None]) -> None:
        self.layout = layout
        self.width = 0  # of the widest line so far, in cells
        self._worker, self._on_ready = worker, on_ready
        self._kept: OrderedDict[int, list[Line]] = OrderedDict()
        self._wanted: OrderedDict[int, None] = OrderedDict()
        self._is_loading = False
        self._wanted_changes = threading.Lock()
        self._length = len(layout)

    def __len__(self) -> int:
        return self._length

    def line(self, number: int) -> Line | None:
        page = self._kept.get(number // SIZE)
        if page is None:
            self._want(number // SIZE)
            return None
        self._kept.move_to_end(number // SIZE)
        at = number % SIZE
        return page[at] if at < len(page) else ()

    def load(self, first: int, count: int) -> None:
        """Reads the pages that hold these lines. To be called on the worker."""
        for number in range(max(first, 0) // SIZE, min(first + count, self._length) // SIZE + 1):
            if number not in self._kept:
                self._load(number)

    def _want(self, number: int) -> None:
        with self._wanted_changes:
            self._wanted[number] = None
            self._wanted.move_to_end(number)
            while len(self._wanted) > _WAITING:
                self._wanted.popitem(last=False)
            is_loading, self._is_loading = self._is_loading, True
        if not is_loading:
            self._worker.submit(self._load_wanted, first=True)

    def _load_wanted(self) -> None:
        try:
            while (number := self._next_wanted()) is not None:
                if number not in self._kept:
                    self._load(number)
                    self._on_ready()
        except BaseException:
            with self._wanted_changes:
                self._wanted.clear()
                self._is_loading = False
            raise

    def _next_wanted(self) -> int | None:
        """Gives the page that was wanted last; None ends the loading, and what is wanted afterwards begins it anew."""
        with self._wanted_changes:
            self._is_loading = bool(self._wanted)
            return self._wanted.popitem()[0] if self._wanted else None

    def _load(self, number: int) -> None:
        lines = self.layout.lines(number * SIZE, min((number + 1) * SIZE, self._length))
        self.width = max([self.width, *(cell_len(plain(line)) for line in lines)])
        self._kept[number] = lines
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
