"""A wire between a client and a server on the loopback: it counts what comes from the server, and can be cut or clogged."""

from __future__ import annotations

import contextlib
import socket
import threading

PIECE = 64 << 10
BUFFER = 64 << 10  # of the sockets, so that what was sent has nearly all been asked for


class Wire:
    """Forwards connections to 127.0.0.1:port from `with` to its end; each direction has a thread."""

    def __init__(self, port: int) -> None:
        self._to = port

    def __enter__(self) -> Wire:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._lock = threading.Lock()  # guards what follows
        self._ends: set[socket.socket] = set()
        self._nbytes = self._connections = 0
        self._is_cut = False
        self._is_open = threading.Event()  # else clogged
        self._is_open.set()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._is_open.set()
        self._listening.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self._listening.close()

    @property
    def nbytes(self) -> int:
        """What the server has sent through it."""
        with self._lock:
            return self._nbytes

    @property
    def connections(self) -> int:
        """How many were ever made."""
        with self._lock:
            return self._connections

    def cut(self) -> None:
        """Ends all connections, and takes none until mend()."""
        with self._lock:
            self._is_cut = True
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def clog(self) -> None:
        """Lets nothing through until mend(); connections stay, and new ones wait."""
        self._is_open.clear()

    def mend(self) -> None:
        with self._lock:
            self._is_cut = False
        self._is_open.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        self._is_open.wait()
        try:
            server = socket.socket()
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            server.connect(("127.0.0.1", self._to))
        except OSError:
            client.close()
            return
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        with self._lock:
            if self._is_cut:
                client.close()
                server.close()
                return
            self._ends |= {client, server}
            self._connections += 1
        back = threading.Thread(target=self._forward, args=(server, client, True), daemon=True)
        back.start()
        self._forward(client, server, False)
        back.join()
        with self._lock:
            self._ends -= {client, server}
        client.close()
        server.close()

    def _forward(self, source: socket.socket, target: socket.socket, is_from_server: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE):
                self._is_open.wait()
                target.sendall(piece)
                if is_from_server:
                    with self._lock:
                        self._nbytes += len(piece)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
