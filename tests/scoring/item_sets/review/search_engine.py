"""A stand-in for the search engine that an Argilla server wants: takes every index, finds nothing.

What a client makes and reads lies in Argilla's database; the engine is for its page and for queries.
Run as a program with a port.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Engine(BaseHTTPRequestHandler):
    """Answers as Elasticsearch 8 does where all goes well."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found: dict[str, Any] = {"acknowledged": True}
        if self.path == "/":
            found = {
                "version": {"number": "8.7.0", "build_flavor": "default"},
                "tagline": "You Know, for Search",
            }
        elif self.path.startswith("/_bulk"):
            found = {"took": 1, "errors": False, "items": []}
        elif "_search" in self.path:
            found = {
                "took": 1,
                "timed_out": False,
                "hits": {"total": {"value": 0, "relation": "eq"}, "hits": []},
            }
        elif "_mapping" in self.path:
            found = {self.path.split("/")[1]: {"mappings": {"dynamic": "strict", "properties": {}}}}
        text = b"" if self.command == "HEAD" else json.dumps(found).encode()
        self.send_response(200)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Engine).serve_forever()
