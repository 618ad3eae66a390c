"""The process of a server in; the same with an allocator that gives back what is no longer needed, out."""

from __future__ import annotations


def keep_little() -> None:
    """For a process of tdbg's own. Arrow's usual allocator keeps the buffers of each thread that ever read a column,
    and a server has a thread for each connection."""
    import pyarrow as pa

    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())
