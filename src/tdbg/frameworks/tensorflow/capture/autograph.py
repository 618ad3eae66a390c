"""Finds the user's line that a line of AutoGraph's generated code was made from."""

from __future__ import annotations

from tensorflow.python.util import tf_stack


def original_line(file: str, line: int) -> tuple[str, int, str] | None:
    """AutoGraph runs generated code; its map of lines is on this thread's mapper stack while it does."""
    if "__autograph_generated_file" not in file:
        return None
    stacks = tf_stack._source_mapper_stacks
    own = stacks[tf_stack._get_thread_key()]
    # A replica's thread runs code that was generated on the thread that waits for it.
    others = [stack for stack in list(stacks.values()) if stack is not own]
    for mapper in (mapper for stack in (own, *others) for mapper in reversed(stack)):
        found = mapper.get_effective_source_map().get((file, line))
        if found is not None:
            return found[0], found[1], found[2]
    return None
