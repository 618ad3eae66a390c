"""The names of ``tensorflow.python.debug``: ``from tdbg.tensorflow import debug as tf_debug``."""

from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir as DebugDumpDir
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugTensorDatum as DebugTensorDatum
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import has_inf_or_nan as has_inf_or_nan
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import load_tensor_from_event as load_tensor_from_event
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import load_tensor_from_event_file as load_tensor_from_event_file
from tdbg.frameworks.tensorflow.reading_dumps.dump_graphs import (
    reconstruct_non_debug_graph_def as reconstruct_non_debug_graph_def,
)
from tdbg.frameworks.tensorflow.tfdbg.dumping import DumpingDebugWrapperSession as DumpingDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.grpc import GrpcDebugWrapperSession as GrpcDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.grpc import TensorBoardDebugWrapperSession as TensorBoardDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.hooks import DumpingDebugHook as DumpingDebugHook
from tdbg.frameworks.tensorflow.tfdbg.hooks import GrpcDebugHook as GrpcDebugHook
from tdbg.frameworks.tensorflow.tfdbg.hooks import LocalCLIDebugHook as LocalCLIDebugHook
from tdbg.frameworks.tensorflow.tfdbg.hooks import TensorBoardDebugHook as TensorBoardDebugHook
from tdbg.frameworks.tensorflow.tfdbg.local_cli import LocalCLIDebugWrapperSession as LocalCLIDebugWrapperSession
from tdbg.frameworks.tensorflow.tfdbg.watched_gradients import GradientsDebugger as GradientsDebugger
from tdbg.frameworks.tensorflow.tfdbg.watched_gradients import clear_gradient_debuggers as clear_gradient_debuggers
from tdbg.frameworks.tensorflow.tfdbg.watching import WatchOptions as WatchOptions
from tdbg.frameworks.tensorflow.tfdbg.watching import add_debug_tensor_watch as add_debug_tensor_watch
from tdbg.frameworks.tensorflow.tfdbg.watching import watch_graph as watch_graph
from tdbg.frameworks.tensorflow.tfdbg.watching import watch_graph_with_denylists as watch_graph_with_denylists

watch_graph_with_blacklists = watch_graph_with_denylists  # its name in TensorFlow 1
