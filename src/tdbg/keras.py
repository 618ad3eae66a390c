"""Records fit, evaluate or predict as a Keras callback, stops early at the first bad value, and says the verdict.

Bad values are noticed by a counter, at the end of each batch. Only when it has grown is the trace asked whether they
are harm or, like the infinities in a mask, harmless.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import keras
import numpy as np

from tdbg import recording
from tdbg.capture import faults
from tdbg.commands.why import short_verdict
from tdbg.config import make_config, parse_steps
from tdbg.errors import TdbgError
from tdbg.query.verdict.verdict import Verdict, explain
from tdbg.store.reader import Trace

Numbers = int | str | range | Iterable[int] | None


class Debugger(keras.callbacks.Callback):
    """Records training, evaluation or prediction, and stops it at the end of the first batch with trouble.

    ``epochs`` and ``batches`` say what is recorded: a number, a range, a list, or text such as ``"2:5"``. Other options
    are those of ``tdbg.enable``. ``trace`` is then the path of the trace, and ``verdict`` what was found.
    """

    def __init__(
        self,
        output: str | os.PathLike | None = None,
        mode: str = "numerics",
        epochs: Numbers = None,
        batches: Numbers = None,
        stop_on_alert: bool = True,
        verdict: bool = True,
        force: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        if keras.backend.backend() != "tensorflow":
            raise TdbgError(f"tdbg.keras needs Keras on TensorFlow, but this Keras runs on {keras.backend.backend()}")
        make_config(mode=mode, **options)  # what is wrong shall be said now, not when training begins
        self._output = Path(output).absolute() if output else None
        self._options = {"mode": mode, "force": force, **options}
        self._epochs, self._batches = _Chosen(epochs, "epochs"), _Chosen(batches, "batches")
        self._stops, self._speaks = stop_on_alert, verdict
        self._has_said_so = False
        self._uses = 0
        self._running = ""  # fit, evaluate or predict
        self.trace: Path | None = None
        self.verdict: Verdict | None = None
        _follow_failures()

    # ---- Keras calls these

    def on_train_begin(self, logs: Any = None) -> None:
        self._begin("fit")

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._in_epoch = epoch in self._epochs
        self._switch(self._in_epoch and self._batches.all)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        wanted = self._in_epoch and batch in self._batches
        self._switch(wanted)
        if wanted and self._owns:
            recording.step(self._batches_seen)
        self._batches_seen += 1

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._look()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._switch(False)
        if self._epochs.is_over(epoch):
            self._close()

    def on_train_end(self, logs: Any = None) -> None:
        self._end("fit")

    def on_test_begin(self, logs: Any = None) -> None:
        if self._running != "fit":  # else it is the validation of an epoch
            self._begin("evaluate")

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        if self._running == "evaluate":
            self._switch(batch in self._batches)

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self._look()

    def on_test_end(self, logs: Any = None) -> None:
        self._end("evaluate")

    def on_predict_begin(self, logs: Any = None) -> None:
        self._begin("predict")

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._switch(batch in self._batches)

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self._look()

    def on_predict_end(self, logs: Any = None) -> None:
        self._end("predict")

    # ---- the recording

    def _begin(self, what: str) -> None:
        if self._running:  # it failed in a way that nobody told
            self._end(self._running)
        self._running = what
        self.trace = self.verdict = None
        self._is_open, self._found = False, False
        self._batches_seen = 0
        self._owns = not recording.is_recording()
        self._counted, self._wait, self._next_wait = recording.bad_events(), 0, 1
        _running.append(self)
        if not self._owns:
            self.trace = recording.current_path()
            if not self._has_said_so:
                self._has_said_so = True
                who = "tdbg run" if recording.is_not_ours() else "tdbg.enable()"
                faults.say(f"{who} is already recording this program; keras.Debugger only watches for bad values")

    def _switch(self, on: bool) -> None:
        if not self._owns or (not on and not self._is_open):
            return
        if not self._is_open:
            recording.enable(self._place(), **self._options)
            self._is_open, self._counted = True, 0
            self.trace = recording.current_path()
        recording.pause(not on)

    def _place(self) -> Path | None:
        """A trace of its own for each use."""
        self._uses += 1
        if self._output is None or self._uses == 1:
            return self._output
        return self._output.with_name(f"{self._output.stem}-{self._uses}{self._output.suffix}")

    def _look(self) -> None:
        """The end of a batch. After a false alarm it waits for 1, 2, 4, 8, ... further batches with bad values."""
        count = recording.bad_events()
        if count == self._counted or self._found or not (self._is_open or not self._owns):
            return
        self._counted = count
        if self._wait:
            self._wait -= 1
            return
        with faults.guard("looking for the cause"):
            recording.flush()
            self._judge()
        if self._found and self._stops:
            self.model.stop_training = self.model.stop_evaluating = self.model.stop_predicting = True
        elif not self._found:
            self._wait, self._next_wait = self._next_wait, 2 * self._next_wait

    def _judge(self) -> None:
        path = self.trace or recording.current_path()
        if path is None or not (path / "trace.json").exists():
            return
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # the program may have asked for exceptions
            warnings.simplefilter("ignore")
            self.verdict = explain(Trace.open(path))
        self.trace, self._found = path, self.verdict.is_trouble

    def _close(self) -> None:
        if self._owns and self._is_open:
            self._is_open = False
            recording.disable()

    def _end(self, what: str) -> None:
        """Of fit, evaluate or predict, also when it failed."""
        if self._running != what:
            return
        self._running = ""
        _running[:] = [other for other in _running if other is not self]
        self._close()
        if not self._owns:
            recording.flush()
        with faults.guard("looking for the cause"):
            self._judge()
            if self._speaks and not recording.is_not_ours():
                self._say(what)

    def _say(self, what: str) -> None:
        if self.verdict is None or self.trace is None:
            faults.say(f"nothing was recorded of this {what}; epochs and batches of keras.Debugger count from 0")
            return
        shown = os.path.relpath(self.trace) if self.trace.is_relative_to(Path.cwd()) else str(self.trace)
        sys.stdout.flush()
        print("\n".join(short_verdict(self.verdict, shown)), file=sys.stderr, flush=True)


class _Chosen:
    """Numbers of epochs or batches; all of them when nothing was said."""

    def __init__(self, given: Numbers, name: str) -> None:
        self.all = given is None
        self._first, self._last, self._listed = 0, None, None
        if given is None:
            return
        if isinstance(given, int):
            given = [given]
        if isinstance(given, str):
            try:
                self._first, self._last = parse_steps(given)
            except TdbgError:
                raise TdbgError(f'{name} {given!r} is not a range; write "2:5", "2:", ":5", 3 or a list') from None
            return
        self._listed = frozenset(int(number) for number in given)
        if not self._listed:
            raise TdbgError(f"{name} is empty, so nothing would be recorded")
        self._last = max(self._listed) + 1

    def __contains__(self, number: int) -> bool:
        if self._listed is not None:
            return number in self._listed
        return number >= self._first and not self.is_over(number - 1)

    def is_over(self, number: int) -> bool:
        """Whether none comes after this one."""
        return self._last is not None and number + 1 >= self._last


_running: list[Debugger] = []


@functools.cache
def _follow_failures() -> None:
    """Keras tells its callbacks nothing when fit, evaluate or predict raises, and the trace would stay open."""
    for name in ("fit", "evaluate", "predict"):
        owner = next(kind for kind in keras.Model.__mro__ if name in vars(kind))
        setattr(owner, name, _closing(getattr(owner, name), name))


def _closing(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def called(model: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(model, *args, **kwargs)
        except BaseException:
            for debugger in list(_running):
                if debugger.model is model:
                    debugger._end(name)
            raise

    return called
