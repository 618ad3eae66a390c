"""The wrappers, hooks and prompts that users of tfdbg know."""
