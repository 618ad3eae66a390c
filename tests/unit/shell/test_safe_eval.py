"""What eval computes, and that nothing but arithmetic can come of a text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdbg.errors import TdbgError
from tdbg.shell import numpy_words
from tdbg.shell.eval_limits import LARGEST
from tdbg.shell.safe_eval import evaluate

X = np.arange(12.0).reshape(3, 4)
NAMES = {"x": X, "words": np.array([b"a", b"bc"], object), "huge": np.broadcast_to(np.float32(1), (80_000_000,))}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("-x[0, -1]", -3.0),
        ("x[::2, 1:3]", X[::2, 1:3]),
        ("x[..., None].shape", (3, 4, 1)),
        ("x[x > 5]", X[X > 5]),
        ("x[[0, 2]][:, [1, 1]]", X[[0, 2]][:, [1, 1]]),
        ("x[[0, 2], [1, 3]]", X[[0, 2], [1, 3]]),
        ("np.matmul(x.T, x)", X.T @ X),
        ("x @ x.T", X @ X.T),
        ("np.sum(x, axis=1)", X.sum(1)),
        ("x.sum(axis=0).reshape(2, 2)", X.sum(0).reshape(2, 2)),
        ("x.astype('float16').dtype == np.float16", True),
        ("np.linalg.norm(x, 'fro')", np.linalg.norm(X)),
        ("np.linalg.svd(x, full_matrices=False).S", np.linalg.svd(X, full_matrices=False).S),
        ("1 < x[0, 2] < 3", True),
        ("np.where(x > 5, 1, 0).sum() if x.size > 3 else nan", 6),
        ("max(x) - min(x) + len(x) + abs(-1)", 15.0),
        ("np.isinf(np.log(x)).any() and not False", True),
        ("words == b'bc'", np.array([False, True])),
        ("np.percentile(x, [0, 50, 100])", np.percentile(X, [0, 50, 100])),
        ("np.mean(huge)", 1.0),
        ("2**-1", 0.5),
        ("10.0**300 * 10.0**300", np.inf),
    ],
)  # fmt: skip
def test_what_is_computed(text, value):
    found = evaluate(text, NAMES)
    assert np.shape(found) == np.shape(value)
    assert np.array_equal(np.asarray(found), np.asarray(value))


ESCAPES = """
__import__('os').system('true')
open('/etc/passwd').read()
().__class__.__bases__[0].__subclasses__()
x.__class__
x.__array_interface__
x.ctypes
x.base
x.data
x.tofile('/tmp/t')
x.dump('/tmp/t')
x.tobytes()
x.setflags(write=True)
x.dtype.type.mro()
x.dtype.__class__
x.shape.__class__
np.load('/tmp/t.npy')
np.save('/tmp/t', x)
np.savetxt('/tmp/t', x)
np.fromfile('/etc/passwd')
np.loadtxt('/etc/passwd')
np.genfromtxt('/etc/passwd')
np.memmap('/etc/passwd')
np.lib.format.open_memmap('/tmp/t')
np.ctypeslib
np.testing
np.f2py
np.core
np.random.bytes(10)
np.frompyfunc(abs, 1, 1)
np.vectorize(abs)
np.apply_along_axis(abs, 0, x)
np.fromfunction(abs, (2, 2))
np.sum.__globals__
np.float32.__mro__
np.linalg.__loader__
np.linalg.linalg
np
np.sum
np.linalg
np.float32
lambda: 1
[y for y in (1, 2)]
(y for y in (1, 2))
{1: 2}
{1, 2}
(y := 1)
f"{x}"
'a' * 10
'%1000000000d' % 1
b'a' * 10
*x
eval('1')
exec('1')
getattr(x, 'T')
vars()
object
type(x)
print(1)
np.add(x, x, x)
np.add(x, x, out=x)
np.array(x, dtype=object)
x.astype('O')
x.astype('S1000000000')
x.astype('f4,f4')
np.ones(3, 'V1000000000')
np.array([('a', 1)])
np.sum(**x)
10**10**10
2**5000
1 << 10**10
9**99999
(2**4000) * (2**4000)
np.ones(10**12)
np.ones((10**6, 10**6))
np.zeros_like(x, shape=(10**12,))
np.full(10**8, 'a long text')
np.repeat('text', 10**8)
np.where(x > 0, 'a', 'b')
np.tile(x, 10**9)
np.repeat(x, 10**9)
x.repeat(10**9)
np.arange(10**12)
np.linspace(0, 1, 10**12)
np.eye(10**6)
np.diag(huge)
np.outer(huge, huge)
np.kron(huge, huge)
np.bincount(np.array([10**12]))
np.histogram(x, 10**12)
np.histogram(x, 'fd')
np.pad(x, 10**9)
np.broadcast_to(x[0], (10**9, 4))
np.meshgrid(huge, huge)
np.cov(huge[:, None])
np.linalg.svd(huge[:, None])
np.matmul(huge[:, None], huge[None, :])
huge[:, None] @ huge[None, :]
np.dot(huge[:, None], huge[None, :])
huge[:, None] + huge
huge[:, None] == huge
x[np.zeros(10**8, int)]
np.percentile(huge, huge, 0)
np.clip(huge[:, None], huge, huge)
np.sum(np.ones((10**10, 0)), axis=1)
np.zeros((0, 10**10)).sum(axis=0)
x[:0].reshape(10**12, 0)
np.array_split(x, 10**9)
np.array([[huge, huge], [huge, huge]])
[huge, huge] + [huge, huge]
np.stack([huge, huge])
np.matmul(huge[None, :], huge[:, None], axes=[(-1, -2), (-1, -2), (-2, -1)])
huge[:, None].clip(0, huge)
np.add(huge[:, None], 1, where=huge > 0)
np.cov(x, huge[:12].reshape(3, 4))
np.cov(huge.reshape(8, -1), rowvar=False)
np.corrcoef(huge.reshape(8, -1), rowvar=False)
np.tril(huge)
np.triu(huge[:10**6])
np.argwhere(huge.reshape(2, 2, 2, -1))
huge.reshape(2, 2, 2, -1).nonzero()
np.gradient(huge.reshape(2, 2, 2, -1))
words * 2
words + words
np.multiply(words, 10**9)
x in x
x is x
x['a']
(1).real
x if x else x
undefined + 1
1 +
""".strip().splitlines()  # fmt: skip


@pytest.mark.parametrize("text", ESCAPES)
def test_what_is_refused(text):
    before = X.copy()
    with pytest.raises(TdbgError) as refused:
        evaluate(text, NAMES)
    assert "\n" not in str(refused.value)
    assert np.array_equal(before, X)


def test_deep_nesting_is_a_sentence():
    for text in ("(" * 3000 + "1" + ")" * 3000, "-" * 5000 + "1", "1" + "+1" * 4000, "x\0"):
        try:
            evaluate(text, NAMES)
        except TdbgError as refused:
            assert "\n" not in str(refused)


def test_a_name_that_is_close_is_offered():
    with pytest.raises(TdbgError, match="did you mean 'matmul'"):
        evaluate("np.matmull(x, x)", NAMES)


WORDS = st.sampled_from(
    [
        *numpy_words.names(), *numpy_words.ARRAY_METHODS, "np", "x", "words", "huge", "x[0]", "x.T", "1", "-3", "2.5",
        "10**9", "'f4'", "None", "[1, 2]", "(3, 4)", "x[1:, None]", "True", "__class__",
    ]
)  # fmt: skip
CALLS = st.builds(
    lambda name, args, keyword: f"np.{name}({', '.join(args)}{keyword})",
    st.sampled_from(numpy_words.names()),
    st.lists(st.sampled_from("x x[0] x.T 1 -3 2.5 10**9 'f4' None [1,2] (3,4)".split()), max_size=3),
    st.sampled_from(["", ", axis=0", ", dtype='f4'", ", out=x", ", n=10**9", ", num=10**10", ", ndmin=3"]),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=40), CALLS, st.lists(WORDS, max_size=5).map(" ".join)))
def test_no_text_does_anything_but_compute(text):
    before = X.copy()
    try:
        found = evaluate(text, NAMES)
    except TdbgError as refused:
        assert "\n" not in str(refused)
    else:
        assert np.size(found) <= LARGEST if not isinstance(found, tuple | list) else len(found) <= LARGEST
    assert np.array_equal(before, X)
