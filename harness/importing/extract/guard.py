"""What a process that reads documents may not do: reach a network, start programs, write or remove files, use more memory than it was given.

The libraries in use do none of this for a sane document. The guard is for the others: a document is input from strangers.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_FORBIDDEN = frozenset(
    (
        *("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname", "http.client.connect", "urllib.Request"),
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "webbrowser.open"),
        *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate", "shutil.rmtree"),
    )
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC


def lock(megabytes: int) -> None:
    """Lock this process for good. The limit on memory (address space) holds where the system knows it: Linux; mostly not macOS; not Windows."""
    sys.dont_write_bytecode = True
    _limit_memory(megabytes)
    sys.addaudithook(_refuse)


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    size = megabytes << 20
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):  # macOS refuses some limits
        return


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _FORBIDDEN:
        raise PermissionError(f"a document may not cause {event}")
    if event == "open":
        _, mode, flags = arguments
        # os.open gives no mode; what matters then are the flags.
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (mode is None and isinstance(flags, int) and flags & _WRITING):
            raise PermissionError("a document may not cause a file to be written")
