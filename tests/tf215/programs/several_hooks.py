"""Users' third program: the debugger's hook beside a hook that writes summaries."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

from tdbg.tensorflow import debug as tf_debug


def train_input_fn():
    features = tf.constant(np.random.rand(100, 5), dtype=tf.float32)
    labels = tf.constant(np.random.randint(0, 2, 100), dtype=tf.int32)
    return tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(10)


def model_fn(features, labels, mode):
    dense = tf.layers.dense(inputs=features, units=10, activation=tf.nn.relu)
    logits = tf.layers.dense(inputs=dense, units=2)
    predictions = tf.argmax(logits, axis=1)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    optimizer = tf.train.AdamOptimizer(learning_rate=0.01)
    train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
    tf.summary.scalar("loss", loss)
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op, predictions=predictions)


class CustomLoggingHook(tf.train.SessionRunHook):
    def __init__(self, log_frequency):
        self.log_frequency = log_frequency

    def begin(self):
        self.loss_summary = tf.summary.merge_all()
        self.global_step = tf.train.get_global_step()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs([self.loss_summary, self.global_step])

    def after_run(self, run_context, run_values):
        summary, global_step = run_values.results
        if global_step % self.log_frequency == 0:
            summary_writer = tf.summary.FileWriter("./tmp/logdir", run_context.session.graph)
            summary_writer.add_summary(summary, global_step)
            summary_writer.flush()
            print(f"Step {global_step}: Summaries logged.")


if __name__ == "__main__":
    estimator = tf.estimator.Estimator(model_fn=model_fn, model_dir="./tmp/debug_model_multiple")
    debug_hook = tf_debug.TensorBoardDebugHook(sys.argv[1])
    logging_hook = CustomLoggingHook(10)
    estimator.train(input_fn=train_input_fn, hooks=[debug_hook, logging_hook], steps=30)
