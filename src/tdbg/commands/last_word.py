"""``python -m tdbg.commands.last_word`` finds what is said of a trace when its program has ended, as JSON.

``tdbg run`` starts it and relays its answer. It is a process of its own, so that nothing that happens to it (no memory,
a crash) reaches the program, whose exit status is not told yet. It ends when its standard input does, with that
program.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any


def main(question: dict[str, Any]) -> dict[str, Any]:
    """Gives ``lines`` to print, or the ``fault`` that kept them from being found."""
    from tdbg.commands.why import short_verdict
    from tdbg.query.trace.trace import Trace
    from tdbg.query.verdict.verdict import explain
    from tdbg.strict_json import to_json

    try:
        verdict = explain(Trace.open(Path(question["trace"])), frozenset(question["ignore"]))
        lines = [to_json(verdict.as_dict())] if question["as_json"] else short_verdict(verdict, question["shown"])
    except Exception as error:
        return {"fault": f"{type(error).__name__}: {error}"}
    return {"lines": lines}


def _end_with_standard_input() -> None:
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    answer = json.dumps(main(json.loads(sys.argv[1]))).encode()
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    os._exit(0)  # all is said; taking libraries apart takes time
