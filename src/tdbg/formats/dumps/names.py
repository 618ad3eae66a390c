"""Reads from the names of dump files what they hold: which device, node, output and debug op, and when."""

from __future__ import annotations

from typing import NamedTuple

METADATA_PREFIX = "_tfdbg_"
CORE_METADATA_PREFIX = METADATA_PREFIX + "core_metadata_"
GRAPH_PREFIX = METADATA_PREFIX + "graph_"
DEVICE_PREFIX = METADATA_PREFIX + "device_"
FETCHES_NAME = METADATA_PREFIX + "fetches_info_"
FEEDS_NAME = METADATA_PREFIX + "feed_keys_info_"


MOST_SLOTS = (1 << 15) - 1
_MOST_DIGITS = 16  # of µs since the epoch: until the year 2286


class DumpName(NamedTuple):
    """What the name of one tensor's file says."""

    node: str  # without the scopes, which are folders
    slot: int
    debug_op: str
    timestamp: int  # µs
    extended_timestamp: str  # as it stands there: with "-k" for the k-th dump of one tensor in the same microsecond

    @property
    def order(self) -> tuple[int, int]:
        """Sorts by time; dumps of one tensor in the same microsecond in the order they were written."""
        _, _, repeat = self.extended_timestamp.partition("-")
        return self.timestamp, int(repeat or 0)


def parse_dump_name(name: str) -> DumpName:
    """ValueError when it does not read NODE_SLOT_DEBUGOP_TIMESTAMP."""
    parts = name.rsplit("_", 3)
    if len(parts) == 4:
        node, slot, debug_op, extended = parts
        timestamp, _, repeat = extended.partition("-")
        is_number = slot.isdecimal() and timestamp.isdecimal() and (not repeat or repeat.isdecimal())
        if is_number and len(timestamp) <= _MOST_DIGITS and int(slot) <= MOST_SLOTS:
            return DumpName(node, int(slot), debug_op, int(timestamp), extended)
    raise ValueError(f"Dump file path does not conform to the naming pattern: {name}")


def microseconds(stamp: str) -> int:
    """0 where it is no time."""
    return int(stamp) if stamp.isdecimal() and len(stamp) <= _MOST_DIGITS else 0


def graph_order(name: str) -> tuple[int, str]:
    """Sorts the files of partition graphs by when they were written."""
    stamp = name.rsplit("_", 1)[-1].split("-")[0]
    return microseconds(stamp), name


def device_of_folder(name: str) -> str:
    """``_tfdbg_device_,job_localhost,…,device_CPU_0`` → ``/job:localhost/…/device:CPU:0``."""
    return "/".join(_device_part(part) for part in name.removeprefix(DEVICE_PREFIX).split(","))


def _device_part(part: str) -> str:
    key, _, value = part.partition("_")
    if key == "device":  # a type may have underscores (XLA_CPU), so its number is behind the last one
        value = ":".join(value.rsplit("_", 1))
    return f"{key}:{value}" if value else part


def folder_of_device(device: str) -> str:
    return DEVICE_PREFIX + device.replace(":", "_").replace("/", ",")


def as_path(node: str) -> str | None:
    """Where the dumps of a node lie below the folder of its device; None for a name that would lead out of it."""
    parts = [part for part in node.split("/") if part]
    return "/".join(parts) if parts and not {".", ".."} & set(parts) and "\0" not in node else None


def tensor_name(node: str, slot: int) -> str:
    return f"{node}:{slot}"


def watch_key(node: str, slot: int, debug_op: str) -> str:
    return f"{node}:{slot}:{debug_op}"


def split_element(name: str) -> tuple[str, int | None]:
    """Node and slot of ``node:slot``; no slot for the name of a node."""
    node, colon, slot = name.rpartition(":")
    return (node, int(slot)) if colon and slot.isdecimal() and len(slot) < 6 else (name, None)


def node_of(element: str) -> str:
    return split_element(element)[0]
