"""Programs as people write them, each with a silent bug and with that bug repaired: the rule, and the line to change.

A program is a file of its own, for the line is looked for in its source: the one that ends with ``# ->``.
"""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
from recorded_run import record

from tdbg.query.rules import Alert
from tdbg.query.verdict.verdict import explain

tf = pytest.importorskip("tensorflow")

START = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, Sequential, layers
tf.keras.utils.set_random_seed(1)
x = np.random.default_rng(1).normal(size=(256, 10)).astype(np.float32)
classes = (x[:, 0] > 0).astype(np.int64) + (x[:, 1] > 0)
target = 0.5 * x[:, :1] + x[:, 1:2]
"""


class Bug(NamedTuple):
    rule: str
    program: str
    repair: tuple[str, str]


BUGS = {
    "logits for probabilities, functional": Bug(
        "wrong_activation",
        """
given = Input((10,))
hidden = layers.Dense(16, "relu")(given)
model = Model(given, layers.Dense(3)(hidden))
model.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])  # ->
model.fit(x, classes, batch_size=16, verbose=0)
""",
        ("layers.Dense(3)", "layers.Dense(3, 'softmax')"),
    ),
    "logits for probabilities, one-hot": Bug(
        "wrong_activation",
        """
model = Sequential([layers.Dense(16, "relu"), layers.Dense(3)])
model.compile("adam", tf.keras.losses.CategoricalCrossentropy())  # ->
model.fit(x, tf.keras.utils.to_categorical(classes), batch_size=16, verbose=0)
""",
        ("CategoricalCrossentropy()", "CategoricalCrossentropy(from_logits=True)"),
    ),
    "no sigmoid, subclassed": Bug(
        "wrong_activation",
        """
class Classifier(Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.last = layers.Dense(16, "relu"), layers.Dense(1)

    def call(self, x):
        return self.last(self.hidden(x))

model = Classifier()
model.compile("adam", "binary_crossentropy")  # ->
model.fit(x, (classes > 0).astype(np.float32), batch_size=16, verbose=0)
""",
        ("layers.Dense(1)", "layers.Dense(1, 'sigmoid')"),
    ),
    "tanh for a sigmoid, own loop": Bug(
        "wrong_activation",
        """
model = Sequential([layers.Dense(16, "relu"), layers.Dense(1, "tanh")])
optimizer = tf.keras.optimizers.Adam()
entropy = tf.keras.losses.BinaryCrossentropy()  # ->

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = entropy(y, model(x, training=True))
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

for _ in range(10):
    step(x, (classes > 0).astype(np.float32)[:, None])
""",
        ("'tanh'", "'sigmoid'"),
    ),
    "a softmax over one unit": Bug(
        "wrong_activation",
        """
model = Sequential([
    layers.Dense(16, "relu"),
    layers.Dense(1, activation="softmax"),  # ->
])
model.compile("adam", "mse")
model.fit(x, classes > 0, batch_size=16, verbose=0)
""",
        ('"softmax"', '"sigmoid"'),
    ),
    "a softmax layer behind a softmax": Bug(
        "double_softmax",
        """
model = Sequential([
    layers.Dense(16, "relu"),
    layers.Dense(3, "softmax"),  # ->
    layers.Softmax(),
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, classes, batch_size=16, verbose=0)
""",
        ("    layers.Softmax(),\n", ""),
    ),
    "a sigmoid that Keras does not find again": Bug(
        "double_softmax",
        """
model = Sequential([
    layers.Dense(16, "relu"),
    layers.Dense(1, "sigmoid"),  # ->
    layers.Reshape(()),
])
model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, (classes > 0).astype(np.float32), batch_size=16, verbose=0)
""",
        ("from_logits=True", "from_logits=False"),
    ),
    "a dead ReLU inside an encoder": Bug(
        "dead_relu",
        """
encoder = Sequential([
    layers.Dense(32, "relu"),
    layers.Dense(16, "relu", bias_initializer=tf.keras.initializers.Constant(-40.0)),  # ->
    layers.Dense(8),
])
given = Input((10,))
model = Model(given, layers.Dense(1, name="head")(encoder(given)))
model.compile("adam", "mse")
model.fit(x, target, batch_size=16, verbose=0)
""",
        (", bias_initializer=tf.keras.initializers.Constant(-40.0)", ""),
    ),
    "ReLUs that too large a step killed": Bug(
        "dead_relu",
        """
model = Sequential([layers.Dense(16, "relu"), layers.Dense(16, "relu"), layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(5.0, clipnorm=10)  # ->
model.compile(optimizer, "mse")
model.fit(x, 10 * target + 30, batch_size=16, epochs=3, verbose=0)
""",
        ("SGD(5.0, clipnorm=10)", "SGD(0.001, clipnorm=10)"),
    ),
    "weights that all begin alike": Bug(
        "symmetric_weights",
        """
model = Sequential([
    Input((10,)),
    layers.Dense(16, "tanh", kernel_initializer="ones"),  # ->
    layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(x, target, batch_size=16, verbose=0)
""",
        (', kernel_initializer="ones"', ""),
    ),
    "tanh with weights of size 20": Bug(
        "saturated_activation",
        """
large = tf.keras.initializers.RandomNormal(stddev=20.0)
model = Sequential([
    layers.Dense(16, "tanh", kernel_initializer=large),  # ->
    layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(x, target, batch_size=16, verbose=0)
""",
        ("stddev=20.0", "stddev=0.2"),
    ),
    "eight sigmoids": Bug(
        "vanishing_gradient",
        """
model = Sequential()
for _ in range(8):
    model.add(layers.Dense(16, "sigmoid"))  # ->
model.add(layers.Dense(1, name="last"))
model.compile(tf.keras.optimizers.SGD(0.1), "mse")
model.fit(x, target, batch_size=64, epochs=4, verbose=0)
""",
        ('"sigmoid"', '"relu"'),
    ),
    "half of the model is not trained": Bug(
        "weights_not_updated",
        """
body, head = Sequential([layers.Dense(16, "relu")]), Sequential([layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(body(x)) - y) ** 2)
    weights = head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))  # ->

for _ in range(12):
    step(x, target)
""",
        ("weights = head", "weights = body.trainable_variables + head"),
    ),
    "a learning rate that rounds to nothing": Bug(
        "update_ratio",
        """
model = Sequential([layers.Dense(16, "relu"), layers.Dense(1)])
model.compile(
    tf.keras.optimizers.SGD(learning_rate=1e-11),  # ->
    "mse",
)
model.fit(x, target, batch_size=16, verbose=0)
""",
        ("1e-11", "1e-2"),
    ),
    "no sigmoid, and logits that soon look like probabilities": Bug(
        "wrong_activation",
        """
model = Sequential([layers.Dense(1, None, kernel_initializer="random_normal")])
model.compile(tf.keras.optimizers.Adam(0.02), "binary_crossentropy")  # ->
model.fit(0.01 * x, (classes > 0).astype(np.float32), batch_size=16, epochs=2, verbose=0)
""",
        ("layers.Dense(1, None", "layers.Dense(1, 'sigmoid'"),
    ),
    "targets of another shape, in a loop over a dataset": Bug(
        "broadcast_shape",
        """
model, optimizer = Sequential([layers.Dense(8, "relu"), layers.Dense(1)]), tf.keras.optimizers.Adam(0.01)
data = tf.data.Dataset.from_tensor_slices((x, target[:, 0])).batch(64)
for epoch in range(3):
    for some, wanted in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(wanted - model(some)))  # ->
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
        ("target[:, 0]", "target"),
    ),
    "two models that take turns, and one is given the weights of the other": Bug(
        "weights_not_updated",
        """
maker, judge = Sequential([layers.Dense(10)]), Sequential([layers.Dense(8, "relu"), layers.Dense(1)])
first, second = tf.keras.optimizers.Adam(0.001), tf.keras.optimizers.Adam(0.001)

@tf.function
def step(real):
    noise = tf.random.normal(tf.shape(real))
    made = maker(noise)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((judge(real) - 1) ** 2) + tf.reduce_mean(judge(made) ** 2)
    weights = judge.trainable_variables
    first.apply_gradients(zip(tape.gradient(loss, weights), weights))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((judge(maker(noise)) - 1) ** 2)
    weights = judge.trainable_weights
    second.apply_gradients(zip(tape.gradient(loss, weights), weights))  # ->

for _ in range(12):
    step(x)
""",
        ("judge.trainable_weights", "maker.trainable_weights"),
    ),
    "a sigmoid for temperatures": Bug(
        "output_range",
        """
model = Sequential()
model.add(layers.Dense(8, "tanh"))
model.add(layers.Dense(1))
model.add(layers.Activation("sigmoid"))  # ->
model.compile(tf.keras.optimizers.Adam(0.01), "mse")
model.fit(x, 50 + 20 * target, batch_size=16, epochs=3, verbose=0)
""",
        ('model.add(layers.Activation("sigmoid"))  # ->\n', ""),
    ),
    "a convolution that a bias has killed": Bug(
        "dead_relu",
        """
given = Input((10, 10, 1))
seen = layers.Conv2D(4, 3, activation="relu", bias_initializer=tf.keras.initializers.Constant(-20.0))(given)  # ->
seen = layers.Conv2D(4, 3, activation="relu")(seen)
model = Model(given, layers.Dense(1)(layers.GlobalAveragePooling2D()(seen)))
model.compile("adam", "mse")
model.fit(x[:, :, None, None] * x[:, None, :, None], target, batch_size=16, verbose=0)
""",
        (", bias_initializer=tf.keras.initializers.Constant(-20.0)", ""),
    ),
    "two layers of zeros": Bug(
        "symmetric_weights",
        """
model = Sequential([
    layers.Dense(16, "tanh", kernel_initializer="zeros"),  # ->
    layers.Dense(1, kernel_initializer="zeros"),
])
model.compile("adam", "mse")
model.fit(x, target, batch_size=16, verbose=0)
""",
        ('"tanh", kernel_initializer="zeros"', '"tanh"'),
    ),
    "a softmax written out before a loss of logits": Bug(
        "double_softmax",
        """
first, last = tf.Variable(tf.random.normal([10, 16], stddev=0.3)), tf.Variable(tf.random.normal([16, 3], stddev=0.3))
optimizer = tf.keras.optimizers.SGD(0.1)

def predict(x):
    powers = tf.exp(tf.nn.relu(x @ first) @ last)
    return powers / tf.reduce_sum(powers, axis=1, keepdims=True)  # ->

for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(classes, predict(x)))
    optimizer.apply_gradients(zip(tape.gradient(loss, [first, last]), [first, last]))
""",
        ("    return powers / tf.reduce_sum(powers, axis=1, keepdims=True)", "    return tf.math.log(powers)"),
    ),
    "a new value that is never assigned": Bug(
        "weights_not_updated",
        """
weight, bias = tf.Variable(tf.random.normal([10, 1])), tf.Variable([0.0])
for _ in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weight + bias - target) ** 2)
    slope, shift = tape.gradient(loss, [weight, bias])
    stepped = weight - 0.05 * slope  # ->
    bias.assign_sub(0.05 * shift)
""",
        ("stepped = weight - 0.05 * slope", "weight.assign_sub(0.05 * slope)"),
    ),
    "a learning rate that wipes the first weights out": Bug(
        "update_ratio",
        """
model = Sequential([layers.Dense(32, "relu"), layers.Dense(3)])
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(
    tf.keras.optimizers.Adam(learning_rate=10.0),  # ->
    loss,
)
model.fit(x, classes, batch_size=16, epochs=2, verbose=0)
""",
        ("10.0", "0.01"),
    ),
    "a learning rate after which a policy never moves again": Bug(
        "update_ratio",
        """
policy = Sequential([layers.Dense(64, "relu"), layers.Dense(2)])
optimizer = tf.keras.optimizers.RMSprop(learning_rate=0.7)  # ->
for _ in range(20):
    with tf.GradientTape() as tape:
        logits = policy(x)
        action = tf.random.categorical(logits, 1)[:, 0]
        reward = tf.cast(action == (classes > 0), tf.float32)
        loss = tf.reduce_mean(reward * tf.nn.sparse_softmax_cross_entropy_with_logits(action, logits))
    weights = policy.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
""",
        ("0.7", "0.003"),
    ),
}


def alerts_of(folder: Path, name: str, program: str) -> tuple[Alert, ...]:
    file = folder / f"{name}.py"
    file.write_text(START + program)
    tf.keras.backend.clear_session()
    with record(folder, name) as recorded, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras itself warns of some of these
        runpy.run_path(str(file))
    return explain(recorded.trace).alerts


@pytest.mark.parametrize("name", BUGS)
def test_a_silent_bug_is_found_at_the_line_to_change_and_its_repair_is_clean(name: str, tmp_path: Path) -> None:
    if name.endswith("in a loop over a dataset") and tf.keras.__version__.startswith("2"):
        pytest.skip("the weights behind an eager prediction of Keras 2 are not found yet")
    bug = BUGS[name]
    lines = (START + bug.program).splitlines()
    alerts = alerts_of(tmp_path, "broken", bug.program)
    said = [f"{one.rule} {one.line} {one.text} {one.evidence}" for one in alerts]
    assert [one.line for one in alerts if one.rule == bug.rule][:1] == [
        number for number, line in enumerate(lines, 1) if line.endswith("# ->")
    ], said
    old, new = bug.repair
    program = bug.program.replace(old, new) if old in bug.program else bug.program.replace(old.replace("'", '"'), new)
    assert program != bug.program
    assert alerts_of(tmp_path, "repaired", program) == ()
