"""Links to other sites: their form, and the script that asks for them."""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from bayesbias.auditing import bibliography

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    path = ROOT / "scripts" / "check_links.py"
    spec = importlib.util.spec_from_file_location("check_links", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_links"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["check_links"]


def test_links_are_well_formed(script: ModuleType) -> None:
    links = script.collect()
    places = {link.place for link in links}
    assert {"README.md", "docs/comparison.md", "bayesbias/auditing/references.bib"} <= places
    assert any(place.endswith(".py") for place in places)
    assert any(place.endswith(".toml") for place in places)
    assert script.faults_of_form(links) == []
    assert script.faults_of_markdown() == []


def test_references_are_those_of_the_bibliography(script: ModuleType) -> None:
    entries = bibliography.entries()
    references = script.references()
    assert len(references) > 20

    def doi(key: str) -> str:
        return bibliography.field(key, "doi")

    assert script.faults_of_references(references, entries, doi) == []
    [fault] = script.faults_of_references(
        {"x": "Garg (2018), doi:10.1073/PNAS.1720347115"}, entries, doi
    )
    assert "x: the bibliography has no entry with doi:10.1073/PNAS.1720347115" in fault


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("See https://a.org/b.", "https://a.org/b"),
        ("(at https://a.org/b), and", "https://a.org/b"),
        ("[page](https://a.org/b_(c)).", "https://a.org/b_(c)"),
        ("[https://a.org](x)", "https://a.org"),
        ("`https://a.org/b`, then", "https://a.org/b"),
        ("Garg (2018), doi:10.1073/pnas.17.", "https://doi.org/10.1073/pnas.17"),
        ("[doi:10.1162/coli](x)", "https://doi.org/10.1162/coli"),
        ("  doi = {10.1162/coli_a_00507},", "https://doi.org/10.1162/coli_a_00507"),
    ],
)
def test_links_end_where_they_end(script: ModuleType, text: str, address: str) -> None:
    assert [link.address for link in script.links_in(text, "x")] == [address]


@pytest.mark.parametrize(
    "text",
    ["https://github.com/{repository}", "http://www.w3.org/2000/svg", "http://localhost:8000/x",
     "https://mirror.example/data", "https://…", "doi:10.…/x"],
)  # fmt: skip
def test_what_nobody_follows_is_no_link(script: ModuleType, text: str) -> None:
    assert list(script.links_in(text, "x")) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("http://a.org", "not https"),
        ("https://a", "not an address"),
        ("https://dx.doi.org/10.1073/x", "write https://doi.org/"),
        ("doi:10.12/x", "10.12/x is not a DOI"),
        ("doi = {10.1073/a b}", "is not an address"),
        ("https://a.org/b https://a.org/b/", "several spellings"),
        ("https://a.org/b https://www.a.org/b", "several spellings"),
        ("doi:10.1073/PNAS doi:10.1073/pnas", "several spellings"),
        ("https://github.com/A/b https://github.com/a/b", "several spellings"),
    ],
)
def test_bad_forms_are_found(script: ModuleType, text: str, fault: str) -> None:
    faults = script.faults_of_form(script.links_in(text, "page.md"))
    assert any(fault in one for one in faults)
    assert all("page.md" in one for one in faults)


def test_addresses_that_differ_are_not_one(script: ModuleType) -> None:
    text = "https://a.org/b https://a.org/B https://a.org/b?c=1 https://a.org/b#d https://b.org/b"
    assert script.faults_of_form(script.links_in(text, "x")) == []


class Pages(BaseHTTPRequestHandler):
    """Answers as real servers do."""

    seen: ClassVar[Counter[tuple[str, str]]] = Counter()
    times: ClassVar[list[float]] = []

    def answer(self) -> None:
        self.seen[self.command, self.path] += 1
        self.times.append(time.monotonic())
        number = sum(n for (_, path), n in self.seen.items() if path == self.path)
        status = {
            "/fine": 200,
            "/moved": 301,
            "/no-head": 405 if self.command == "HEAD" else 200,
            "/gone": 404,
            "/forbidden": 403,
            "/busy": 503 if number <= 3 else 200,
            "/broken": 500,
        }[self.path]
        self.send_response(status)
        if status == 301:
            self.send_header("Location", "/fine")
        self.end_headers()

    do_HEAD = do_GET = answer

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    Pages.seen.clear()
    Pages.times.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_answers(script: ModuleType, server: str) -> None:
    names = ["fine", "moved", "no-head", "gone", "forbidden", "busy", "broken"]
    links = [script.Link(f"{server}/{name}", "a.md") for name in names]
    links += [script.Link(f"{server}/gone", "b.md"), script.Link(f"{server}/fine#part", "b.md")]
    told: list[str] = []
    faults = script.faults_of_answers(
        links, pause=0, ask=lambda address: script.ask(address, wait=0.01), tell=told.append
    )
    assert faults == [
        f"a.md, b.md: {server}/gone: 404 Not Found.",
        f"a.md: {server}/broken: 500 Internal Server Error.",
    ]
    assert told == [f"{server}/forbidden answers programs with 403; look at it in a browser."]
    # Once for itself, and once where /moved leads: from Python 3.13 on by HEAD, before by GET.
    assert Pages.seen["HEAD", "/fine"] + Pages.seen["GET", "/fine"] == 2
    assert Pages.seen["GET", "/no-head"] == 1
    assert Pages.seen["HEAD", "/gone"] == Pages.seen["GET", "/gone"] == 1  # not asked again
    assert Pages.seen["HEAD", "/busy"] == 2
    assert Pages.seen["HEAD", "/broken"] == 3


def test_a_host_is_not_pressed(script: ModuleType, server: str) -> None:
    links = [script.Link(f"{server}/{name}", "a.md") for name in ("fine", "no-head", "moved")]
    script.faults_of_answers(links[:1] * 5 + links[1:], pause=0.2, tell=pytest.fail)
    first = [Pages.times[0], Pages.times[1], Pages.times[3]]  # /no-head takes two
    assert min(b - a for a, b in pairwise(first)) >= 0.19


def test_a_server_that_is_not_there(script: ModuleType) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as closed:
        address = f"http://127.0.0.1:{closed.server_port}/x"
    status, reason = script.ask(address, retries=1)
    assert status == 0
    assert "refused" in reason
    [fault] = script.faults_of_answers(
        [script.Link(address, "a.md")], ask=lambda _: (status, reason)
    )
    assert fault.startswith(f"a.md: {address}: ")


@pytest.mark.slow
def test_without_a_network(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def nowhere(address: str) -> tuple[int, str]:
        asked.append(address)
        return 0, "the host is not found"

    monkeypatch.setattr(script.faults_of_answers, "__kwdefaults__",
                        script.faults_of_answers.__kwdefaults__ | {"ask": nowhere})  # fmt: skip
    with pytest.raises(SystemExit, match="There is no network: the form of"):
        script.main(["--pause", "0"])
    assert len(asked) == 5
    script.main(["--offline"])
    assert "no fault found" in capsys.readouterr().out
    assert len(asked) == 5
