"""Carries out a run() or a callable of a Session, plainly or with options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tensorflow.core.protobuf import config_pb2

from tdbg.frameworks.tensorflow.sessions.names import output_name


class Call(NamedTuple):
    """One run() or callable: as the user made it, and with options of ours."""

    fetches: Any
    feed_dict: Any
    plain: Callable[[Any, Any], Any]  # options and metadata of the user, or None
    with_options: Callable[[Any, Any], Any] | None  # None where TensorFlow takes no options
    is_callable_runner: bool = False
    asked: Any = None  # of the fetches, what the user wrote: hooks add their own


def of_run(session: Any, fetches: Any, feed_dict: Any) -> Call:
    def run(options: Any, metadata: Any) -> Any:
        return session.run(fetches, feed_dict=feed_dict, options=options, run_metadata=metadata)

    return Call(fetches, feed_dict, run, run, asked=fetches)


def of_runner(runner: Callable[..., Any], values: Sequence[Any]) -> Call:
    """Of what ``Session.make_callable`` gave."""

    def run(options: Any, metadata: Any) -> Any:
        if options is None and metadata is None:
            return runner(*values)
        return runner(*values, options=options, run_metadata=metadata)

    return Call(None, None, run, run, is_callable_runner=True)


def from_options(session: Any, given: Any, plain: Callable[..., Any], values: Sequence[Any]) -> Call:
    """Of CallableOptions. TensorFlow's callables take no debug options, so with options it is a run(), by names."""

    def run(options: Any, metadata: Any) -> Any:
        own = config_pb2.RunOptions()
        own.CopyFrom(given.run_options)
        own.MergeFrom(options)
        return session.run(fetches, feeds, own, metadata)[: len(given.fetch)]

    fetches = [*map(output_name, given.fetch), *given.target]
    feeds = dict(zip(map(output_name, given.feed), values, strict=False))
    return Call(
        fetches,
        feeds,
        lambda options, metadata: plain(*values, run_metadata=metadata),
        None if given.tensor_connection or len(values) != len(given.feed) else run,
        is_callable_runner=True,
        asked=fetches,
    )


def is_empty(fetches: Any) -> bool:
    """Whether nothing at all is fetched, however deep the lists are."""
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    return isinstance(fetches, list | tuple) and all(map(is_empty, fetches))
