"""The wrappers, hooks and prompts that users of tfdbg know, and reading the dumps they write."""
