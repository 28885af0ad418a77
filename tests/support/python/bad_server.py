"""A web server that can be told to answer wrongly."""

from __future__ import annotations

import http.server
import re
import threading
from pathlib import Path

PIECE = 1 << 20


class BadServer(http.server.ThreadingHTTPServer):
    """Serves a folder with ranges, from `with` to its end. `fault` is what it does to requests of parts of files: None,
    "short" (half of what it announces, then the end of the connection) or "error" (an error page)."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.fault: str | None = None
        self.port = self.server_address[1]

    def __enter__(self) -> BadServer:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BadServer

    def __init__(self, request: object, client: object, server: BadServer) -> None:
        super().__init__(request, client, server, directory=str(server.root))

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if span is None or not path.is_file():
            super().do_GET()
            return
        size = path.stat().st_size
        begin, end = int(span[1]), min(int(span[2] or size - 1) + 1, size)
        if self.server.fault == "error":
            self._answer_page()
            return
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - begin))
        self.send_header("Last-Modified", self.date_time_string(path.stat().st_mtime))
        self.end_headers()
        if self.server.fault == "short":
            end = begin + (end - begin) // 2
            self.close_connection = True
        with path.open("rb") as file:
            file.seek(begin)
            while begin < end and (piece := file.read(min(PIECE, end - begin))):
                self.wfile.write(piece)
                begin += len(piece)

    def _answer_page(self) -> None:
        page = b"<html>Something went wrong.</html>" * 1000
        self.send_response(500)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
