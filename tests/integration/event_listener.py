"""A debug server: what TensorFlow and tdbg send over gRPC in, lists of what came out."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from tensorflow.core.debug import debug_service_pb2
from tensorflow.core.protobuf import debug_pb2
from tensorflow.core.util import event_pb2


class EventListener:
    """Listens on a free port of this machine while it is used as a context."""

    def __init__(self, address="localhost:0"):
        self._wanted = address
        self.events, self.tracebacks, self.sources = [], [], []
        self.streams = 0
        self._changed = threading.Condition()

    def __enter__(self):
        reply = debug_service_pb2.EventReply.SerializeToString
        handlers = {
            "SendEvents": grpc.stream_stream_rpc_method_handler(
                self._events, event_pb2.Event.FromString, response_serializer=reply
            ),
            "SendTracebacks": grpc.unary_unary_rpc_method_handler(
                self._keep(self.tracebacks), debug_service_pb2.CallTraceback.FromString, response_serializer=reply
            ),
            "SendSourceFiles": grpc.unary_unary_rpc_method_handler(
                self._keep(self.sources), debug_pb2.DebuggedSourceFiles.FromString, response_serializer=reply
            ),
        }
        self._server = grpc.server(ThreadPoolExecutor(8))
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("tensorflow.EventListener", handlers),)
        )
        self.address = f"localhost:{self._server.add_insecure_port(self._wanted)}"
        self._server.start()
        return self

    def __exit__(self, *error):
        self._server.stop(None).wait()

    def _events(self, events, context):
        for event in events:
            with self._changed:
                self.events.append(event)
                self._changed.notify_all()
            if event.graph_def or event.log_message.message:  # TensorFlow waits for a word on these
                yield debug_service_pb2.EventReply()
        self.streams += 1

    def _keep(self, kept):
        def take(message, context):
            kept.append(message)
            return debug_service_pb2.EventReply()

        return take

    def wait_for(self, watch_key, count=1):
        """The events of a tensor, once so many have come: TensorFlow does not wait until the server has them."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.of(watch_key)) >= count, timeout=240), self.watch_keys()
            return self.of(watch_key)

    def of(self, watch_key):
        return [event for event in self.events if event.summary.value and self._key(event) == watch_key]

    def watch_keys(self):
        return [self._key(event) for event in self.events if event.summary.value]

    @staticmethod
    def _key(event):
        return event.summary.value[0].node_name
