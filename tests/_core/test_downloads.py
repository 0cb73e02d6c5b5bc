"""Downloads from a server on this computer that breaks off, lies or is not there."""

from __future__ import annotations

import hashlib
import http.server
import json
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from email.message import Message
from pathlib import Path

import pytest

from bayesbias._core import downloads
from bayesbias._core.downloads import RemoteFile, cache_folder, fetch
from bayesbias.errors import DataError, SpecError

BODY = bytes(range(256)) * 12_000  # three megabytes: more than one chunk
DIGEST = hashlib.sha256(BODY).hexdigest()


@dataclass
class Server:
    """What the server has, how it behaves, and what it was asked for."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    #: How many bytes of an answer are sent before the connection ends, for the next answers.
    break_off: list[int] = field(default_factory=list)
    tag: str | None = '"one"'
    kind: str = "application/octet-stream"
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)


def handler_of(server: Server) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            server.asked.append((self.path, asked))
            body = server.files.get(self.path)
            if body is None:
                return self.send_error(404)
            start = 0
            same = self.headers.get("If-Range") in (None, server.tag)
            if asked and server.ranges and same:
                start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])  # type: ignore[index]
                if start >= len(body):
                    return self.send_error(416)
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            part = body[start:]
            self.send_header("Content-Length", str(len(part)))
            self.send_header("Content-Type", server.kind)
            if server.tag:
                self.send_header("ETag", server.tag)
            self.end_headers()
            self.wfile.write(part[: server.break_off.pop(0)] if server.break_off else part)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server(files={"/data.bin": BODY})
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(state))
    state.address = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield state
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("BAYESBIAS_CACHE", str(folder))
    monkeypatch.delenv("BAYESBIAS_MIRROR", raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folder


@pytest.fixture
def remote(server: Server) -> RemoteFile:
    urls = (f"{server.address}/data.bin",)
    return RemoteFile("data", "embedding", "data.bin", urls, "", "", DIGEST)


def get(remote: RemoteFile, **options: str) -> Path:
    return fetch(remote, progress=False, **options)


def test_a_file_is_downloaded_once(remote: RemoteFile, server: Server, cache: Path) -> None:
    path = get(remote)
    assert path == cache / "data.bin"
    assert path.read_bytes() == BODY
    assert get(remote) == path
    assert server.asked == [("/data.bin", None)]
    assert sorted(p.name for p in cache.iterdir()) == ["data.bin", "data.bin.sha256.json"]


def test_a_broken_connection_is_taken_up_where_it_ended(remote: RemoteFile, server: Server) -> None:
    server.break_off = [1_000_000, 500_000]
    assert get(remote).read_bytes() == BODY
    assert [asked for _, asked in server.asked] == [None, "bytes=1000000-", "bytes=1500000-"]


def test_the_next_call_continues_what_is_left(
    remote: RemoteFile, server: Server, cache: Path
) -> None:
    server.break_off = [1_000_000, 0]
    with pytest.raises(DataError, match="1,000,000 bytes are kept"):
        get(remote)
    assert not (cache / "data.bin").exists()
    server.asked.clear()
    assert get(remote).read_bytes() == BODY
    assert server.asked == [("/data.bin", "bytes=1000000-")]


def test_another_version_is_downloaded_from_the_start(remote: RemoteFile, server: Server) -> None:
    server.break_off = [1_000_000, 0]
    with pytest.raises(DataError, match="ended after"):
        get(remote)
    new = BODY[::-1]
    server.files["/data.bin"], server.tag = new, '"two"'
    changed = replace(remote, sha256=hashlib.sha256(new).hexdigest())
    assert get(changed).read_bytes() == new


def test_a_server_without_ranges_sends_everything_again(remote: RemoteFile, server: Server) -> None:
    server.ranges = False
    server.break_off = [1_000_000]
    assert get(remote).read_bytes() == BODY
    assert len(server.asked) == 2


def test_without_a_version_and_a_hash_nothing_is_continued(
    remote: RemoteFile, server: Server
) -> None:
    server.tag = None
    # The second answer could be of another file; it begins again, and brings nothing new.
    server.break_off = [1_000_000, 1_000_000]
    with pytest.raises(DataError, match="ended after 1,000,000 of"):
        get(replace(remote, sha256=None))
    assert [asked for _, asked in server.asked] == [None, None]


def test_more_than_the_server_has_is_thrown_away(
    remote: RemoteFile, server: Server, cache: Path
) -> None:
    cache.mkdir()
    (cache / ".data.bin.part").write_bytes(BODY + b"more")
    facts = {"url": remote.urls[0], "version": server.tag}
    (cache / ".data.bin.part.json").write_text(json.dumps(facts), "utf-8")
    assert get(remote).read_bytes() == BODY


def test_a_wrong_hash_leaves_nothing(remote: RemoteFile, server: Server, cache: Path) -> None:
    server.files["/data.bin"] = b"something else"
    actual = hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(DataError, match=f"{actual}.*{DIGEST} was expected"):
        get(remote)
    assert list(cache.iterdir()) == []
    # Who knows that it is right accepts it, once for all.
    assert get(remote, sha256=actual.upper()).read_bytes() == b"something else"
    assert get(remote).read_bytes() == b"something else"


def test_of_an_unknown_file_the_first_hash_counts(
    remote: RemoteFile, server: Server, cache: Path
) -> None:
    unknown = replace(remote, sha256=None)
    path = get(unknown)
    assert json.loads((cache / "data.bin.sha256.json").read_text("utf-8"))["sha256"] == DIGEST
    path.unlink()
    server.files["/data.bin"] = b"replaced by the publisher"
    with pytest.raises(DataError, match=f"{DIGEST} was expected"):
        get(unknown)
    server.files["/data.bin"] = BODY
    assert get(unknown).read_bytes() == BODY


def test_a_file_that_was_changed_in_the_cache_is_noticed(remote: RemoteFile) -> None:
    path = get(remote)
    path.write_bytes(BODY[:-1])
    with pytest.raises(DataError, match="damaged, or another version"):
        get(remote)


def test_a_file_that_was_put_there_by_hand(remote: RemoteFile, server: Server, cache: Path) -> None:
    cache.mkdir()
    (cache / "data.bin").write_bytes(BODY)
    assert get(remote).read_bytes() == BODY
    assert server.asked == []


def test_a_cache_that_cannot_be_written_to_is_read(
    remote: RemoteFile, archive: RemoteFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = get(remote), get(archive)

    def refuse(path: Path) -> None:
        raise DataError(f"{path}: read-only")

    monkeypatch.setattr(downloads, "make_folder", refuse)
    monkeypatch.setattr(downloads, "locked", refuse)
    assert (get(remote), get(archive)) == paths
    paths[0].write_bytes(BODY[1:])
    with pytest.raises(DataError, match="read-only"):
        get(remote)


def test_not_found_names_the_address_and_the_way_out(
    remote: RemoteFile, server: Server, cache: Path
) -> None:
    missing = replace(remote, urls=(f"{server.address}/gone.bin",))
    with pytest.raises(DataError, match=r"/gone.bin: the server answers 404") as caught:
        get(missing)
    message = str(caught.value)
    assert f"put data.bin into {cache}" in message
    assert "BAYESBIAS_MIRROR" in message


def test_the_next_address_is_tried(remote: RemoteFile, server: Server) -> None:
    second = replace(remote, urls=(f"{server.address}/gone.bin", *remote.urls))
    assert get(second).read_bytes() == BODY


def test_offline(remote: RemoteFile) -> None:
    # A port that nobody listens to.
    alone = replace(remote, urls=("http://127.0.0.1:9/data.bin",))
    with pytest.raises(DataError, match="no connection"):
        get(alone)


def test_mirrors_come_first(
    remote: RemoteFile, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/mirror/data.bin"] = BODY
    monkeypatch.setenv("BAYESBIAS_MIRROR", f"{server.address}/empty {server.address}/mirror/")
    assert get(remote).read_bytes() == BODY
    assert [path for path, _ in server.asked] == ["/empty/data.bin", "/mirror/data.bin"]


def test_a_folder_is_a_mirror(
    remote: RemoteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "data.bin").write_bytes(BODY)
    monkeypatch.setenv("BAYESBIAS_MIRROR", (tmp_path / "shelf").as_uri())
    assert get(remote).read_bytes() == BODY
    assert server.asked == []
    monkeypatch.setenv("BAYESBIAS_MIRROR", "shelf")
    (cache_folder() / "data.bin").unlink()
    with pytest.raises(SpecError, match="BAYESBIAS_MIRROR has 'shelf'"):
        get(remote)


def test_a_mirror_that_lies_does_not_win(
    remote: RemoteFile, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/mirror/data.bin"] = b"not it"
    monkeypatch.setenv("BAYESBIAS_MIRROR", f"{server.address}/mirror")
    assert get(remote).read_bytes() == BODY


def test_a_page_is_not_a_file(remote: RemoteFile, server: Server) -> None:
    server.kind = "text/html; charset=utf-8"
    with pytest.raises(DataError, match="sends a page"):
        get(replace(remote, sha256=None))


def test_an_unknown_file_is_not_taken_from_an_open_line(remote: RemoteFile) -> None:
    class Answer:
        headers = Message()

        def geturl(self) -> str:
            return "http://elsewhere.example/data.bin"

    url = "https://example.org/data.bin"
    with pytest.raises(downloads._BrokenOff, match="not encrypted"):
        downloads._check_answer(remote, url, Answer(), None)
    downloads._check_answer(remote, url, Answer(), DIGEST)  # the hash is protection enough


def test_a_full_disk_is_said_before(
    remote: RemoteFile, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    usage = downloads.shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(downloads.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(DataError, match="BAYESBIAS_CACHE"):
        get(remote)
    assert not (cache / "data.bin").exists()


@pytest.fixture
def archive(server: Server, tmp_path: Path) -> RemoteFile:
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("folder/vectors.txt", "a 1 0\nb 0 1\n")
    server.files["/made.zip"] = path.read_bytes()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    urls = (f"{server.address}/made.zip",)
    return RemoteFile("made", "embedding", "made.zip", urls, "", "", digest, "folder/vectors.txt")


def test_archives_are_unpacked_once(archive: RemoteFile, server: Server) -> None:
    path = get(archive)
    assert path.name == "made.zip.vectors.txt"
    assert path.read_text("utf-8") == "a 1 0\nb 0 1\n"
    before = path.stat().st_mtime_ns
    assert get(archive).stat().st_mtime_ns == before
    assert len(server.asked) == 1
    path.write_text("a 1", "utf-8")  # an unpacking that was cut short
    assert get(archive).read_text("utf-8") == "a 1 0\nb 0 1\n"


def test_what_is_no_archive(archive: RemoteFile, server: Server) -> None:
    with pytest.raises(DataError, match="no file 'other.txt'"):
        get(replace(archive, member="other.txt"))
    server.files["/data.zip"] = b"PK no archive"
    broken = replace(
        archive, filename="data.zip", urls=(f"{server.address}/data.zip",), sha256=None
    )
    with pytest.raises(DataError, match="damaged"):
        get(broken)


@pytest.mark.parametrize("value", ["", "12", "g" * 64, 3])
def test_what_is_no_hash(remote: RemoteFile, value: str) -> None:
    with pytest.raises(SpecError, match="64 hexadecimal digits"):
        get(remote, sha256=value)


def test_two_at_once_do_not_mix(remote: RemoteFile, server: Server) -> None:
    """One downloads; the other gets the file, or is told who is at it."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(get(remote).read_bytes() == BODY)
        except DataError as err:
            results.append("is being written" in str(err))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4
    assert get(remote).read_bytes() == BODY


def test_the_usual_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BAYESBIAS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    find: Callable[[], Path] = cache_folder
    monkeypatch.setattr(downloads.sys, "platform", "linux")
    assert find() == tmp_path / "bayesbias"
    monkeypatch.setattr(downloads.sys, "platform", "darwin")
    assert find().parts[-3:] == ("Library", "Caches", "bayesbias")
    monkeypatch.setattr(downloads.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert find() == tmp_path / "local" / "bayesbias"
