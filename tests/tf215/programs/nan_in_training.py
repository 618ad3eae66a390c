"""An Estimator whose loss becomes NaN: the home-made cross entropy takes the log of a probability that reaches 0."""

import numpy as np
import tensorflow.compat.v1 as tf

features = np.random.default_rng(0).normal(size=[64, 4]).astype(np.float32)
labels = (features.sum(axis=1) > 0).astype(np.float32)[:, None]


def input_fn():
    return tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(16)


def model_fn(features, labels, mode):
    score = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer(), name="score")
    probability = tf.sigmoid(score, name="probability")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=probability)
    right = tf.log(probability) * labels
    wrong = tf.log(1.0 - probability) * (1.0 - labels)  # BUG: once the sigmoid is exactly 1 this is log(0) * 0
    loss = -tf.reduce_mean(right + wrong)
    train_op = tf.train.GradientDescentOptimizer(20.0).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **options):
    config = tf.estimator.RunConfig(tf_random_seed=1, save_summary_steps=None, log_step_count_steps=None)
    return tf.estimator.Estimator(model_fn, model_dir, config=config, **options)


if __name__ == "__main__":
    try:
        make_estimator("model").train(input_fn, steps=20)
    except tf.estimator.NanLossDuringTrainingError as error:
        print("stopped:", error)
