"""Remembers which op made which eager tensor, by the framework's number of the tensor."""

from __future__ import annotations

_KNOWN = 1 << 18  # tensors whose makers are known: the latest ones
_makers: dict[int, tuple[int, int]] = {}  # tensor modulo _KNOWN -> tensor, op


def made(tensor: int, op: int) -> None:
    """``op`` is -1 for a tensor that no op made."""
    if tensor >= 0:
        _makers[tensor % _KNOWN] = (tensor, op)


def forget_makers() -> None:
    """Ops are numbered anew."""
    _makers.clear()


def maker_of(tensor: int) -> int:
    """The op that made an eager tensor; -1 when it is not known."""
    found = _makers.get(tensor % _KNOWN)
    return found[1] if found is not None and found[0] == tensor else -1


def has_maker(tensor: int) -> bool:
    """Whether one was told, which may be none."""
    return _makers.get(tensor % _KNOWN, (-1, -1))[0] == tensor
