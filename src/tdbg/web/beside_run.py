"""``python -m tdbg.web.beside_run TRACE`` serves the page of a trace that a program is writing.

``tdbg run --web`` starts it and holds its standard input, which ends with the program, however that ends; then the
server ends too. It is nobody's child, so that a program that waits for its children does not meet this one.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tdbg.errors import TdbgError


def main(trace: Path) -> int:
    if os.name == "posix":
        if os.fork():
            os._exit(0)
        os.setsid()
    from tdbg.web.server import Server, open_browser
    from tdbg.web.traces import Traces

    try:
        server = Server(Traces([trace]))
    except TdbgError as error:
        print(f"tdbg: no page: {error}", file=sys.stderr)
        return 2
    print(f"tdbg: the page is at {server.url}", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        open_browser(server.url)
    threading.Thread(target=server.serve, daemon=True).start()
    while os.read(0, 1024):
        pass
    server.stop()
    server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
