"""Shows one run of a Session, about to begin or ended, as the Scene that a debugger's commands look at."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tdbg.capture.source import script_of
from tdbg.errors import TdbgError
from tdbg.formats.dumps.importer import import_dumps
from tdbg.formats.dumps.names import node_of
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir
from tdbg.frameworks.tensorflow.sessions.names import describe_run, flattened_names
from tdbg.frameworks.tensorflow.sessions.profile import profiled_nodes
from tdbg.frameworks.tensorflow.sessions.source_lines import user_stack
from tdbg.frameworks.tensorflow.tfdbg.error_texts import error_lines
from tdbg.frameworks.tensorflow.tfdbg.import_lines import GraphLines
from tdbg.frameworks.tensorflow.tfdbg.run_feeds import Feeds
from tdbg.frameworks.tensorflow.tfdbg.run_nodes import ClientNodes, RuntimeNodes
from tdbg.frameworks.tensorflow.tfdbg.run_sources import RunSources
from tdbg.frameworks.tensorflow.tfdbg.run_tensors import NoTensors, RunTensors, parse_tensor_name
from tdbg.frameworks.tensorflow.tfdbg.watching import Expressions, count_matching
from tdbg.model import ProfiledNode, bad_text
from tdbg.nearest import did_you_mean
from tdbg.recording import open_trace
from tdbg.scene import Moment, Node, RunInfo, Seen, Selection, SourceFile, SourceLine, TensorFilter, Tensors


@dataclass(frozen=True)
class RunCall:
    """What was asked of run(). ``filters`` are the wrapper's own, so later ones are known too."""

    number: int
    fetches: Any
    feed_dict: Any
    graph: Any  # the tf.Graph
    filters: dict[str, TensorFilter] = field(default_factory=dict)
    is_callable_runner: bool = False
    watched: Expressions = (None, None, None)  # the run's own filters

    @property
    def description(self) -> str:
        return describe_run(self.number, self.fetches, self.feed_dict, self.is_callable_runner)


class RunScene:
    """Without a dump the run has not begun yet, was profiled, or was not debugged."""

    def __init__(
        self, call: RunCall, dump: DebugDumpDir | None = None, error: Any = None, metadata: Any = None
    ) -> None:
        """``error`` is a tf.errors.OpError, ``metadata`` the RunMetadata of a profiled run."""
        self._call, self._dump, self._error, self._metadata = call, dump, error, metadata
        self._forget: Callable[[], Any] = lambda: None
        self.title = script_of()
        self.filters = call.filters
        self._feeds = Feeds(call.feed_dict)
        self._client = ClientNodes(call.graph)
        self._runtime = RuntimeNodes(dump, call.graph) if dump is not None and dump.loaded_partition_graphs() else None
        self._nodes: ClientNodes | RuntimeNodes = self._runtime or self._client
        self._tensors = RunTensors(dump, self._runtime) if dump is not None and self._runtime is not None else None

    def close(self) -> None:
        """Nobody looks at the run any more: what was made for looking goes."""
        self._forget()

    # ---- moments

    def moments(self) -> Sequence[Moment]:
        return [self.moment]

    @property
    def moment(self) -> Moment:
        seen = self._tensors
        tensors, bad = (len(seen.data), seen.bad) if seen is not None else (0, 0)
        return Moment("run", self._call.number, self._call.description, tensors, bad, 0.0)

    def go(self, number: int | None) -> None:
        if number not in (None, self._call.number):
            raise TdbgError(f"only run #{self._call.number} can be shown here; type run to continue to the next")

    def refresh(self) -> bool:
        return False

    # ---- tensors

    def tensors(self, selection: Selection) -> Tensors:
        if self._tensors is not None and self._tensors.data:
            return self._tensors.select(selection, self.filters)
        return NoTensors(self._why_none())

    def _why_none(self) -> str:
        if self._metadata is not None:
            return "a profiled run keeps no tensors; type lp for its times, or run to see the tensors of the next"
        if self._dump is None:
            return "no tensors yet; type run to see those of this run"
        words = zip(("node name", "op type", "dtype"), self._call.watched, strict=True)
        wanted = ", ".join(f'{word} "{expression}"' for word, expression in words if expression)
        if not wanted:
            return "this run computed no tensor that can be watched"
        found = count_matching(self._call.graph, self._call.watched)
        if not found:
            return f"no tensor of the graph has {wanted}, which is all that was watched; type run to watch everything"
        return (
            f"this run watched {wanted}, which {found:,} tensors of the graph have; it computed none of them on "
            "their own: they were not needed, merged with others or computed beforehand. Type run to watch everything"
        )

    def passing(self, filter_text: str, exclude_nodes: str = "") -> bool:
        """Whether a tensor passes: no more are read than it takes to know."""
        return self._tensors is not None and self._tensors.has_passing(filter_text, exclude_nodes, self.filters)

    def first_bad_lines(self) -> list[str]:
        """The first tensor with NaN or infinity, and the user's line that made it."""
        bad = self._tensors.first_bad() if self._tensors is not None else None
        if bad is None or bad.numbers is None:
            return []
        numbers = bad.numbers
        found = bad_text(numbers.nan, numbers.neg_inf, numbers.pos_inf)
        lines = [f"first bad tensor: {bad.tensor}, {found} of {numbers.elements:,}"]
        op = self._nodes.maker(bad.key.node_name)
        return [*lines, *(f" -> {line}" for line in user_stack(op)[-1:])] if op is not None else lines

    def seen(self, tensor: str, debug_op: str = "", device: str = "") -> Sequence[Seen]:
        if self._tensors is None:
            raise TdbgError(f"there is no value of {tensor}: {self._why_none()}")
        node, slot, told = parse_tensor_name(tensor)
        wanted = debug_op or told
        data = [
            datum
            for datum in self._tensors.of(node, slot)
            if wanted in ("", datum.debug_op) and datum.device_name.endswith(device)
        ]
        if not data:
            raise TdbgError(self._no_tensor(tensor, node))
        return [self._tensors.seen(datum) for datum in data]

    def _no_tensor(self, tensor: str, node: str) -> str:
        inside = self._runtime.part_of(node) if self._runtime is not None else ""
        if inside:
            return f"the value of {tensor} is not visible: TensorFlow computes it inside {inside}; look there"
        near = did_you_mean(tensor, self.tensor_names())
        if not near and self._client.maker(node) is not None:
            return (
                f"{tensor} was not computed on its own in this run: it was not needed, not watched, computed before "
                "the run or merged into another op; lt lists what there is"
            )
        return f"no tensor {tensor!r} in this run; {near or 'lt lists them all'}"

    def value(self, seen: Seen) -> Any:
        if self._tensors is None:
            raise TdbgError(f"there is no value of {seen.tensor}: {self._why_none()}")
        return self._tensors.value(seen)

    def tensor_names(self) -> Sequence[str]:
        return self._tensors.names() if self._tensors is not None else ()

    # ---- nodes

    def node_names(self) -> Sequence[str]:
        return self._nodes.names()

    def node(self, name: str) -> Node:
        plain = node_of(name)
        found = self._nodes.node(name) or self._nodes.node(plain) or self._client.node(plain)
        if found is None:
            near = did_you_mean(plain, self.node_names())
            raise TdbgError(f"no node {plain!r} in this run; {near or 'lt lists what was computed'}")
        return found

    # ---- sources

    @cached_property
    def _sources(self) -> RunSources:
        return RunSources(self._nodes.names, self._nodes.maker, self._seen_by_node)

    def _seen_by_node(self) -> Mapping[str, Sequence[Seen]]:
        if self._tensors is None:
            return {}
        by_node = self._tensors.dumps_of_nodes()
        return {node: [self._tensors.seen(datum) for datum in data] for node, data in by_node.items()}

    def sources(self) -> Sequence[SourceFile]:
        return self._sources.files()

    def source(self, path: str) -> Sequence[SourceLine]:
        return self._sources.lines(path)

    # ---- the run

    def run_info(self) -> RunInfo:
        names = flattened_names(self._call.fetches)
        return RunInfo(
            self._call.description,
            [name for name in names if ":" in name],
            [name for name in names if ":" not in name],
            list(self._feeds),
            self.error_lines(),
        )

    def error_lines(self) -> list[str]:
        """What went wrong, and the commands that show more of it."""
        if self._error is None:
            return []
        lines, op = error_lines(self._error, self._feeds, self._dump), getattr(self._error, "op", None)
        if op is not None and self._dump is not None and len(lines) > 1:
            lines.append(f"Look: ni -a -d -t {op.name}; li -r {op.name}; lt")
        return lines

    def feeds(self) -> Mapping[str, Any]:
        return self._feeds

    def profile(self) -> Sequence[ProfiledNode]:
        if self._metadata is None:
            raise TdbgError("this run was not profiled; type run -p to measure the next")
        return profiled_nodes(self._metadata, self._call.graph)

    # ---- as a trace

    def trace(self) -> Any:
        return self._trace

    @cached_property
    def _trace(self) -> Any:
        if self._dump is None or not self._dump.size:
            raise TdbgError(f"there is nothing to search: {self._why_none()}")
        folder = tempfile.mkdtemp(prefix="tfdbg_")
        self._forget = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        output = Path(folder) / f"run-{self._call.number}.tdbg"
        lines = GraphLines(self._nodes.maker)
        import_dumps(Path(self._dump.root), output, lines=lines)
        return open_trace(output)
