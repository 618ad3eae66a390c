"""Makes the process of a server keep little memory that it no longer needs."""

from __future__ import annotations

import contextlib
import ctypes

_ARENAS = -8  # M_ARENA_MAX of glibc's mallopt


def keep_little() -> None:
    """Chooses allocators that give memory back. To be called only in a process of tdbg's own. Both Arrow's usual
    allocator and that of the C library keep memory for each thread that ever used some, and a server has a thread for
    each connection."""
    import pyarrow as pa

    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENAS, 2)
