"""What tdbg asks of a framework, and nothing more.

A framework is one folder of ``frameworks/``; ``FRAMEWORKS`` names it. Of its modules two are read by everything that
looks at traces, and must not import the framework: ``ops`` (an ``Ops``) and ``dialect`` (a ``Dialect``).
"""

from __future__ import annotations

from typing import Protocol

from tdbg.vocabulary import Kind, Role


class Ops(Protocol):
    """Module ``ops``: what native op types are. Capture writes it into the trace, beside the native name."""

    def kind_of(self, op_type: str) -> Kind: ...

    def roles_of(self, op_type: str) -> Role: ...
