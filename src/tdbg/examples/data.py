"""Makes up digits or flowers, any number of them from a seed. Nothing is downloaded, and nothing was measured."""

from __future__ import annotations

import numpy as np

# Seven segments, as on a pocket calculator: top, upper right, lower right, bottom, lower left, upper left, middle.
_SEGMENTS = [
    (slice(0, 3), slice(0, 12)), (slice(0, 11), slice(9, 12)), (slice(9, 20), slice(9, 12)),
    (slice(17, 20), slice(0, 12)), (slice(9, 20), slice(0, 3)), (slice(0, 11), slice(0, 3)),
    (slice(9, 11), slice(0, 12)),
]  # fmt: skip
_LIT = ["012345", "12", "01346", "01236", "1256", "02356", "023456", "012", "0123456", "012356"]

# Mean and spread of sepal length and width, petal length and width, in centimetres, of three kinds of flowers.
_FLOWER_MEANS = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
_FLOWER_SPREADS = np.array([[0.35, 0.38, 0.17, 0.1], [0.52, 0.31, 0.47, 0.2], [0.64, 0.32, 0.55, 0.27]])


def draw_digits(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(images of 28 by 28 pixels as rows of 784, labels): digits in varied places and brightness, with noise."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    images = random.normal(0.0, 0.1, (count, 28, 28))
    for image, label in zip(images, labels, strict=True):
        digit = np.zeros((20, 12))
        for segment in _LIT[label]:
            digit[_SEGMENTS[int(segment)]] = random.uniform(0.7, 1.0)
        top, left = random.integers(2, 7), random.integers(6, 11)
        image[top : top + 20, left : left + 12] += digit
    return images.reshape(count, 784).astype(np.float32), labels.astype(np.int64)


def grow_flowers(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(four measures of each flower, which of the three kinds it is): like the iris data, from normal distributions."""
    random = np.random.default_rng(seed)
    kinds = random.integers(0, 3, count)
    measures = random.normal(_FLOWER_MEANS[kinds], _FLOWER_SPREADS[kinds])
    return measures.astype(np.float32), kinds.astype(np.int64)
