"""Servers that write, asked in OpenAI's protocol: one of this process answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import fnstore
import pytest
from conftest import MODELS

REQUESTS: list[dict[str, object]] = []


class Answering(BaseHTTPRequestHandler):
    """Says the same to every question."""

    def do_POST(self) -> None:
        REQUESTS.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        said = {"choices": [{"message": {"content": "They inspected it."}, "finish_reason": "stop"}]}
        body = json.dumps(said | {"usage": {"total_tokens": 10}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Answering)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_a_server_writes_paraphrases(url: str, tmp_path: Path) -> None:
    server = fnstore.Server(url, answers=tmp_path, timeout=20)
    assert server.url == url and url in repr(server)
    REQUESTS.clear()
    (made,) = fnstore.paraphrase([{"text": "They checked it.", "avoid": ["checked"]}], endpoint=server, model="small")
    assert [of.text for of in made.paraphrases] == ["They inspected it."] and made.stop is None
    assert len(REQUESTS) == 1 and REQUESTS[0]["model"] == "small"
    again = fnstore.paraphrase([{"text": "They checked it.", "avoid": ["checked"]}], endpoint=server, model="small")
    assert next(again).paraphrases and len(REQUESTS) == 1, "its answer is kept"
    (refused,) = fnstore.paraphrase(
        [{"text": "They checked it.", "prefix": "We"}], endpoint=server, model="small", errors="keep"
    )
    assert isinstance(refused, fnstore.TextError) and refused.code == "E-prefix"


def test_a_budget_ends_a_stream(url: str) -> None:
    server = fnstore.Server(url, answers="none", max_requests=1)
    answers = fnstore.paraphrase(["They checked it.", "We checked it."], endpoint=server, model="small")
    assert next(answers).text == "They checked it."
    with pytest.raises(fnstore.ModelError) as raised:
        next(answers)
    assert raised.value.code == "H-budget"


def test_a_server_expands(url: str, own: fnstore.Database) -> None:
    server = fnstore.Server(url, answers="none")
    report = own.expand("lu=inspect.v", endpoint=server, model="small", models=MODELS, rounds=1, limit=1)
    assert report.seeds > 0 and report.left == report.seeds - 1
    assert '"small"' in json.dumps(own.recipes()[-1].settings)


def test_a_server_fills(url: str, own: fnstore.Database) -> None:
    with own.transaction() as edits:
        edits.add_lu("Checking", "peruse.v")
    server = fnstore.Server(url, answers="none")
    REQUESTS.clear()
    report = own.generate(
        "lu=peruse.v", endpoint=server, model="small", ranker="none", verifier="none", models=MODELS
    )
    assert report.lus == 1 and REQUESTS
    with pytest.raises(fnstore.ExpandError, match="sister-lu"):
        own.generate("lu=peruse.v", method="sister-lu", endpoint=server, model="small", models=MODELS)


def test_what_is_wrong_with_a_server_is_told(own: fnstore.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    for wrong, code, advised in [
        ({"key_from": "NO_SUCH_KEY"}, "H-key", "key_from="),
        ({"tries": 0}, "N-range", "tries"),
        ({"timeout": 0}, "N-range", "timeout"),
    ]:
        with pytest.raises(fnstore.Error) as raised:
            fnstore.Server("http://127.0.0.1:9/v1", **wrong)  # type: ignore[arg-type]
        assert raised.value.code == code and advised in raised.value.advice
    with pytest.raises(fnstore.Error) as raised:
        fnstore.paraphrase(["They checked it."], endpoint=fnstore.Server("nowhere", answers="none"), model="small")
    assert raised.value.code == "H-url"
    with pytest.raises(fnstore.ExpandError, match="no model"):
        own.expand("lu=inspect.v", endpoint=fnstore.Server("http://127.0.0.1:9/v1"), models=MODELS)
    unreachable = fnstore.Server("http://127.0.0.1:9/v1", tries=1, answers="none")
    with pytest.raises(fnstore.ModelError) as raised:
        next(fnstore.paraphrase(["They checked it."], endpoint=unreachable, model="small"))
    assert raised.value.code == "H-connect"
