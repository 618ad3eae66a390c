"""The program under test: one training step of a two-block Transformer (batch 8, sequence 64, vocabulary 1000)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

BATCH, LENGTH, VOCABULARY, HEADS, BLOCKS = 8, 64, 1000, 4, 2


class Transformer(tf.Module):
    """A decoder written with plain ops, as researchers write them."""

    def __init__(self, width: int, seed: int = 0) -> None:
        super().__init__()
        self.width = width
        generator = tf.random.Generator.from_seed(seed)

        def matrix(rows: int, columns: int) -> tf.Variable:
            return tf.Variable(generator.normal([rows, columns], stddev=0.02))

        def vector(size: int, value: float = 0.0) -> tf.Variable:
            return tf.Variable(tf.fill([size], value))

        self.tokens = matrix(VOCABULARY, width)
        self.positions = matrix(LENGTH, width)
        self.blocks = [
            {
                "scale1": vector(width, 1.0),
                "shift1": vector(width),
                "query": matrix(width, width),
                "key": matrix(width, width),
                "value": matrix(width, width),
                "query_bias": vector(width),
                "key_bias": vector(width),
                "value_bias": vector(width),
                "out": matrix(width, width),
                "out_bias": vector(width),
                "scale2": vector(width, 1.0),
                "shift2": vector(width),
                "up": matrix(width, 4 * width),
                "up_bias": vector(4 * width),
                "down": matrix(4 * width, width),
                "down_bias": vector(width),
            }
            for _ in range(BLOCKS)
        ]
        self.scale, self.shift = vector(width, 1.0), vector(width)
        self.head = matrix(width, VOCABULARY)

    @staticmethod
    def normalize(x: tf.Tensor, scale: tf.Variable, shift: tf.Variable) -> tf.Tensor:
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.math.squared_difference(x, mean), axis=-1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift

    def attend(self, x: tf.Tensor, p: dict[str, tf.Variable]) -> tf.Tensor:
        def split(y: tf.Tensor) -> tf.Tensor:
            return tf.transpose(tf.reshape(y, [BATCH, LENGTH, HEADS, self.width // HEADS]), [0, 2, 1, 3])

        flat = tf.reshape(x, [-1, self.width])
        q = split(tf.matmul(flat, p["query"]) + p["query_bias"])
        k = split(tf.matmul(flat, p["key"]) + p["key_bias"])
        v = split(tf.matmul(flat, p["value"]) + p["value_bias"])
        scores = tf.matmul(q, k, transpose_b=True) / float(self.width // HEADS) ** 0.5
        mask = tf.linalg.band_part(tf.ones([LENGTH, LENGTH]), -1, 0)
        weights = tf.nn.softmax(scores * mask - 1e9 * (1.0 - mask))
        mixed = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [-1, self.width])
        return tf.reshape(tf.matmul(mixed, p["out"]) + p["out_bias"], [BATCH, LENGTH, self.width])

    def __call__(self, ids: tf.Tensor) -> tf.Tensor:
        x = tf.gather(self.tokens, ids) + self.positions
        for p in self.blocks:
            x += self.attend(self.normalize(x, p["scale1"], p["shift1"]), p)
            flat = tf.reshape(self.normalize(x, p["scale2"], p["shift2"]), [-1, self.width])
            hidden = tf.nn.gelu(tf.matmul(flat, p["up"]) + p["up_bias"])
            x += tf.reshape(tf.matmul(hidden, p["down"]) + p["down_bias"], [BATCH, LENGTH, self.width])
        x = tf.reshape(self.normalize(x, self.scale, self.shift), [-1, self.width])
        return tf.matmul(x, self.head)


def make_step(width: int) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
    """A fresh model and its compiled training step with Keras' Adam: step(ids, targets) -> loss."""
    model = Transformer(width)
    weights = list(model.trainable_variables)
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(weights)

    @tf.function
    def step(ids: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = model(ids)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(targets, [-1]), logits)
            loss = tf.reduce_mean(losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return step


def batch(seed: int = 0) -> tuple[tf.Tensor, tf.Tensor]:
    ids = np.random.default_rng(seed).integers(0, VOCABULARY, (BATCH, LENGTH + 1))
    return tf.constant(ids[:, :-1], tf.int32), tf.constant(ids[:, 1:], tf.int32)
