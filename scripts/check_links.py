"""Check the links to other sites: ``python scripts/check_links.py``, or ``make links``.

The links are those of the Markdown pages, the notebooks, the docstrings and texts of the package,
the word lists, the bibliography, and of the built site, if there is one. Their form is checked
first, which needs no network and is also a test. Then each is asked for, slowly: one request at a
time to a host, again after a while if it is busy. ``--offline`` leaves that out.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
#: What is read, and what of it is text with links.
TEXTS = ("*.md", "docs/**/*.md", "models/**/*.md", "notebooks/*.md", "bayesbias/**/*.md",
         "bayesbias/wordlists/data/**/*.toml", "bayesbias/**/*.bib", "CITATION.cff",
         "pyproject.toml")  # fmt: skip
AGENT = "Mozilla/5.0 (compatible; bayesbias-link-check)"
#: What a server says to programs that it does not want, which says nothing of the page.
UNWELCOME = (401, 403, 405, 406, 418, 429, 999)
#: What may be over soon.
BUSY = (429, 500, 502, 503, 504)
#: Links that nobody follows: names of formats, examples, this computer, parts put in by code.
NOT_LINKS = re.compile(
    r"[{}\\…]|://$|//(?:www\.w3\.org/(?:\d{4}|1999)|localhost|127\.0\.0\.1|[\w.]*\bexample\b)"
)
_URL = re.compile(r"https?://[^\s<>\"'`|\]]*")
_DOI = re.compile(r"\bdoi:\s?(10\.[^\s<>\"'`,|\]]+)|\bdoi\s*=\s*\{([^}]*)\}", re.I)
_GOOD_DOI = re.compile(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]*[A-Za-z0-9)]")
_MARKDOWN_LINK = re.compile(r"\]\((https?:[^)]*)\)")
_RESOLVER = "https://doi.org/"


@dataclass(frozen=True)
class Link:
    """An address, and the file it stands in."""

    address: str
    place: str

    @property
    def key(self) -> str:
        """What is the same for all spellings of an address."""
        parts = urlsplit(self.address)
        host = (parts.hostname or "").removeprefix("www.").removeprefix("dx.")
        path = parts.path.rstrip("/").removesuffix(".git")
        if host in ("doi.org", "github.com"):
            path = path.lower()  # neither distinguishes case
        return f"{host}{path}?{parts.query}#{parts.fragment}"


def links_in(text: str, place: str) -> Iterator[Link]:
    """Yield the links of a text, digital object identifiers among them."""
    for found in _URL.finditer(text):
        address = _trimmed(found[0])
        if not NOT_LINKS.search(address):
            yield Link(address, place)
    for found in _DOI.finditer(text):
        name = found[1] or found[2]
        if not NOT_LINKS.search(name):
            yield Link(_RESOLVER + (_trimmed(name) if found[1] else name), place)


def _trimmed(address: str) -> str:
    """Return an address without what belongs to the sentence around it.

    It ends before a parenthesis that was opened outside, and without a final full stop or comma.
    """
    depth = 0
    for place, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            address = address[:place]
            break
    return address.rstrip(".,;:*_")


def collect(root: Path = ROOT) -> list[Link]:
    """Return the links of all sources, each once per file."""
    found: list[Link] = []
    for path in sorted({path for pattern in TEXTS for path in root.glob(pattern)}):
        found += links_in(path.read_text("utf-8"), path.relative_to(root).as_posix())
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
        found += links_in(text, path.relative_to(root).as_posix())
    for path in sorted((root / "bayesbias").rglob("*.py")):
        texts = ast.walk(ast.parse(path.read_text("utf-8")))
        for node in texts:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found += links_in(node.value, path.relative_to(root).as_posix())
    for path in sorted((root / "site").rglob("*.html")):
        targets = re.findall(r'<a\b[^>]*\bhref="(https?:[^"]*)"', path.read_text("utf-8"))
        place = path.relative_to(root).as_posix()
        found += [Link(unescape(target), place) for target in targets]
    return list(dict.fromkeys(found))


def faults_of_form(links: Iterable[Link]) -> list[str]:
    """Return what is wrong with links, as far as can be seen without the network."""
    links = list(links)
    faults = []
    for link in links:
        parts = urlsplit(link.address)
        if parts.scheme != "https":
            faults.append(f"{link.place}: {link.address} is not https.")
        if re.search(r"\s", link.address) or "." not in (parts.hostname or ""):
            faults.append(f"{link.place}: {link.address} is not an address.")
        if parts.hostname == "dx.doi.org":
            faults.append(f"{link.place}: {link.address}: write https://doi.org/….")
        elif parts.hostname == "doi.org" and not _GOOD_DOI.fullmatch(parts.path[1:]):
            faults.append(f"{link.place}: {parts.path[1:]} is not a DOI.")
    spelt: dict[str, dict[str, str]] = {}
    for link in links:
        spelt.setdefault(link.key, {}).setdefault(link.address, link.place)
    for several in spelt.values():
        if len(several) > 1:
            shown = " and ".join(f"{address} ({place})" for address, place in several.items())
            faults.append(f"One address in several spellings: {shown}.")
    return faults


def faults_of_markdown(root: Path = ROOT) -> list[str]:
    """Return the targets of links in Markdown that hold a space."""
    return [
        f"{path.relative_to(root).as_posix()}: {target!r} holds a space."
        for pattern in TEXTS
        if pattern.endswith(".md")
        for path in sorted(root.glob(pattern))
        for target in _MARKDOWN_LINK.findall(path.read_text("utf-8"))
        if re.search(r"\s", target)
    ]


def faults_of_references(
    references: Mapping[str, str], entries: Mapping[str, str], doi_of: Callable[[str], str]
) -> list[str]:
    """Return the references to a DOI that no entry of the bibliography has, in any spelling.

    Parameters
    ----------
    references : mapping
        What a metric or a method gives as its source, by its name.
    entries : mapping
        The entries of the bibliography by their keys.
    doi_of : callable
        Returns the DOI of an entry; empty if it has none.
    """
    known = {doi_of(key) for key in entries} - {""}
    return [
        f"{name}: the bibliography has no entry with doi:{doi}."
        for name, text in references.items()
        for doi in (link.address.removeprefix(_RESOLVER) for link in links_in(text, name)
                    if link.address.startswith(_RESOLVER))
        if doi not in known
    ]  # fmt: skip


class Offline(Exception):
    """No host could be found."""


def ask(
    address: str, *, retries: int = 3, wait: float = 2.0, timeout: float = 20.0
) -> tuple[int, str]:
    """Return the status of a page, and why there is none.

    HEAD is asked first and GET if that is refused; what is busy is asked again, later each time.
    """
    status, reason = 0, ""
    for attempt in range(retries):
        if attempt:
            time.sleep(wait * 2 ** (attempt - 1))
        for method in ("HEAD", "GET"):
            status, reason = _request(address, method, timeout)
            if 0 < status < 400:
                return status, reason
        if status and status not in BUSY:
            break
    return status, reason


def _request(address: str, method: str, timeout: float) -> tuple[int, str]:
    request = urllib.request.Request(address, method=method, headers={"User-Agent": AGENT})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return int(answer.status), ""
    except urllib.error.HTTPError as err:
        return err.code, str(err.reason)
    except urllib.error.URLError as err:
        if isinstance(err.reason, socket.gaierror):
            return 0, "the host is not found"
        return 0, str(err.reason)
    except (TimeoutError, ConnectionError, OSError) as err:
        return 0, str(err) or type(err).__name__


def faults_of_answers(
    links: Iterable[Link],
    *,
    pause: float = 1.0,
    ask: Callable[[str], tuple[int, str]] = ask,
    tell: Callable[[str], None] = print,
) -> list[str]:
    """Ask for each address once, and return those that lead nowhere.

    Parameters
    ----------
    links : iterable of Link
        The links.
    pause : float
        Seconds between two requests to one host.
    ask : callable
        Returns the status of an address and a reason.
    tell : callable
        Gets what is no fault, but worth knowing: pages that refuse programs.

    Raises
    ------
    Offline
        If the hosts of the first five addresses cannot be found.
    """
    places: dict[str, list[str]] = {}
    for link in links:
        places.setdefault(link.address.partition("#")[0], []).append(link.place)
    last: dict[str, float] = {}
    faults, lost = [], 0
    for number, (address, where) in enumerate(places.items()):
        host = urlsplit(address).hostname or ""
        time.sleep(max(0.0, last.get(host, -pause) + pause - time.monotonic()))
        status, reason = ask(address)
        last[host] = time.monotonic()
        lost += reason == "the host is not found"
        if lost == number + 1 == min(5, len(places)):
            raise Offline
        if status in UNWELCOME:
            tell(f"{address} answers programs with {status}; look at it in a browser.")
        elif not 0 < status < 400:
            why = " ".join(filter(None, [str(status or ""), reason]))
            faults.append(f"{', '.join(dict.fromkeys(where))}: {address}: {why}.")
    return faults


def references() -> dict[str, str]:
    """Return the sources of all metrics and methods by their names."""
    import bayesbias as bb

    sources = {name: kind.reference for name, kind in bb.metrics.METRICS.items()}
    sources |= {name: kind.reference for name, kind in bb.debias.DEBIASERS.items()}
    return {name: source for name, source in sources.items() if source}


def main(arguments: list[str] | None = None) -> None:
    """Check the form of all links, then ask for each."""
    from bayesbias.auditing import bibliography

    parser = argparse.ArgumentParser(description="Check the links to other sites.")
    parser.add_argument("--offline", action="store_true", help="Check only the form of links.")
    parser.add_argument("--pause", type=float, default=1.0, help="Seconds between requests.")
    options = parser.parse_args(arguments)
    links = collect()
    works = bibliography.entries()
    faults = [
        *faults_of_form(links),
        *faults_of_markdown(),
        *faults_of_references(references(), works, lambda key: bibliography.field(key, "doi")),
    ]
    number = len({link.address for link in links})
    if not options.offline:
        try:
            faults += faults_of_answers(links, pause=options.pause)
        except Offline:
            print("\n".join(faults))
            sys.exit(
                f"There is no network: the form of {number} links was checked, but not whether "
                "they lead anywhere. Try again later, or give --offline."
            )
    if faults:
        sys.exit("\n".join(faults))
    print(f"{number} links: no fault found.")


if __name__ == "__main__":
    main()
