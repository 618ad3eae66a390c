"""How users of numpy say things."""

from numpy_adapter.ops import KINDS
from tdbg.frameworks.contract import Dialect

DIALECT = Dialect(
    name="numpy",
    title="NumPy",
    alias="np",
    modules=("numpy",),
    packages=("numpy", "numpy_adapter"),
    calls={
        "maximum": "{library}.maximum({0}, {1})",
        "minimum": "{library}.minimum({0}, {1})",
        "where": "{library}.where({0}, {1}, {2})",
        "ones_like": "{library}.ones_like({0})",
        "sqrt": "{library}.sqrt({0})",
    },
    spelled={kind: (name,) for name, kind in KINDS.items()},
)
