"""Users' first program: an Estimator with a TensorBoardDebugHook. The address is the first argument."""

import sys

import tensorflow.compat.v1 as tf

from tdbg.tensorflow import debug as tf_debug


def train_input_fn():
    features = tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float32)
    labels = tf.constant([0, 1, 0], dtype=tf.int32)
    return tf.data.Dataset.from_tensor_slices((features, labels)).batch(1)


def model_fn(features, labels, mode):
    dense = tf.layers.dense(inputs=features, units=2, activation=tf.nn.relu)
    logits = tf.layers.dense(inputs=dense, units=2)
    predictions = tf.argmax(logits, axis=1)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    optimizer = tf.train.AdamOptimizer(learning_rate=0.01)
    train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op, predictions=predictions)


if __name__ == "__main__":
    estimator = tf.estimator.Estimator(model_fn=model_fn, model_dir="./tmp/debug_model")
    debug_hook = tf_debug.TensorBoardDebugHook(sys.argv[1])
    estimator.train(input_fn=train_input_fn, hooks=[debug_hook], steps=5)
    print("steps:", estimator.get_variable_value("global_step"))
