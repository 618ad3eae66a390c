"""The names of ``tensorflow.python.debug.lib.debug_data``, for programs that read dumps themselves."""

import os
from typing import Any

from tdbg.formats.dumps.names import (
    CORE_METADATA_PREFIX,
    DEVICE_PREFIX,
    FEEDS_NAME,
    FETCHES_NAME,
    GRAPH_PREFIX,
    device_of_folder,
)
from tdbg.formats.dumps.names import METADATA_PREFIX as METADATA_FILE_PREFIX
from tdbg.formats.dumps.names import folder_of_device as device_name_to_device_path
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import (
    CoreMetadata,
    DebugDumpDir,
    DebugTensorDatum,
    InconvertibleTensorProto,
    WatchKeyDoesNotExistInDebugDumpDirError,
    core_metadata_of,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)

__all__ = [
    "CORE_METADATA_TAG",
    "DEVICE_TAG",
    "FEED_KEYS_INFO_FILE_TAG",
    "FETCHES_INFO_FILE_TAG",
    "GRAPH_FILE_TAG",
    "HASH_TAG",
    "METADATA_FILE_PREFIX",
    "DebugDumpDir",
    "DebugTensorDatum",
    "InconvertibleTensorProto",
    "WatchKeyDoesNotExistInDebugDumpDirError",
    "device_name_to_device_path",
    "device_path_to_device_name",
    "extract_core_metadata_from_event_proto",
    "has_inf_or_nan",
    "load_tensor_from_event",
    "load_tensor_from_event_file",
]

CORE_METADATA_TAG, DEVICE_TAG, FEED_KEYS_INFO_FILE_TAG, FETCHES_INFO_FILE_TAG, GRAPH_FILE_TAG = (
    name.removeprefix(METADATA_FILE_PREFIX)
    for name in (CORE_METADATA_PREFIX, DEVICE_PREFIX, FEEDS_NAME, FETCHES_NAME, GRAPH_PREFIX)
)
HASH_TAG = "hash"


def extract_core_metadata_from_event_proto(event: Any) -> CoreMetadata:
    return core_metadata_of(event.log_message.message)


def device_path_to_device_name(device_dir: str) -> str:
    """Of the folder of a device, with or without what is above it."""
    return device_of_folder(os.path.basename(device_dir))
