"""What ops are, in words that no framework owns: the kind of an op, and the roles that it plays in a program.

A framework says both of each of its native op types (``frameworks/contract.py``), a trace keeps them beside the native
name (columns ``kind`` and ``roles`` of ``ops``), and everything that reads a trace thinks in them alone. The native
name is for display. An op's inputs stand in the order that its kind says here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, Flag, auto


class Kind(Enum):
    """What an op computes. The texts are part of the trace format and never change."""

    __hash__ = object.__hash__  # Enum's own is slow, and these are looked up for every op of a trace

    OTHER = "other"  # none of these; its roles still say what it does to a program

    # ---- element by element
    ADD = "add"  # a + b
    ADD_N = "add_n"  # a + b + c + ...
    ADD_BIAS = "add_bias"  # a + a vector along its channels
    SUBTRACT = "subtract"  # a - b
    MULTIPLY = "multiply"  # a * b
    MULTIPLY_NO_NAN = "multiply_no_nan"  # a * b, and 0 where b is 0
    DIVIDE = "divide"  # a / b
    DIVIDE_NO_NAN = "divide_no_nan"  # a / b, and 0 where b is 0
    FLOOR_DIVIDE = "floor_divide"  # a // b
    TRUNCATE_DIVIDE = "truncate_divide"  # a / b towards 0
    MODULO = "modulo"  # a % b
    NEGATE = "negate"  # -x
    ABS = "abs"
    SIGN = "sign"
    SQUARE = "square"  # x * x
    SQUARED_DIFFERENCE = "squared_difference"  # (a - b) * (a - b)
    SQRT = "sqrt"
    RSQRT = "rsqrt"  # 1 / sqrt(x)
    RECIPROCAL = "reciprocal"  # 1 / x
    POWER = "power"  # a ** b
    EXP = "exp"
    EXPM1 = "expm1"  # exp(x) - 1
    LOG = "log"
    LOG1P = "log1p"  # log(1 + x)
    XLOGY = "xlogy"  # x * log(y), and 0 where x is 0
    XLOG1PY = "xlog1py"  # x * log(1 + y), and 0 where x is 0
    XDIVY = "xdivy"  # x / y, and 0 where x is 0
    MAXIMUM = "maximum"  # the greater of a and b
    MINIMUM = "minimum"  # the lesser of a and b
    CLIP = "clip"  # x, least, greatest
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    ATAN2 = "atan2"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    ERF = "erf"
    ERFC = "erfc"
    ERFINV = "erfinv"
    NDTRI = "ndtri"  # the quantile of the normal distribution
    LGAMMA = "lgamma"
    DIGAMMA = "digamma"
    POLYGAMMA = "polygamma"
    ZETA = "zeta"
    BETAINC = "betainc"
    IGAMMA = "igamma"
    IGAMMAC = "igammac"

    # ---- activations
    RELU = "relu"
    RELU6 = "relu6"
    LEAKY_RELU = "leaky_relu"
    ELU = "elu"
    SELU = "selu"
    GELU = "gelu"
    SIGMOID = "sigmoid"
    SOFTPLUS = "softplus"
    SOFTSIGN = "softsign"
    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"

    # ---- gradients that are ops of their own
    RECIPROCAL_GRADIENT = "reciprocal_gradient"
    SQRT_GRADIENT = "sqrt_gradient"
    RSQRT_GRADIENT = "rsqrt_gradient"
    RELU_GRADIENT = "relu_gradient"
    RELU6_GRADIENT = "relu6_gradient"
    LEAKY_RELU_GRADIENT = "leaky_relu_gradient"
    ELU_GRADIENT = "elu_gradient"
    SELU_GRADIENT = "selu_gradient"
    GELU_GRADIENT = "gelu_gradient"
    TANH_GRADIENT = "tanh_gradient"
    SIGMOID_GRADIENT = "sigmoid_gradient"
    SOFTPLUS_GRADIENT = "softplus_gradient"
    SOFTSIGN_GRADIENT = "softsign_gradient"
    BIAS_GRADIENT = "bias_gradient"  # a sum over all but the channels
    CHOLESKY_GRADIENT = "cholesky_gradient"
    NORMALIZE_GRADIENT = "normalize_gradient"
    CONVOLVE_GRADIENT = "convolve_gradient"  # of a convolution's image: its shape, filter, gradient
    FILTER_GRADIENT = "filter_gradient"  # of a convolution's filter: image, its shape, gradient
    SLICE_GRADIENT = "slice_gradient"  # shape, begin, end, strides, gradient
    PAD_GRADIENT = "pad_gradient"

    # ---- losses
    SOFTMAX_CROSS_ENTROPY = "softmax_cross_entropy"  # logits, probabilities
    SPARSE_SOFTMAX_CROSS_ENTROPY = "sparse_softmax_cross_entropy"  # logits, numbers of classes
    CTC_LOSS = "ctc_loss"
    HALF_SQUARES = "half_squares"  # sum(x * x) / 2

    # ---- over axes
    SUM = "sum"  # x, axes
    MEAN = "mean"  # x, axes
    PRODUCT = "product"  # x, axes
    MAX = "max"  # x, axes
    MIN = "min"  # x, axes
    NORM = "norm"  # x, axes
    LOG_SUM_EXP = "log_sum_exp"  # x, axes
    ANY = "any"  # x, axes
    ALL = "all"  # x, axes
    ARGMAX = "argmax"  # x, axis
    ARGMIN = "argmin"  # x, axis
    TOP_K = "top_k"  # x, k
    CUMSUM = "cumsum"  # x, axis
    CUMPROD = "cumprod"  # x, axis
    SEGMENT_SUM = "segment_sum"  # x, segments
    SEGMENT_MEAN = "segment_mean"  # x, segments
    SEGMENT_REDUCTION = "segment_reduction"  # the other reductions of segments: x, segments
    BATCH_NORM = "batch_norm"  # x, scale, offset, mean, variance
    POOL = "pool"

    # ---- matrices
    MATMUL = "matmul"  # a, b; also of stacks of matrices
    EINSUM = "einsum"
    CONVOLVE = "convolve"  # image, filter
    DEPTHWISE_CONVOLVE = "depthwise_convolve"  # image, filter
    # Computed by the runtime as one with what follows them in the program, such as a bias and an activation.
    FUSED_MATMUL = "fused_matmul"  # a, b, ...
    FUSED_CONVOLVE = "fused_convolve"  # image, filter, ...
    FUSED_DEPTHWISE_CONVOLVE = "fused_depthwise_convolve"  # image, filter, ...
    DETERMINANT = "determinant"
    LOG_DETERMINANT = "log_determinant"
    INVERSE = "inverse"
    SOLVE = "solve"  # matrix, right-hand side
    TRIANGULAR_SOLVE = "triangular_solve"  # matrix, right-hand side
    CHOLESKY = "cholesky"
    QR = "qr"
    SVD = "svd"
    EIGEN = "eigen"
    SYMMETRIC_EIGEN = "symmetric_eigen"
    MATRIX_SQRT = "matrix_sqrt"
    MATRIX_LOG = "matrix_log"

    # ---- the same numbers elsewhere, or some of them
    IDENTITY = "identity"
    STOP_GRADIENT = "stop_gradient"
    CHECK = "check"  # hands on, or ends the program
    RESHAPE = "reshape"  # x, shape
    EXPAND_DIMS = "expand_dims"  # x, axis
    SQUEEZE = "squeeze"
    TRANSPOSE = "transpose"  # x, order of the axes
    CAST = "cast"
    BITCAST = "bitcast"
    SLICE = "slice"  # x, begin, ...
    STRIDED_SLICE = "strided_slice"  # x, begin, end, strides
    GATHER = "gather"  # x, indices
    GATHER_ND = "gather_nd"  # x, indices
    SELECT = "select"  # condition, where it holds, where it does not
    WHERE = "where"  # the indices at which a condition holds
    CONCAT = "concat"  # parts, axis
    CONCAT_AXIS_FIRST = "concat_axis_first"  # axis, parts
    STACK = "stack"
    UNSTACK = "unstack"
    SPLIT = "split"  # x, sizes, axis
    SPLIT_AXIS_FIRST = "split_axis_first"  # axis, x
    PAD = "pad"  # x, widths
    PAD_WITH = "pad_with"  # x, widths, value
    TILE = "tile"  # x, times
    BROADCAST = "broadcast"  # x, shape
    REVERSE = "reverse"  # x, axes
    ROLL = "roll"  # x, shift, axis
    REARRANGE = "rearrange"  # blocks to depth and such: x, ...
    RESIZE = "resize"  # images, size
    DIAGONAL = "diagonal"
    BAND = "band"  # x, how many below, how many above
    SET_DIAGONAL = "set_diagonal"  # x, diagonal
    SCATTER = "scatter"  # indices, values, shape
    SCATTER_INTO = "scatter_into"  # x, indices, values
    ONE_HOT = "one_hot"  # numbers, depth, on, off
    FILL = "fill"  # shape, value
    DYNAMIC_STITCH = "dynamic_stitch"
    SHAPE_OF = "shape_of"  # a shape, a size or a rank: looks at no number
    LIKE = "like"  # zeros or ones in the shape of x
    RANGE = "range"

    # ---- true or false
    LESS = "less"
    LESS_EQUAL = "less_equal"
    GREATER = "greater"
    GREATER_EQUAL = "greater_equal"
    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    IS_NAN = "is_nan"
    IS_INFINITE = "is_infinite"
    IS_FINITE = "is_finite"

    # ---- where numbers come from
    CONSTANT = "constant"
    EMPTY = "empty"  # memory that nobody has written
    RANDOM_NORMAL = "random_normal"
    RANDOM = "random"  # any other distribution
    SAMPLE = "sample"  # a class, by its logits
    ARGUMENT = "argument"  # of a function, or fed
    NEXT_ELEMENT = "next_element"  # of a data pipeline
    OPTIONAL_VALUE = "optional_value"  # out of an Optional
    DATASET = "dataset"  # in memory: what it is made of went in as its inputs
    STAGE = "stage"  # of a data pipeline: a map, a shuffle, a batch
    ITERATOR = "iterator"
    RESTORE = "restore"  # out of a checkpoint
    PARSE_NUMBER = "parse_number"  # a text as a number
    PARSE_CSV = "parse_csv"  # lines as columns
    PARSE = "parse"  # other text or bytes as numbers
    PYTHON = "python"  # a function of the user's in Python

    # ---- variables
    VARIABLE = "variable"  # the variable itself, not its value
    READ = "read"  # variable; where it has no input it is the variable itself
    GATHER_READ = "gather_read"  # some rows of a variable: variable, indices
    GATHER_ND_READ = "gather_nd_read"
    ASSIGN = "assign"  # variable, value
    ASSIGN_ADD = "assign_add"
    ASSIGN_SUBTRACT = "assign_subtract"
    ASSIGN_SLICE = "assign_slice"
    ASSIGN_ROWS = "assign_rows"  # variable, indices, values
    UPDATE = "update"  # an optimizer's whole step for one variable
    ADAPTIVE_UPDATE = "adaptive_update"  # the same, where the gradient is squared for it: Adam, RMSprop, ...

    # ---- calls and loops
    CALL = "call"  # of a graph: its inputs are what that takes, its outputs what that gives
    IF = "if"
    CASE = "case"
    WHILE = "while"
    LOOP_ENTER = "loop_enter"
    LOOP_EXIT = "loop_exit"
    LOOP_NEXT = "loop_next"  # hands a value to the next iteration
    LOOP_CONDITION = "loop_condition"
    MERGE = "merge"  # whichever of its inputs is there
    SWITCH = "switch"  # x, condition
    PUSH = "push"  # on a stack that a loop's gradient takes from
    POP = "pop"
    LIST_STACK = "list_stack"  # the elements of a list, or some of them, as one tensor: list, ...
    LIST_SET = "list_set"  # list, index, value
    LIST_GET = "list_get"  # list, index
    LIST_FROM = "list_from"  # x, shape
    ARRAY = "array"  # that a loop writes to
    ARRAY_READ = "array_read"  # some of its elements, or all: array, ..., flow
    DEQUEUE = "dequeue"  # out of a queue
    COMPOSITION = "composition"  # several ops as one, each on what the one before it gave
    PRINT = "print"
    ASSERT = "assert"

    @classmethod
    def _missing_(cls, value: object) -> Kind:
        """A trace may hold any word: of a later tdbg, or of an earlier one that wrote none."""
        return cls.OTHER


class Role(Flag):
    """What an op does in a program, whatever it computes. The names, in small letters, are part of the trace format."""

    MOVES = auto()  # its output holds the very elements of its first input
    RISKY = auto()  # can make bad values of good ones for a reason worth showing
    SAFE = auto()  # never makes a bad value of good ones
    ENTERS = auto()  # data comes into the program here
    PARSES = auto()  # makes numbers of text or bytes
    READS_STATE = auto()  # its output is a variable's value
    WRITES_STATE = auto()  # changes the variable that is its first input
    CALLS = auto()  # runs other graphs
    LOOPS = auto()  # runs them again and again

    @property
    def words(self) -> list[str]:
        """As a trace keeps them: ``["moves"]``."""
        return [str(role.name).lower() for role in self]

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Role:
        """From a trace, which may hold any words."""
        roles = cls(0)
        for word in words:
            roles |= _ROLE_OF_WORD.get(word, cls(0))
        return roles


NO_ROLE = Role(0)
_ROLE_OF_WORD = {str(role.name).lower(): role for role in Role}


ADDITIONS = frozenset((Kind.ADD, Kind.ADD_BIAS))
DIVISIONS = frozenset((Kind.DIVIDE, Kind.XDIVY))
SOFTMAXES = frozenset((Kind.SOFTMAX, Kind.LOG_SOFTMAX))
PRODUCTS = frozenset((Kind.MATMUL, Kind.EINSUM, Kind.CONVOLVE, Kind.DEPTHWISE_CONVOLVE))  # with weights, mostly
# What the runtime computed as one with what follows it -> what it begins with.
FUSED = {
    Kind.FUSED_MATMUL: Kind.MATMUL,
    Kind.FUSED_CONVOLVE: Kind.CONVOLVE,
    Kind.FUSED_DEPTHWISE_CONVOLVE: Kind.DEPTHWISE_CONVOLVE,
}
CROSS_ENTROPIES = frozenset((Kind.SOFTMAX_CROSS_ENTROPY, Kind.SPARSE_SOFTMAX_CROSS_ENTROPY))
# Where data comes in while the program runs.
PIPELINES = frozenset((Kind.NEXT_ELEMENT, Kind.OPTIONAL_VALUE))
ENTRANCES = PIPELINES | {Kind.ARGUMENT}
DATASETS = frozenset((Kind.DATASET, Kind.STAGE))
# They hand out what was put into a list, or into what a loop writes to.
OUT_OF_LISTS = frozenset((Kind.LIST_STACK, Kind.LIST_GET, Kind.POP, Kind.ARRAY_READ))
# The same, and a variable, a queue or a pipeline; how it got there is not recorded.
KEEPERS = ENTRANCES | OUT_OF_LISTS | {Kind.READ, Kind.DEQUEUE}
# They write to a variable what their last input holds: in place of what was there, or of some of it, or added to it.
ASSIGNMENTS = frozenset((Kind.ASSIGN, Kind.ASSIGN_ADD, Kind.ASSIGN_SUBTRACT, Kind.ASSIGN_SLICE, Kind.ASSIGN_ROWS))
# What comes out of them is what the graphs give that they run. IF and CASE take their choice before the arguments.
GRAPH_CALLS = frozenset((Kind.CALL, Kind.IF, Kind.CASE, Kind.WHILE))
# They hand on what they are given, an infinity with it, and compute at most a sum or a product.
HAND_ON = frozenset(
    (
        Kind.SELECT, Kind.ADD, Kind.BROADCAST, Kind.TILE, Kind.FILL, Kind.STACK, Kind.CONCAT, Kind.STRIDED_SLICE,
        Kind.SLICE, Kind.GATHER, Kind.CAST, Kind.ARGUMENT, Kind.PAD_WITH, Kind.BAND, Kind.SET_DIAGONAL, Kind.MULTIPLY,
        Kind.NEGATE, Kind.SUBTRACT, Kind.NEXT_ELEMENT, Kind.OPTIONAL_VALUE,
    )
)  # fmt: skip
ONLY_MOVE = frozenset(
    (
        Kind.SELECT, Kind.BROADCAST, Kind.TILE, Kind.STACK, Kind.UNSTACK, Kind.CONCAT, Kind.SPLIT,
        Kind.SPLIT_AXIS_FIRST, Kind.STRIDED_SLICE, Kind.SLICE, Kind.GATHER, Kind.GATHER_ND, Kind.REVERSE, Kind.PAD,
        Kind.BAND, Kind.NEGATE,
    )
)  # fmt: skip
COMPARE = frozenset(
    (
        Kind.MINIMUM, Kind.MAXIMUM, Kind.MIN, Kind.MAX, Kind.LESS, Kind.LESS_EQUAL, Kind.GREATER, Kind.GREATER_EQUAL,
    )
)  # fmt: skip
WEIGH = SOFTMAXES | {Kind.EXP, Kind.TOP_K, Kind.ARGMAX, Kind.SIGMOID, Kind.SAMPLE}
# They can make a number of an infinity.
HEAL = (
    COMPARE
    | WEIGH
    | {
        Kind.SELECT, Kind.CLIP, Kind.MULTIPLY_NO_NAN, Kind.DIVIDE_NO_NAN, Kind.TANH, Kind.ERF, Kind.ATAN, Kind.SOFTSIGN,
        Kind.RELU, Kind.RELU6, Kind.ELU, Kind.SELU, Kind.SOFTPLUS, Kind.RECIPROCAL, Kind.DIVIDE, Kind.EXPM1,
        Kind.LOG_SUM_EXP,
    }
)  # fmt: skip
# A program that has one of them knows that there may be NaN.
SPARE_NAN = frozenset(
    (
        Kind.IS_NAN, Kind.IS_FINITE, Kind.IS_INFINITE, Kind.SELECT, Kind.MULTIPLY_NO_NAN, Kind.DIVIDE_NO_NAN,
        Kind.WHERE,
    )
)  # fmt: skip
