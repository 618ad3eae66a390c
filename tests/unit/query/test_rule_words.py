"""What health rules advise is said in the words of each framework's users."""

from __future__ import annotations

import re

import pytest

from tdbg.frameworks import FRAMEWORKS, dialect_of
from tdbg.query.rules import Rule, all_rules

_BLANK = re.compile(r"\{(\w+)\}")
_OF_A_FRAMEWORK = re.compile(r"tf\.|keras|tensorflow|torch|jax|tape|trainable|from_logits", re.IGNORECASE)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_every_framework_has_the_words(rule: Rule) -> None:
    for framework in FRAMEWORKS:
        dialect = dialect_of(framework)
        assert set(_BLANK.findall(rule.fix)) <= set(dialect.words)
        assert not set("{}") & set(dialect.fill(rule.fix))


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_a_rule_itself_speaks_of_no_framework(rule: Rule) -> None:
    assert not _OF_A_FRAMEWORK.search(_BLANK.sub("", rule.fix) + rule.why)


def test_tensorflow_is_advised_in_its_own_words() -> None:
    fixes = {rule.name: dialect_of("tensorflow").fill(rule.fix) for rule in all_rules()}
    assert fixes["exploding_gradient"] == (
        "try a smaller learning rate, tf.clip_by_global_norm (clipnorm= in Keras), normalisation or scaled targets"
    )
    assert fixes["weights_not_updated"] == (
        "pass it to the optimizer and to tape.gradient; if it should stay fixed, create it with trainable=False"
    )
    assert fixes["broadcast_shape"] == "give both the same shape: tf.squeeze(prediction, -1), or target[:, None]"


def test_a_word_that_a_framework_lacks_is_said_plainly() -> None:
    assert dialect_of("tensorflow").fill("try {no_such_word}[:, 0]") == "try no such word[:, 0]"
