"""An HTTP server that sends the given responses and records the requests."""

from __future__ import annotations

import json
import threading
import unittest
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from governed_context_service import Client, Retry


@dataclass
class Answer:
    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class FakeService:
    def __init__(self) -> None:
        #: The last response is repeated.
        self.answers: list[Answer] = []
        #: The requests, without those for connection info.
        self.asked: list[Asked] = []
        self.api_base: str | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def answer_to(self, asked: Asked) -> Answer:
        if asked.path.endswith("/v1/connection-info"):
            return Answer(body={"apiBaseUrl": self.api_base or f"{self.url}/v1", "workspaceHeader": "X-Fake-Workspace"})
        self.asked.append(asked)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler_of(service: FakeService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = service.answer_to(Asked(self.command, self.path, headers, body))
            text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            self.send_response(answer.status)
            for name, value in {**answer.headers, "content-length": str(len(text.encode()))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


class WithFakeService(unittest.TestCase):
    def setUp(self) -> None:
        self.service = FakeService()
        self.addCleanup(self.service.close)
        self.waits: list[float] = []

    def client(self, rand: Any = lambda: 0.5, clock: Any = lambda: 0.0, max_attempts: int = 5) -> Client:
        retry = Retry(max_attempts=max_attempts, rand=rand, clock=clock, sleep=self.waits.append)
        return Client(f"{self.service.url}/ws_p1", "svc_sk_test", retry=retry)

    def answer(self, *answers: Answer) -> None:
        self.service.answers = list(answers)
        self.service.asked.clear()
        self.waits.clear()
