"""Dump folders written by hand, byte by byte, without TensorFlow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tdbg.formats.debug_events.tensors import put_full
from tdbg.formats.debug_events.wire import put_double, put_int, put_message, put_text, put_texts
from tdbg.formats.dumps.names import folder_of_device
from tdbg.model import DType

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def node(name: str, op: str, *inputs: str, **attributes: str | int) -> bytes:
    body = put_text(1, name) + put_text(2, op) + put_texts(3, inputs)
    for key, value in attributes.items():
        packed = put_text(2, value) if isinstance(value, str) else put_int(3, value)
        body += put_message(5, put_text(1, key) + put_message(2, packed))
    return body


def graph(*nodes: bytes) -> bytes:
    return b"".join(put_message(1, one) for one in nodes)


def tensor_event(array: np.ndarray) -> bytes:
    proto = put_full(DType[array.dtype.name.upper()], array.shape, array.tobytes())
    return put_double(1, 0.0) + put_message(5, put_message(1, put_message(8, proto)))


def write_run(folder: Path, nodes: Sequence[bytes], dumps: dict[str, np.ndarray], time: int, device: str = CPU) -> Path:
    """``dumps``: arrays by ``node_slot``; each is dumped a microsecond after the one before."""
    place = folder / folder_of_device(device)
    place.mkdir(parents=True)
    (place / f"_tfdbg_graph_hash1_{time}").write_bytes(put_double(1, 0.0) + put_message(4, graph(*nodes)))
    about = {"global_step": -1, "session_run_index": time, "output_names": [], "input_names": [], "target_nodes": []}
    message = put_double(1, 0.0) + put_message(6, put_text(2, json.dumps(about)))
    (folder / f"_tfdbg_core_metadata_sessionrun{1:014d}_{time}").write_bytes(message)
    for n, (name, array) in enumerate(dumps.items(), 1):
        file = place / f"{name}_DebugIdentity_{time + n}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(tensor_event(array))
    return folder
