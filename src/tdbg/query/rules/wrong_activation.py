"""A loss or a softmax that is given what it is not made for: logits where probabilities are meant, one class, samples
in the place of classes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tdbg.model import Frame
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.trained_layers import LAYER_OPS
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _BEYOND, _SUM = 3, 0.02, 0.05
_CLIPS = (Kind.MAXIMUM, Kind.MINIMUM, Kind.CLIP)
_TO_LOG = (*_CLIPS, Kind.SUBTRACT, Kind.ADD, Kind.DIVIDE)
_COMMENTED = re.compile(r"^\s*(#|from\b|import\b)")


@rule(
    "wrong_activation",
    why="a loss of probabilities clips what is not between 0 and 1: there it has no gradient, and its value means "
    "nothing; a softmax over one element, or over the batch, does not predict a class",
    fix="use {a_loss_of_logits}, or a softmax (many classes) or sigmoid (yes or no) on the last layer; a "
    "softmax should run over the classes",
    steps=_STEPS,
)
def wrong_activation(training: Training) -> Iterator[Finding]:
    told: set[Node] = set()
    for log in training.flow.nodes():  # the logarithm itself is not computed where nobody needs the loss
        if training.op(log).kind == Kind.LOG and log.op in training.differentiated:
            for clip in _clips(training, log):
                given = _cut_off(training, clip)
                if given is not None and given.place.node not in told:
                    told.add(given.place.node)
                    yield _no_probabilities(training, given)
    for softmax in training.outputs(Kind.SOFTMAX):
        text = _misplaced(training, softmax)
        if text:
            yield Finding(softmax.place.node, int(softmax.step[0]), text, (), training.made_at(softmax.place.node))
    yield from _of_one_class(training)


# ---- logits in the place of probabilities


def _clips(training: Training, node: Node, depth: int = 0) -> Iterator[Series]:
    """Finds the outermost clip of a logarithm's argument: of ``log(clip(p))`` and ``log(1 - clip(p))``."""
    for places in training.flow.inputs(node)[:2]:
        for place in places:
            series = training.series(place.node, place.slot) if not place.is_given else None
            kind = training.op(place.node).kind
            if series is None or kind not in _TO_LOG or depth > 4:
                continue
            if kind in _CLIPS:
                yield series
            else:
                yield from _clips(training, place.node, depth + 1)


def _cut_off(training: Training, clip: Series) -> Series | None:
    """Takes the prediction when a clip to the range of probabilities cuts it off, or when it does not sum up to one."""
    clipped = training.in_training(clip)
    if clipped is None or len(clipped) < _STEPS or not ((clipped.min >= 0) & (clipped.max <= 1)).all():
        return None
    given = _before(training, clip.place.node)
    if given is None:
        return None
    last = given.last(_STEPS)
    if training.op(given.place.node).kind == Kind.DIVIDE:  # by its own sum, as losses do with probabilities
        prediction, total = (_input(training, given.place.node, at) for at in (0, 1))
        if prediction is None or total is None or training.op(total.place.node).kind != Kind.SUM:
            return None
        off = np.maximum(np.abs(total.last(_STEPS).mean - 1), total.last(_STEPS).std)
        return prediction if (off > _SUM).all() else None
    is_beyond = ((last.min < -_BEYOND) | (last.max > 1 + _BEYOND)).all()
    is_bare = _is_of_layer(training, given.place.node) and bool(((given.min < 0) | (given.max > 1)).any())
    is_relu = training.op(given.place.node).kind == Kind.RELU and bool(((given.zero > 0) & (given.max > 1)).any())
    return given if is_beyond or is_bare or is_relu else None


def _is_of_layer(training: Training, node: Node) -> bool:
    """Whether a product with a weight, and its bias, is all that the prediction has behind it: no activation."""
    if training.op(node).kind in (Kind.ADD_BIAS, Kind.ADD):
        inputs = training.flow.inputs(node)
        return any(place.node in training.layer_of for place in (inputs[0] if inputs else ()) if not place.is_given)
    return node in training.layer_of


def _before(training: Training, node: Node, depth: int = 0) -> Series | None:
    """Finds what is clipped: the first input of a minimum and a maximum, or of two clips."""
    series = _input(training, node, 0)
    if series is not None and not series.place.is_given and training.op(series.place.node).kind in _CLIPS and depth < 4:
        return _before(training, series.place.node, depth + 1)
    return series


def _input(training: Training, node: Node, at: int) -> Series | None:
    places = training.flow.inputs(node)
    found = [training.at(place) for place in (places[at] if at < len(places) else ())]
    series = training.in_training(found[0]) if found and found[0] is not None else None
    return series if series is not None and len(series) >= _STEPS else None


def _no_probabilities(training: Training, given: Series) -> Finding:
    node = given.place.node
    name = training.name(node)
    text = f"the loss takes {name} as probabilities, but it goes from {given.min.min():.3g} to {given.max.max():.3g}"
    frame = training.made_at(node)
    made = f"{name} is created at {frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame else ""
    return Finding(node, int(given.step[0]), text, (made,) if made else (), _loss_line(training, node, frame) or frame)


def _loss_line(training: Training, node: Node, near: Frame | None) -> Frame | None:
    """Finds the only line of the program, or of the layer's file, that names such a loss: there it can be told what it
    gets."""
    names = training.dialect(node).signs.loss_of_probabilities
    found = [
        Frame(file, number, "", True)
        for file in training.program.files()
        for number, line in enumerate(training.program.text_of(file), 1)
        if names.search(line) and not _COMMENTED.match(line)
    ]
    beside = [frame for frame in found if near is not None and frame.file == near.file]
    return next((lines[0] for lines in (beside, found) if len(lines) == 1), None)


# ---- a softmax in the wrong place


def _readers(training: Training, node: Node) -> Iterator[Node]:
    """Lists those of an output, and of it plus a number against log(0)."""
    for reader, _ in training.flow.readers.get(node, ()):
        added = training.flow.readers.get(reader, ()) if training.op(reader).kind == Kind.ADD else ()
        logs = [other for other, _ in added if training.op(other).kind == Kind.LOG]
        yield from logs or (reader,)


def _of_one_class(training: Training) -> Iterator[Finding]:
    """Finds softmax losses over one class. Where a loss takes the logits from before a softmax, as Keras does, the
    softmax itself is not computed."""
    for series in training.outputs(Kind.SOFTMAX_CROSS_ENTROPY):
        node = series.place.node
        places = training.flow.inputs(node)[0] if series.place.slot == 0 else ()
        logits = next((found for place in places if (found := training.at(place)) is not None), None)
        dims = training.dims(logits) if logits is not None else ()
        if len(dims) != 2 or dims[-1] != 1 or node.op not in training.differentiated:
            continue
        given = [place.node for place in places if not place.is_given]
        text = f"a softmax loss of shape {list(dims)} goes over one class: it is 0 whatever is learned"
        yield Finding(node, int(series.step[0]), text, (), training.made_at(given[0]) if given else None)


def _misplaced(training: Training, softmax: Series) -> str:
    node, dims = softmax.place.node, training.dims(softmax)
    if training.in_training(softmax) is None or len(dims) != 2:
        return ""
    name = training.name(node)
    if dims[-1] == 1:
        return f"{name} of shape {list(dims)} runs over one element, so it is always 1, whatever is learned"
    raw = training.flow.raw_input(node, 0)
    if node.op in training.differentiated and raw is not None and training.op(raw.node).kind == Kind.TRANSPOSE:
        readers = {training.op(reader).kind for reader in _readers(training, node)}
        if readers and not readers & LAYER_OPS and readers & {Kind.LOG, *_CLIPS}:
            return f"{name} runs over the {dims[-1]:,} samples of a batch, not over the {dims[0]:,} classes"
    return ""
