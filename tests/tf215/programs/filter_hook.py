"""Users' second program: the hook's tensor_filter_fn picks the runs that have NaN or infinity.

The data of batch 3 are dirty, so that there is something to pick.
"""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

from tdbg.tensorflow import debug as tf_debug


def train_input_fn():
    values = np.random.rand(100, 5)
    values[35, 2] = np.nan
    features = tf.constant(values, dtype=tf.float32)
    labels = tf.constant(np.random.randint(0, 2, 100), dtype=tf.int32)
    return tf.data.Dataset.from_tensor_slices((features, labels)).batch(10)


def model_fn(features, labels, mode):
    dense = tf.layers.dense(inputs=features, units=10, activation=tf.nn.relu)
    logits = tf.layers.dense(inputs=dense, units=2)
    predictions = tf.argmax(logits, axis=1)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    optimizer = tf.train.AdamOptimizer(learning_rate=0.01)
    train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op, predictions=predictions)


def nan_or_inf_filter_fn(datum, tensor):
    tensor = np.asarray(tensor)
    return tensor.dtype.kind == "f" and not np.all(np.isfinite(tensor))


if __name__ == "__main__":
    estimator = tf.estimator.Estimator(model_fn=model_fn, model_dir="./tmp/debug_model_cond")
    debug_hook = tf_debug.TensorBoardDebugHook(sys.argv[1], tensor_filter_fn=nan_or_inf_filter_fn)
    try:
        estimator.train(input_fn=train_input_fn, hooks=[debug_hook], steps=100)
    except tf.estimator.NanLossDuringTrainingError as error:
        print("stopped:", error)
