"""Says things as users of TensorFlow do. Knows TensorFlow, and does not import it."""

from __future__ import annotations

import os
import re

from tdbg.frameworks.contract import Dialect, Signs
from tdbg.model import Phase
from tdbg.vocabulary import Kind

# ---- how fixes are written

_CALLS = {
    "maximum": "{library}.maximum({0}, {1})",
    "minimum": "{library}.minimum({0}, {1})",
    "clip": "{library}.clip_by_value({0}, {1}, {2})",
    "where": "{library}.where({0}, {1}, {2})",
    "zeros_like": "{library}.zeros_like({0})",
    "ones_like": "{library}.ones_like({0})",
    "full_like": "{library}.fill({library}.shape({0}), {library}.cast({1}, {0.operand}.dtype))",
    "sqrt": "{library}.sqrt({0})",
    "divide_no_nan": "{library}.math.divide_no_nan({0}, {1})",
    "reciprocal_no_nan": "{library}.math.reciprocal_no_nan({0})",
    "xlogy": "{library}.math.xlogy({0}, {1})",
    "log_sigmoid": "{library}.math.log_sigmoid({0})",
    "sigmoid_cross_entropy": "{library}.nn.sigmoid_cross_entropy_with_logits({0})",
    "softmax_cross_entropy": "{library}.nn.softmax_cross_entropy_with_logits({0})",
    # {1} and {2} are further arguments, or nothing: ``, axis=1``
    "softmax": "{library}.nn.softmax({0}{1})",
    "log_softmax": "{library}.nn.log_softmax({0}{1})",
    "sum_of_squares": "{library}.reduce_sum({library}.square({0}){1})",
    "max": "{library}.reduce_max({0})",
    "max_along": "{library}.reduce_max({0}, axis={1}, keepdims=True)",
    "mean_or_zero": "{library}.reduce_sum({0}) / {library}.cast({library}.maximum({library}.size({0}), 1), {1!r})",
    "l2_normalize": "{library}.math.l2_normalize({0}, {1})",
    "eye": "{library}.eye({0})",
    "eye_like": "{library}.eye({library}.shape({0})[-1], dtype={1!r})",
    "slogdet": "{library}.linalg.slogdet({0})",
    "logdet": "{library}.linalg.logdet({0})",
    "stop_gradient": "{library}.stop_gradient({0})",
    "dtype": "{library}.{0}",
    "check_finite": "{library}.debugging.check_numerics({0})",
}

# ---- how calls are found in a statement

_SPELLED = {
    kind: tuple(names.split())
    for kind, names in {
        Kind.ADD: "add",
        Kind.SUBTRACT: "subtract",
        Kind.DIVIDE: "divide div truediv realdiv",
        Kind.SQRT: "sqrt",
        Kind.RSQRT: "rsqrt",
        Kind.RECIPROCAL: "reciprocal",
        Kind.POWER: "pow",
        Kind.EXP: "exp",
        Kind.EXPM1: "expm1",
        Kind.LOG: "log",
        Kind.LOG1P: "log1p",
        Kind.XLOGY: "xlogy",
        Kind.XLOG1PY: "xlog1py",
        Kind.MAXIMUM: "maximum",
        Kind.ACOS: "acos arccos",
        Kind.ASIN: "asin arcsin",
        Kind.ATAN2: "atan2",
        Kind.SINH: "sinh",
        Kind.COSH: "cosh",
        Kind.ACOSH: "acosh arccosh",
        Kind.ATANH: "atanh arctanh",
        Kind.ERFINV: "erfinv",
        Kind.NDTRI: "ndtri",
        Kind.SIGMOID: "sigmoid",
        Kind.SOFTMAX: "softmax",
        Kind.SUM: "reduce_sum sum",
        Kind.MEAN: "reduce_mean",
        Kind.NORM: "norm",
        Kind.LOG_DETERMINANT: "slogdet logdet log_matrix_determinant",
        Kind.INVERSE: "inv",
        Kind.SOLVE: "solve",
        Kind.CHOLESKY: "cholesky",
        Kind.QR: "qr",
        Kind.STOP_GRADIENT: "stop_gradient",
        Kind.RESHAPE: "reshape",
        Kind.EXPAND_DIMS: "expand_dims",
        Kind.SQUEEZE: "squeeze",
        Kind.TRANSPOSE: "transpose",
        Kind.CAST: "cast",
        Kind.GATHER: "gather boolean_mask",
        Kind.GATHER_ND: "gather_nd",
        Kind.SELECT: "where",
        Kind.TILE: "tile",
        Kind.BROADCAST: "broadcast_to",
    }.items()
}
_NAMESPACES = ("math", "nn", "linalg", "compat.v1", "compat.v1.math", "compat.v1.nn", "compat.v1.linalg")
# Of Keras: keras.ops, keras.backend.
_STAND_INS = ("ops", "K", "backend")
_STAND_INS_HAVE = frozenset("maximum minimum where ones_like zeros_like sqrt square".split())

# ---- words

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
# In alerts.
_ALERTS = {"one_signature": "give tf.function an input_signature, or reduce_retracing=True"}
# In the verdict.
_VERDICT = {
    "rewrites_of_the_compiler": "Grappler's or XLA's rewrites",
    "it_ran_apart_from_the_graph": "it ran outside the Session's graph: it is marked not to be inlined, or the Session "
    "was created before tdbg was on",
}
# In alerts.
_ALERTS = {"one_signature": "give tf.function an input_signature, or reduce_retracing=True"}
# In fixes.
_FIXES = {
    "clip_the_gradients": "clip the gradients: clipnorm=1.0",
    "keep_the_weights_in_float32": "keep the weights in float32 (policy mixed_float16)",
    "switch_the_reordering_off": "switch the reordering off with tf.config.optimizer.set_experimental_options("
    "{'constant_folding': False, 'arithmetic_optimization': False})",
}
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")


def _scope_of(class_name: str) -> str:
    """As Keras names layers: conv2d for Conv2D."""
    return _WORD.sub("_", class_name).lower()


_SIGNS = Signs(
    layers=re.compile(r"[\\/](tf_)?keras[\\/]"),
    larger_than_op=re.compile(r"[\\/](keras[\\/]src[\\/](layers|losses|optimizers|trainers)|tf_keras)[\\/]"),
    loss_scaler=re.compile(r"loss_scale_optimizer"),
    weight_of_layer=re.compile(r"add_weight$"),
    loss_scaling=re.compile(r"scaled?_loss$"),
    optimizer=re.compile(
        r"^(SGD|Adam\w*|RMSprop|RMSProp\w*|Adagrad\w*|Adadelta\w*|Nadam|Ftrl\w*|Lion|Momentum\w*|GradientDescent\w*)$"
    ),
    variable=re.compile(r"Variable\(|get_variable\("),
    trainable=re.compile(r"trainable"),
    frozen=re.compile(r"trainable\s*=\s*False|set_trainable|freeze", re.IGNORECASE),
    loss_of_probabilities=re.compile(r"(categorical|binary)_?cross_?entropy", re.IGNORECASE),
    loading=re.compile(r"load_weights|load_own_variables|set_weights|Checkpoint\.re(store|ad)|load_model"),
    initialising=re.compile(r"initializer|_init_from_args"),
    users_gradient=re.compile(r"custom_gradient"),
    clipping=re.compile(r"clip_by_global_norm|global_norm|clip_by_norm"),
    optimizers=re.compile(r"optimizers"),
    normalising=re.compile(r"ormaliz"),
    norm=re.compile(r"^norm$"),
    moving_statistics=re.compile(r"moving_"),
)

_REPEATABLE = frozenset(
    """softmax sigmoid exp log matmul add subtract multiply divide div truediv negative reduce_sum reduce_mean
    reduce_max reshape cast square sqrt tanh relu transpose expand_dims squeeze maximum minimum clip_by_value tile
    bias_add gather gather_nd boolean_mask shape range one_hot constant stop_gradient tensordot einsum float32 float16
    ones_like zeros_like""".split()
)

# ---- phases of training

_SEP = os.sep
_PYTHON = f"tensorflow{_SEP}python{_SEP}"
_BACKWARD = (
    (f"{_PYTHON}eager{_SEP}backprop.py", ("gradient", "jacobian", "_gradient_function")),
    (f"{_PYTHON}eager{_SEP}imperative_grad.py", ("imperative_grad",)),
    (f"{_PYTHON}ops{_SEP}gradients_util.py", ("_GradientsHelper",)),
)
_UPDATE = ("apply_gradients", "apply", "_internal_apply_gradients", "_backend_apply_gradients", "update_step")
_CREATION = (
    (f"{_PYTHON}ops{_SEP}resource_variable_ops.py", ("_init_from_args",)),
    (f"{_PYTHON}ops{_SEP}ref_variable.py", ("_init_from_args",)),
    (f"{_PYTHON}training{_SEP}saver.py", ("_build", "build", "_build_internal")),  # what a checkpoint holds is assigned
)


def _phase_of(file: str, function: str) -> Phase | None:
    """BACKWARD inside gradient code, UPDATE inside an optimizer's apply, OTHER while a variable is made."""
    for suffix, functions in _BACKWARD:
        if file.endswith(suffix) and function in functions:
            return Phase.BACKWARD
    if f"{_SEP}optimizers{_SEP}" in file or file.endswith(f"training{_SEP}optimizer.py"):
        return Phase.UPDATE if function in _UPDATE else None
    for suffix, functions in _CREATION:
        if file.endswith(suffix) and function in functions:
            return Phase.OTHER
    return None


DIALECT = Dialect(
    name="tensorflow",
    title="TensorFlow",
    alias="tf",
    packages=(
        "tensorflow",
        "keras",
        "tf_keras",
        "tensorflow_estimator",
        "tensorflow_probability",
        "tensorflow_hub",
        "tensorflow_datasets",
        "tf_slim",
        "tensorflow_addons",
        "sonnet",
    ),
    phase_of=_phase_of,
    modules=("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2"),
    calls=_CALLS,
    spelled=_SPELLED,
    namespaces=_NAMESPACES,
    stand_ins=_STAND_INS,
    stand_ins_have=_STAND_INS_HAVE,
    axis_names=("axis", "reduction_indices", "dim"),
    words={"variable": "variable", "layer": "layer", **_ADVICE, **_FIXES, **_VERDICT, **_ALERTS},
    own_scopes=("Initializer",),
    repeatable=_REPEATABLE,
    signs=_SIGNS,
    scope_of=_scope_of,
)
