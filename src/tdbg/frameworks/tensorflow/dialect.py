"""How users of TensorFlow say things. Knows TensorFlow, and does not import it."""

from __future__ import annotations

from tdbg.frameworks.contract import Dialect

DIALECT = Dialect(
    name="tensorflow",
    title="TensorFlow",
    alias="tf",
    modules=("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"),
    calls={
        "maximum": "{library}.maximum({0}, {1})",
        "minimum": "{library}.minimum({0}, {1})",
        "where": "{library}.where({0}, {1}, {2})",
        "divide_no_nan": "{library}.math.divide_no_nan({0}, {1})",
    },
    words={
        "variable": "variable",
        "layer": "layer",
        "one_signature": "give tf.function an input_signature, or reduce_retracing=True",
    },
    own_scopes=("Initializer",),
)
