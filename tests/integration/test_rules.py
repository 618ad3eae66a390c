"""Each health rule on a small real program that is sick, with its line, and on one that only looks like it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import line_with, record

import tdbg
from tdbg.__main__ import main
from tdbg.query.rules import NAMES, Alert
from tdbg.query.verdict.text import full_lines, short_lines
from tdbg.query.verdict.verdict import explain

tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


RNG = np.random.default_rng(5)
X = RNG.normal(size=(64, 8)).astype(np.float32)
CLASSES = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0)
TARGETS = (X[:, :1] * 0.5 + 0.1 * X[:, 1:2]).astype(np.float32)


def normal(*shape: int, size: float = 0.3) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape, scale=size).astype(np.float32)


def trained(step: Callable, variables: list, rate: float = 0.05, steps: int = 12, graph: bool = True) -> None:
    """Plain gradient descent on what ``step`` returns."""

    def one() -> Any:
        with tf.GradientTape() as tape:
            loss = step()
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(rate * gradient)  # trained
        return loss

    run = tf.function(one) if graph else one
    for _ in range(steps):
        run()


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable], Path]:
    """The trace of a program, which is recorded once however many tests look at it."""
    folder = tmp_path_factory.mktemp("rules")

    @functools.cache
    def trace_of(program: Callable) -> Path:
        with record(folder, program.__name__) as recorded:
            program()
        return recorded.path

    return trace_of


def alerts_of(folder: Path, program: Callable, **options: Any) -> tuple[Alert, ...]:
    with record(folder, **options) as recorded:
        program()
    return explain(recorded.trace).alerts


# ---- sick programs: the rule that must speak, and the mark of its line


def dead_relu(graph: bool = True) -> None:
    w, b, v = tf.Variable(normal(8, 16)), tf.Variable(np.full(16, -50, np.float32)), tf.Variable(normal(16, 1))

    def loss():
        hidden = tf.nn.relu(X @ w + b)  # dead
        return tf.reduce_mean((hidden @ v - TARGETS) ** 2)

    trained(loss, [w, v], graph=graph)


def dead_relu_eager() -> None:
    dead_relu(graph=False)


def saturated_activation() -> None:
    w = tf.Variable(normal(8, 16, size=500.0))  # saturated
    v = tf.Variable(normal(16, 1, size=0.01))

    def loss():
        hidden = tf.tanh(X @ w)
        return tf.reduce_mean((hidden @ v - TARGETS) ** 2)

    trained(loss, [w, v], rate=1e-3)


def vanishing_gradient() -> None:
    weights = [tf.Variable(normal(8, 8, size=0.2)) for _ in range(12)]
    last = tf.Variable(normal(8, 1))

    def loss():
        h = X
        for w in weights:
            h = tf.sigmoid(h @ w)  # vanishing
        return tf.reduce_mean((h @ last - TARGETS) ** 2)

    trained(loss, [*weights, last])


def exploding_gradient() -> None:
    w = tf.Variable(normal(8, 1))

    def loss():
        return tf.reduce_mean((X @ w - TARGETS) ** 2)  # exploding

    trained(loss, [w], rate=2.0, steps=16)


def weights_not_updated() -> None:
    w, v = tf.Variable(normal(8, 16)), tf.Variable(normal(16, 1))
    trained(lambda: tf.reduce_mean((tf.nn.relu(X @ w) @ v - TARGETS) ** 2), [v])


def pixels_and_a_rate_of_zero() -> None:
    model = mlp()
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    model.fit(np.abs(X) * 100, TARGETS, batch_size=8, verbose=0)  # rate and pixels


def update_ratio() -> None:
    w = tf.Variable(normal(8, 16))

    def loss():
        return tf.reduce_sum(tf.sin(20 * X @ w)) + tf.reduce_sum(w**2)  # bouncing

    trained(loss, [w], rate=0.5, steps=16)


def double_softmax() -> None:
    w = tf.Variable(normal(8, 3))

    def loss():
        probabilities = tf.nn.softmax(X @ w)
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(CLASSES, probabilities)  # twice
        )

    trained(loss, [w], steps=2)


def broadcast_shape(graph: bool = True) -> None:
    w = tf.Variable(normal(8, 1))
    target = TARGETS[:, 0]

    def loss():
        return tf.reduce_mean(tf.square(X @ w - target))  # broadcast

    trained(loss, [w], steps=2, graph=graph)


def broadcast_shape_eager() -> None:
    broadcast_shape(graph=False)


def output_range() -> None:
    weight = tf.Variable(tf.random.normal([4, 1]))
    prices = tf.fill([16, 1], 300.0)
    for _ in range(5):
        with tf.GradientTape() as tape:
            price = tf.tanh(tf.random.normal([16, 4]) @ weight)  # price
            loss = tf.reduce_mean(tf.math.squared_difference(prices.numpy(), price))
        weight.assign_sub(0.01 * tape.gradient(loss, weight))


def labels_out_of_range() -> None:
    w = tf.Variable(normal(8, 3))
    labels = tf.constant(CLASSES * 2)

    @tf.function
    def step(labels):
        with tf.GradientTape() as tape:
            coded = tf.one_hot(labels, 3)  # range
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(coded, X @ w))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    for _ in range(2):
        step(labels)


def labels_shifted() -> None:
    w = tf.Variable(normal(8, 3))

    @tf.function
    def step(labels):
        with tf.GradientTape() as tape:
            coded = tf.one_hot(labels, 3)  # shifted
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(coded, X @ w))
        w.assign_sub(0.1 * tape.gradient(loss, w))

    for _ in range(2):
        step(tf.constant(CLASSES + 1))


def constant_output() -> None:
    w, v, b = tf.Variable(normal(8, 16)), tf.Variable(np.zeros((16, 1), np.float32)), tf.Variable([0.5])

    def loss():
        output = tf.nn.relu(X @ w) @ v + b  # constant
        return tf.reduce_mean(tf.square(output - TARGETS))

    trained(loss, [b])


def loss_not_decreasing() -> None:
    w = tf.Variable(normal(8, 1, size=0.01))

    def loss():
        return tf.reduce_mean(tf.square(X @ w - TARGETS))  # uphill

    trained(loss, [w], rate=-0.02, steps=60)


def batchnorm_poisoned() -> None:
    norm = tf.keras.layers.BatchNormalization()
    w = tf.Variable(normal(8, 1))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(norm(x, training=True) @ w - TARGETS))  # norm
        w.assign_sub(0.01 * tape.gradient(loss, w))

    for number in range(16):
        step(tf.constant(X * (1e5 if number == 8 else 1)))


def attention_logit_growth() -> None:
    x = tf.constant(X.reshape(8, 8, 8))
    q, k = tf.Variable(normal(8, 8)), tf.Variable(normal(8, 8))

    def loss():
        logits = tf.matmul(x @ q, x @ k, transpose_b=True)  # attention
        return -tf.reduce_mean(tf.reduce_max(tf.nn.softmax(logits / 3.0), -1)) - tf.reduce_mean(tf.abs(logits))

    trained(loss, [q, k], rate=0.1, steps=24)


def half_overflow() -> None:
    w = tf.Variable(normal(8, 4))

    def loss():
        wide = tf.cast(X @ w, tf.float16)
        squares = wide * wide * tf.constant(7000.0, tf.float16)  # half
        return tf.reduce_mean(tf.cast(squares, tf.float32))

    trained(loss, [w], rate=1e-9, steps=6)


def half_underflow() -> None:
    w = tf.Variable(normal(8, 4))

    def loss():
        h = tf.cast(X, tf.float16) @ tf.cast(w, tf.float16)
        return tf.reduce_mean(tf.cast(h, tf.float32) ** 2) * 1e-5  # tiny

    trained(loss, [w], steps=8)


def rounded_to_zero() -> None:
    w = tf.Variable(normal(8, 4))

    def loss():
        h = tf.cast(X, tf.float16) @ tf.cast(w, tf.float16)
        return tf.reduce_mean(tf.cast(h, tf.float32) ** 2) * 1e-9  # nothing

    trained(loss, [w], steps=8)


def half_precision_update_lost(kind: str = "bfloat16") -> None:
    w = tf.Variable(tf.cast(normal(8, 4) + 2, kind))

    def loss():
        return tf.reduce_mean(tf.cast(tf.cast(X, kind) @ w, tf.float32) ** 2)  # lost

    trained(loss, [w], rate=tf.cast(1e-4, kind), steps=14)


def update_lost_in_float16() -> None:
    half_precision_update_lost("float16")


def huge_gradient() -> None:
    w, v = tf.Variable(normal(8, 16)), tf.Variable(normal(16, 1))

    def loss():
        return tf.reduce_mean((tf.nn.relu(X @ w) @ v - TARGETS) ** 2) * 1e12  # huge

    trained(loss, [w, v], rate=1e-14)


def first_class_never_meant() -> None:
    w = tf.Variable(normal(8, 4))

    @tf.function
    def step(labels):
        with tf.GradientTape() as tape:
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, X @ w)  # never
        w.assign_sub(0.1 * tape.gradient(each, w))

    for _ in range(4):
        step(tf.constant(CLASSES + 1))


def softmax_of_samples() -> None:
    w = tf.Variable(normal(8, 3))

    def loss():
        guess = tf.nn.softmax(X @ w, axis=0)  # samples
        return tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(CLASSES, guess))

    trained(loss, [w], steps=4)


def symmetric_weights() -> None:
    w = tf.Variable(np.full((8, 16), 0.1, np.float32))  # symmetric
    v = tf.Variable(normal(16, 1))
    trained(lambda: tf.reduce_mean((tf.tanh(X @ w) @ v - TARGETS) ** 2), [w, v])


def session(build: Callable, x: Any, steps: int = 12) -> None:
    """A Session that trains ``build``'s loss, by its variable list if it has one."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as running:
        v1.set_random_seed(3)
        given, target = v1.placeholder(tf.float32, [None, 8]), v1.placeholder(tf.float32, [None, 1])
        output, variables = build(given)
        loss = tf.reduce_mean(tf.square(output - target))
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=variables)  # list
        running.run(v1.global_variables_initializer())
        for _ in range(steps):
            running.run([train, loss], {given: x, target: TARGETS})


def session_layer(x: Any, size: int, name: str, activation: Any = tf.identity) -> Any:
    """With a bias, so that the runtime may fuse all of it."""
    weight = tf.compat.v1.get_variable(name, [x.shape[1], size])
    bias = tf.compat.v1.get_variable(f"{name}_bias", [size], initializer=tf.zeros_initializer())
    return activation(tf.nn.bias_add(x @ weight, bias))  # layer of a session


def deep_sigmoids_in_a_session() -> None:
    def build(x):
        for number in range(8):
            x = session_layer(x, 16, f"w{number}", tf.sigmoid)
        return session_layer(x, 1, "output"), None

    session(build, X)


def large_inputs_in_a_session() -> None:
    session(lambda x: (session_layer(session_layer(x, 16, "w", tf.sigmoid), 1, "output"), None), 200 + 100 * X)


def variable_list_in_a_session() -> None:
    def build(x):
        output = session_layer(session_layer(x, 16, "w", tf.nn.relu), 1, "output")
        return output, [one for one in tf.compat.v1.trainable_variables() if one.name.startswith("output")]

    session(build, X)


def mlp(activation: str = "relu") -> Any:
    tf.keras.utils.set_random_seed(3)
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(16, activation), layers.Dense(16, activation), layers.Dense(1)])


SICK = [
    (dead_relu, "dead_relu", "dead"),
    (dead_relu_eager, "dead_relu", "dead"),
    (saturated_activation, "saturated_activation", "saturated"),
    (vanishing_gradient, "vanishing_gradient", "vanishing"),
    (exploding_gradient, "exploding_gradient", "exploding"),
    (weights_not_updated, "weights_not_updated", "trained"),
    (pixels_and_a_rate_of_zero, "weights_not_updated", "rate and pixels"),
    (pixels_and_a_rate_of_zero, "unnormalised_inputs", "rate and pixels"),
    (update_ratio, "update_ratio", "bouncing"),
    (double_softmax, "double_softmax", "twice"),
    (broadcast_shape, "broadcast_shape", "broadcast"),
    (broadcast_shape_eager, "broadcast_shape", "broadcast"),
    (output_range, "output_range", "price"),
    (labels_out_of_range, "labels_out_of_range", "range"),
    (labels_shifted, "labels_shifted", "shifted"),
    (constant_output, "constant_output", "constant"),
    (loss_not_decreasing, "loss_not_decreasing", "uphill"),
    (batchnorm_poisoned, "batchnorm_poisoned", "norm"),
    (attention_logit_growth, "attention_logit_growth", "attention"),
    (half_overflow, "half_overflow", "half"),
    (half_underflow, "half_underflow", "tiny"),
    (rounded_to_zero, "half_underflow", "nothing"),
    (half_precision_update_lost, "half_precision_update_lost", "lost"),
    (update_lost_in_float16, "half_precision_update_lost", "lost"),
    (huge_gradient, "exploding_gradient", "huge"),
    (first_class_never_meant, "labels_shifted", "never"),
    (softmax_of_samples, "wrong_activation", "samples"),
    (symmetric_weights, "symmetric_weights", "symmetric"),
    (deep_sigmoids_in_a_session, "vanishing_gradient", "layer of a session"),
    (large_inputs_in_a_session, "saturated_activation", "layer of a session"),
    (variable_list_in_a_session, "weights_not_updated", "list"),
]


@pytest.mark.parametrize(("program", "rule", "mark"), SICK, ids=lambda value: getattr(value, "__name__", value))
def test_a_sick_program_gets_an_alert_with_its_line(
    traces: Callable[[Callable], Path], program: Callable, rule: str, mark: str
) -> None:
    alerts = explain(tdbg.open(traces(program))).alerts
    said = [f"{one.rule} {one.line} {one.text} {one.evidence}" for one in alerts]
    found = [alert for alert in alerts if alert.rule == rule]
    assert found, said
    assert (found[0].file, found[0].line) == (__file__, line_with(__file__, mark)), said
    assert found[0].why and found[0].fix


def test_every_rule_has_a_sick_program() -> None:
    assert {rule for _, rule, _ in SICK} == set(NAMES)


# ---- healthy programs, some of which look sick


def fit(model: Any, x: Any, y: Any, optimizer: Any = "adam", loss: Any = "mse", epochs: int = 8, **options: Any) -> Any:
    model.compile(optimizer, loss)
    model.fit(x, y, batch_size=16, epochs=epochs, verbose=0, **options)
    return model


SPARSE = "sparse_categorical_crossentropy"


def keras_mlp() -> None:
    """ReLUs with half of their outputs zero, weight decay, validation between the epochs; frozen layers, one of them
    used in training mode no more, under a new head."""
    base = mlp()
    base(X[:1])
    base.trainable = False
    decay = tf.keras.regularizers.L2(1e-4)
    new = [tf.keras.layers.Dense(size, kind, kernel_regularizer=decay) for size, kind in ((8, "relu"), (4, "tanh"))]
    model = tf.keras.Sequential([base, *new, tf.keras.layers.Dense(1)])
    fit(model, X, TARGETS, tf.keras.optimizers.AdamW(1e-3), validation_data=(X, TARGETS), epochs=6)


def keras_classifier() -> None:
    """A softmax on the last layer with a loss that expects it; logits grow large while it learns."""
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(32, "relu"), layers.Dropout(0.2), layers.Dense(3, "softmax")])
    fit(model, X, CLASSES, tf.keras.optimizers.SGD(0.5, momentum=0.9), SPARSE, epochs=30)


def keras_cnn() -> None:
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    images = np.random.default_rng(0).uniform(0, 255, (64, 8, 8, 1)).astype(np.float32)
    stack = [layers.Rescaling(1 / 255), layers.Conv2D(8, 3), layers.BatchNormalization(), layers.ReLU()]
    stack += [layers.MaxPool2D(), layers.Conv2D(8, 3, activation="relu"), layers.Flatten(), layers.Dense(3)]
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    fit(tf.keras.Sequential(stack), images, CLASSES, loss=loss, epochs=6)


def keras_lstm() -> None:
    """An embedding with sparse updates, an LSTM, a sigmoid at the end."""
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    tokens = np.random.default_rng(0).integers(0, 50, (64, 6))
    model = tf.keras.Sequential([layers.Embedding(50, 8), layers.LSTM(8), layers.Dense(1, "sigmoid")])
    fit(model, tokens, (tokens[:, 0] > 25).astype(np.float32), loss="binary_crossentropy", epochs=6)


def keras_transformer() -> None:
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    tokens = np.random.default_rng(0).integers(0, 50, (64, 6))
    given = tf.keras.Input((6,), dtype="int32")
    h = layers.Embedding(50, 16)(given)
    h = layers.LayerNormalization()(h + layers.MultiHeadAttention(2, 8)(h, h, use_causal_mask=True))
    h = layers.LayerNormalization()(h + layers.Dense(16)(layers.Dense(32, "gelu")(h)))
    model = tf.keras.Model(given, layers.Dense(50)(h))
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    fit(model, tokens, np.roll(tokens, -1, 1), tf.keras.optimizers.Adam(1e-3), loss, epochs=8)


def frozen_variable() -> None:
    projection = tf.Variable(normal(8, 16), trainable=False)
    v = tf.Variable(normal(16, 1))
    trained(lambda: tf.reduce_mean((tf.nn.relu(X @ projection) @ v - TARGETS) ** 2), [v])


def mixed_precision() -> None:
    """The loss scale drives gradients of float16 to the limit, on purpose."""
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        fit(mlp(), X, TARGETS, epochs=6)
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def eager_loop() -> None:
    w, b, v = (
        tf.Variable(normal(8, 16)),
        tf.Variable(np.zeros(16, np.float32)),
        tf.Variable(np.zeros((16, 1), np.float32)),
    )
    trained(lambda: tf.reduce_mean((tf.nn.relu(X @ w + b) @ v - TARGETS) ** 2), [w, b, v], graph=False)


def all_pairs() -> None:
    """Shapes (N, 1) and (N,) on purpose: both sides are predictions."""
    w = tf.Variable(normal(8, 1))

    def loss():
        scores = X @ w
        return tf.reduce_mean(tf.nn.softplus(scores - tf.squeeze(scores, 1))) + tf.reduce_mean(w**2)

    trained(loss, [w])


def sure_sigmoid() -> None:
    """The last sigmoid saturates, as that of a classifier that has learned does."""
    w = tf.Variable(normal(8, 1, size=300.0))
    trained(lambda: tf.reduce_mean(tf.sigmoid(X @ w)), [w])


def half_precision_weights() -> None:
    """Weights in bfloat16 whose updates are large enough to count."""
    w = tf.Variable(tf.cast(normal(8, 4), "bfloat16"))
    x = tf.cast(X, "bfloat16")
    trained(lambda: tf.reduce_mean(tf.cast(x @ w, tf.float32) ** 2), [w], rate=tf.cast(0.1, "bfloat16"), steps=14)


def few_labels() -> None:
    """Twelve labels without a 0 among them are no proof that there is none."""
    w = tf.Variable(normal(8, 4))
    labels, x = tf.constant([1, 2, 3, 1, 2, 3]), X[:6]
    trained(lambda: tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x @ w)), [w], steps=2)


def padded_labels() -> None:
    """-1 stands for positions that do not count: their one-hot code is zero, as it should be."""
    w = tf.Variable(normal(8, 3))
    labels = tf.constant(np.where(np.arange(64) % 4 == 0, -1, CLASSES))
    trained(
        lambda: tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 3), X @ w)), [w], graph=False
    )


def short_run() -> None:
    """A dead ReLU for two steps says nothing yet."""
    w, v = tf.Variable(normal(8, 16)), tf.Variable(normal(16, 1))
    trained(lambda: tf.reduce_mean((tf.nn.relu(X @ w - 50.0) @ v - TARGETS) ** 2), [v], steps=2)


def evaluation_only() -> None:
    model = mlp()
    for _ in range(8):
        model.predict(X * 0 - 1, verbose=0)


def shared_weights() -> None:
    """An autoencoder with tied weights, and gradients gathered over two batches."""
    w = tf.Variable(normal(8, 4))

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ w) @ tf.transpose(w) - x) ** 2)
        return tape.gradient(loss, w)

    for _ in range(20):
        w.assign_sub(0.1 * (gradient(tf.constant(X[:32])) + gradient(tf.constant(X[32:]))))


def moving_statistics() -> None:
    """Batch statistics far from where the moving ones begin: they move quickly at first."""
    norm = tf.keras.layers.BatchNormalization(momentum=0.5)
    w = tf.Variable(normal(8, 1))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(norm(x, training=True) @ w - TARGETS))
        w.assign_sub(0.01 * tape.gradient(loss, w))

    for number in range(16):
        step(tf.constant(X * (30 if number == 8 else 20) + 40))


HEALTHY = [
    keras_mlp, keras_classifier, keras_cnn, keras_lstm, keras_transformer, frozen_variable, mixed_precision, eager_loop,
    all_pairs, sure_sigmoid, padded_labels, short_run, evaluation_only, shared_weights, moving_statistics,
    half_precision_weights, few_labels,
]  # fmt: skip


@pytest.mark.parametrize("program", HEALTHY, ids=lambda program: program.__name__)
def test_a_healthy_program_gets_no_alert(tmp_path: Path, program: Callable) -> None:
    assert [f"{one.rule} {one.line} {one.text} {one.evidence}" for one in alerts_of(tmp_path, program)] == []


# ---- around the rules


def test_eight_lines_name_the_first_alert_and_the_status_says_trouble(
    traces: Callable[[Callable], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = explain(tdbg.open(traces(dead_relu)))
    lines = short_lines(verdict)
    assert (verdict.name, verdict.is_trouble) == ("unhealthy", True)
    assert lines[0].startswith("tdbg: no bad values, but Relu is all zeros") and "[dead_relu]" in lines[0]
    assert f":{line_with(__file__, 'dead')}" in lines[1]
    assert len(lines) <= 8
    assert main(["why", "--json", str(traces(dead_relu))]) == 1
    alert = json.loads(capsys.readouterr().out)["alerts"][0]
    assert {"rule", "file", "line", "step", "text", "why", "evidence"} <= alert.keys()
    assert (alert["rule"], alert["step"]) == ("dead_relu", 0)


def test_a_rule_is_silenced_by_option_by_environment_and_by_a_comment(
    traces: Callable[[Callable], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broadcast_on_purpose() -> None:
        w = tf.Variable(normal(8, 1))
        trained(lambda: tf.reduce_mean((X @ w - TARGETS[:, 0]) ** 2), [w], steps=2)  # tdbg: ignore[broadcast_shape]

    assert alerts_of(tmp_path, broadcast_on_purpose) == ()
    trace = str(traces(broadcast_shape))
    assert main(["why", trace]) == 1
    assert main(["why", "--ignore", "dead_relu,broadcast_shape", trace]) == 0
    monkeypatch.setenv("TDBG_IGNORE", "broadcast_shape")
    assert main(["why", trace]) == 0
    assert main(["why", "--ignore", "nonsense", trace]) == 2
    assert "there is no such health rule" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"mode": "health"}, "mode health keeps no numbers"),
        ({"mode": "shape"}, "mode shape keeps no numbers"),
        ({"ops": "Relu|MatMul"}, "a filter left out some ops"),
        ({"steps": "0:3"}, "only 3 training steps"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_cannot_be_asked_is_said(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    with record(tmp_path, **options) as recorded:
        dead_relu()
    verdict = explain(recorded.trace)
    assert verdict.alerts == ()
    assert reason in verdict.health.skipped["dead_relu"]
    told = verdict.as_dict()
    assert sorted([*told["rules_asked"], *told["rules_not_asked"]]) == sorted(NAMES)
    assert any(reason in line for line in full_lines(verdict))


def test_after_a_bad_value_nothing_is_alerted_and_before_it_still(tmp_path: Path) -> None:
    """Weights that become NaN at step 8 have been without an update until then, and a ReLU of NaN is not dead."""
    w, v = tf.Variable(normal(8, 16)), tf.Variable(normal(16, 1))  # made before

    def program() -> None:
        unused = tf.Variable(normal(16, 16))  # unused
        for number in range(16):
            with tf.GradientTape() as tape:
                scale = tf.math.log(tf.constant(2.0 if number < 8 else -1.0))
                loss = tf.reduce_mean((tf.nn.relu(X @ w @ unused) @ v * scale - TARGETS) ** 2)
            for variable, gradient in zip([w, v], tape.gradient(loss, [w, v]), strict=True):
                variable.assign_sub(0.01 * gradient)  # without it

    with record(tmp_path) as recorded:
        program()
    verdict = explain(recorded.trace)
    assert verdict.name == "bad_values"
    assert [origin.row.step for origin in verdict.origins] == [8]
    assert [(alert.rule, alert.line) for alert in verdict.alerts] == [
        ("weights_not_updated", line_with(__file__, "without it"))
    ]
    assert any("weights_not_updated" in line for line in short_lines(verdict))
