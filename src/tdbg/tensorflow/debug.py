"""The names of ``tensorflow.python.debug``: ``from tdbg.tensorflow import debug as tf_debug``."""

from tdbg.tensorflow.session.dump_dir import DebugDumpDir as DebugDumpDir
from tdbg.tensorflow.session.dump_dir import DebugTensorDatum as DebugTensorDatum
from tdbg.tensorflow.session.dump_dir import has_inf_or_nan as has_inf_or_nan
from tdbg.tensorflow.session.dump_dir import load_tensor_from_event as load_tensor_from_event
from tdbg.tensorflow.session.dump_dir import load_tensor_from_event_file as load_tensor_from_event_file
from tdbg.tensorflow.session.dump_graphs import reconstruct_non_debug_graph_def as reconstruct_non_debug_graph_def
from tdbg.tensorflow.session.dumping import DumpingDebugWrapperSession as DumpingDebugWrapperSession
from tdbg.tensorflow.session.gradients import GradientsDebugger as GradientsDebugger
from tdbg.tensorflow.session.gradients import clear_gradient_debuggers as clear_gradient_debuggers
from tdbg.tensorflow.session.grpc import GrpcDebugWrapperSession as GrpcDebugWrapperSession
from tdbg.tensorflow.session.grpc import TensorBoardDebugWrapperSession as TensorBoardDebugWrapperSession
from tdbg.tensorflow.session.hooks import DumpingDebugHook as DumpingDebugHook
from tdbg.tensorflow.session.hooks import GrpcDebugHook as GrpcDebugHook
from tdbg.tensorflow.session.hooks import LocalCLIDebugHook as LocalCLIDebugHook
from tdbg.tensorflow.session.hooks import TensorBoardDebugHook as TensorBoardDebugHook
from tdbg.tensorflow.session.local_cli import LocalCLIDebugWrapperSession as LocalCLIDebugWrapperSession
from tdbg.tensorflow.session.watching import WatchOptions as WatchOptions
from tdbg.tensorflow.session.watching import add_debug_tensor_watch as add_debug_tensor_watch
from tdbg.tensorflow.session.watching import watch_graph as watch_graph
from tdbg.tensorflow.session.watching import watch_graph_with_denylists as watch_graph_with_denylists

watch_graph_with_blacklists = watch_graph_with_denylists  # its name in TensorFlow 1
