"""How users of TensorFlow say things. Knows TensorFlow, and does not import it."""

from __future__ import annotations

import re

from tdbg.frameworks.contract import Dialect, Signs

# In the advice of health rules.
_ADVICE = {
    "gradient_clipping": "tf.clip_by_global_norm (clipnorm= in Keras)",
    "random_initialiser": "glorot_uniform (Keras's default), he_normal for ReLU, or tf.random.normal",
    "loss_scaling": "keras.mixed_precision.LossScaleOptimizer",
    "half_precision": "policy mixed_bfloat16 or mixed_float16",
    "a_loss_of_logits": "from_logits=True in the loss",
    "a_loss_of_probabilities": "from_logits=False if the loss has that option",
    "what_trains": "the optimizer and to tape.gradient",
    "frozen": "trainable=False",
    "without_last_axis": "tf.squeeze(prediction, -1)",
}
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")


def _scope_of(class_name: str) -> str:
    """As Keras names layers: conv2d for Conv2D."""
    return _WORD.sub("_", class_name).lower()


_SIGNS = Signs(
    layers=re.compile(r"[\\/](tf_)?keras[\\/]"),
    weight_of_layer=re.compile(r"add_weight$"),
    loss_scaling=re.compile(r"scaled?_loss$"),
    optimizer=re.compile(
        r"^(SGD|Adam\w*|RMSprop|RMSProp\w*|Adagrad\w*|Adadelta\w*|Nadam|Ftrl\w*|Lion|Momentum\w*|GradientDescent\w*)$"
    ),
    variable=re.compile(r"Variable\(|get_variable\("),
    trainable=re.compile(r"trainable"),
    frozen=re.compile(r"trainable\s*=\s*False|set_trainable|freeze", re.IGNORECASE),
    loss_of_probabilities=re.compile(r"(categorical|binary)_?cross_?entropy", re.IGNORECASE),
)

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
    words={"variable": "variable", "layer": "layer", **_ADVICE},
    signs=_SIGNS,
    scope_of=_scope_of,
)
