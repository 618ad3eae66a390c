"""How users of TensorFlow say things. Knows TensorFlow, and does not import it."""

from __future__ import annotations

import os

from tdbg.frameworks.contract import Dialect
from tdbg.model import Phase

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
    calls={
        "maximum": "{library}.maximum({0}, {1})",
        "minimum": "{library}.minimum({0}, {1})",
        "where": "{library}.where({0}, {1}, {2})",
        "divide_no_nan": "{library}.math.divide_no_nan({0}, {1})",
    },
    words={"variable": "variable", "layer": "layer"},
)
