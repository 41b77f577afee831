"""Evidence is private, whole, bounded, and without any say in a verdict."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholecall import Assembler, Response, WholecallError
from wholecall.turn import evidence as room
from wholecall.turn.evidence import Evidence, EvidenceDigestError, EvidenceError, EvidenceLimitError

DAY = 24 * 3600.0


class Clock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """To wait for the disk a thousand times tests the disk; that it is waited for has a test of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "evidence"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def items(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir()}


def digest_of(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


# -- what is kept ----------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("\ud800\udbff\udc00\udfff\r\n\0"))


@settings(max_examples=50, deadline=None)
@given(text=TEXTS)
def test_a_text_comes_back_exactly_as_it_arrived(text: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        kept = Evidence(Path(root, "e"))

        assert kept.keep("0123abcd", text)
        assert kept.get("0123abcd") == text
        assert Evidence(Path(root, "e")).get("0123abcd") == text


def test_an_item_is_one_file_named_by_its_digest(folder: Path) -> None:
    kept = Evidence(folder)
    kept.keep("ab12", '{"path": "/etc')

    assert (folder / "ab12").read_bytes() == b'{"path": "/etc'
    assert items(folder) == {"ab12": 14}


def test_no_text_is_not_the_same_as_empty_text(folder: Path) -> None:
    kept = Evidence(folder)
    kept.keep("aa", "")

    assert kept.get("aa") == ""
    assert kept.get("bb") is None


@pytest.mark.parametrize(
    "digest",
    ["", "AB", "g", "../a", "a/b", ".a", "a.part", "a\n", "a\0", "\uff41", "a" * 129, "secret", None, 7],
)
def test_only_a_digest_names_an_item_and_nothing_else_is_ever_shown(folder: Path, digest: Any) -> None:
    kept = Evidence(folder)
    for use in (lambda: kept.keep(digest, "x"), lambda: kept.get(digest)):
        with pytest.raises(EvidenceDigestError) as caught:
            use()

        assert str(caught.value) == "a digest is 1 to 128 lowercase hexadecimal digits"
    assert items(folder) == {}


# -- private ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0, 0o022, 0o077, 0o177, 0o377])
def test_folder_and_files_are_private_whatever_the_umask(folder: Path, mask: int) -> None:
    with umask(mask):
        kept = Evidence(folder)
        assert kept.keep("aa", "x")

    assert mode(folder) == 0o700
    assert mode(folder / "aa") == 0o600
    assert kept.get("aa") == "x"


def test_a_private_folder_that_exists_is_used(folder: Path) -> None:
    folder.mkdir(0o700)

    assert Evidence(folder).keep("aa", "x")
    assert mode(folder) == 0o700


@pytest.mark.parametrize("wrong", [0o755, 0o750, 0o701, 0o777, 0o500, 0o600, 0o770, 0o000])
def test_a_folder_of_another_mode_is_refused_and_left_as_it_is(folder: Path, wrong: int) -> None:
    folder.mkdir()
    folder.chmod(wrong)
    if os.geteuid() != 0 and not wrong & 0o400:
        pytest.skip("only root can open it to see")

    with pytest.raises(EvidenceError) as caught:
        Evidence(folder)

    assert caught.value.folder == folder
    assert caught.value.problem == f"its mode is {wrong:04o}, not 0700"
    assert str(caught.value) == f"evidence in {folder}: its mode is {wrong:04o}, not 0700"
    assert mode(folder) == wrong


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_folder_behind_a_link_is_refused(tmp_path: Path, slash: str) -> None:
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "link").symlink_to("real")

    with pytest.raises(EvidenceError, match=r"it is a link, or no folder$"):
        Evidence(f"{tmp_path}/link{slash}")
    assert items(tmp_path / "real") == {}


def test_a_file_is_no_folder(folder: Path) -> None:
    folder.write_text("x")

    with pytest.raises(EvidenceError, match=r"it is a link, or no folder$"):
        Evidence(folder)
    assert folder.read_text() == "x"


def test_a_folder_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)

    with pytest.raises(EvidenceError, match=r"it belongs to another user$"):
        Evidence(folder)


def test_a_folder_without_a_parent_is_not_made(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Evidence(folder / "deep")
    assert not folder.exists()


def test_privacy_is_asked_for_each_time_anew(tmp_path: Path, folder: Path) -> None:
    """A folder that was opened up, moved away, or replaced by a link is no longer written to or read from."""
    kept = Evidence(folder)
    kept.keep("aa", "x")
    folder.chmod(0o755)

    assert not kept.keep("bb", "y")
    with pytest.raises(EvidenceError, match=r"its mode is 0755, not 0700$"):
        kept.get("aa")
    with pytest.raises(EvidenceError, match=r"its mode is 0755, not 0700$"):
        kept.prune()

    folder.chmod(0o700)
    folder.rename(tmp_path / "moved")
    assert not kept.keep("bb", "y")
    with pytest.raises(FileNotFoundError):
        kept.get("aa")

    folder.symlink_to("moved")
    assert not kept.keep("bb", "y")
    assert items(tmp_path / "moved") == {"aa": 1}
    assert kept.failures == 3


def test_errors_are_of_the_one_hierarchy_and_an_oserror_stays_one() -> None:
    assert issubclass(EvidenceError, WholecallError)
    assert issubclass(EvidenceError, OSError)
    assert issubclass(EvidenceDigestError, WholecallError)
    assert issubclass(EvidenceLimitError, WholecallError)


# -- what stands in the folder and is no item ------------------------------------------------------------


def test_what_is_no_item_is_left_alone_and_does_not_count(tmp_path: Path, folder: Path) -> None:
    clock = Clock()
    kept = Evidence(folder, max_items=1, max_age=DAY, clock=clock)
    (folder / "README").write_text("x")
    (folder / "AB").write_text("x")
    (folder / ".note.part").write_text("x")
    (folder / "dd").mkdir()
    (tmp_path / "target").write_text("x")
    (folder / "ee").symlink_to(tmp_path / "target")
    kept.keep("aa", "x")
    clock.now += 2 * DAY
    kept.prune()

    assert {path.name for path in folder.iterdir()} == {"README", "AB", ".note.part", "dd", "ee"}


def test_what_keep_did_not_write_is_not_given(tmp_path: Path, folder: Path) -> None:
    kept = Evidence(folder)
    (folder / "aa").write_bytes(b"secret\xff")
    (folder / "dd").mkdir()
    os.mkfifo(folder / "ff")  # opened without waiting for a writer
    (tmp_path / "target").write_text("x")
    (folder / "ee").symlink_to(tmp_path / "target")

    for name in ("aa", "dd", "ff"):
        with pytest.raises(EvidenceError, match=f"the item {name} is not what was kept$") as caught:
            kept.get(name)
        assert (caught.value.__context__, caught.value.__cause__) == (None, None)
    with pytest.raises(OSError, match="symbolic links"):
        kept.get("ee")


def test_a_link_under_the_name_of_a_digest_is_replaced_and_never_followed(
    tmp_path: Path, folder: Path
) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    kept = Evidence(folder)
    (folder / "aa").symlink_to(target)

    assert kept.keep("aa", "x")
    assert (target.read_text(), kept.get("aa")) == ("mine", "x")
    assert not (folder / "aa").is_symlink()


# -- bounded ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["max_bytes", "max_items", "max_age"])
@pytest.mark.parametrize("value", [0, -1, True, None, "9", float("nan"), float("inf")])
def test_a_bound_that_cannot_be_used_is_refused_before_anything_is_made(
    folder: Path, name: str, value: Any
) -> None:
    with pytest.raises(EvidenceLimitError) as caught:
        Evidence(folder, **{name: value})

    allowed = "a number of seconds above 0" if name == "max_age" else "an integer of at least 1"
    assert (caught.value.name, caught.value.allowed) == (name, allowed)
    assert str(caught.value) == f"the bound {name} of evidence must be {allowed}, not {value!r}"
    assert not folder.exists()


def test_the_oldest_go_first_and_no_more_of_them_than_needed(folder: Path) -> None:
    clock = Clock()
    kept = Evidence(folder, max_bytes=10, clock=clock)
    for digest, text in (("aa", "1234"), ("bb", "12"), ("cc", "1234")):
        assert kept.keep(digest, text)
        clock.now += 1
    assert items(folder) == {"aa": 4, "bb": 2, "cc": 4}

    assert kept.keep("dd", "123")
    assert items(folder) == {"bb": 2, "cc": 4, "dd": 3}


def test_what_is_kept_again_is_new_again(folder: Path) -> None:
    clock = Clock()
    kept = Evidence(folder, max_items=2, clock=clock)
    for digest in ("aa", "bb", "aa", "cc"):
        kept.keep(digest, "x")
        clock.now += 1

    assert set(items(folder)) == {"aa", "cc"}


def test_what_alone_is_more_than_the_bound_is_not_kept_and_nothing_goes_for_it(folder: Path) -> None:
    kept = Evidence(folder, max_bytes=6)

    assert kept.keep("aa", "123")
    assert not kept.keep("bb", "1234567")
    assert not kept.keep("bb", "ééé\udc00")  # nine bytes
    assert (items(folder), kept.failures) == ({"aa": 3}, 0)
    assert kept.keep("bb", "ééé")
    assert items(folder) == {"bb": 6}


def test_an_item_that_is_too_old_is_not_given_and_then_removed(folder: Path) -> None:
    clock = Clock()
    kept = Evidence(folder, max_age=DAY, clock=clock)
    kept.keep("aa", "x")
    clock.now += DAY
    kept.prune()
    assert kept.get("aa") == "x"

    clock.now += 1
    assert kept.get("aa") is None
    assert "aa" in items(folder)
    kept.keep("bb", "y")
    assert set(items(folder)) == {"bb"}

    clock.now += DAY + 1
    kept.prune()
    assert items(folder) == {}


def test_what_an_earlier_process_left_too_old_or_too_much_goes_when_the_folder_is_opened(
    folder: Path,
) -> None:
    clock = Clock()
    kept = Evidence(folder, clock=clock)
    for digest in ("aa", "bb", "cc"):
        kept.keep(digest, "xyz")
        clock.now += DAY

    Evidence(folder, max_age=2.5 * DAY, max_bytes=5, clock=clock)
    assert set(items(folder)) == {"cc"}


def test_a_clock_that_was_set_back_keeps_nothing_for_ever(folder: Path) -> None:
    clock = Clock()
    kept = Evidence(folder, max_age=DAY, clock=clock)
    kept.keep("aa", "x")
    clock.now -= DAY
    kept.prune()
    assert kept.get("aa") == "x"

    clock.now -= 1
    assert kept.get("aa") is None
    kept.prune()
    assert items(folder) == {}


class Model:
    """What the bounds mean, in ten lines: a dictionary in the order of keeping."""

    def __init__(self, max_bytes: int, max_items: int, max_age: float) -> None:
        self.bounds = (max_bytes, max_items, max_age)
        self.kept: dict[str, tuple[float, str]] = {}

    def prune(self, now: float) -> None:
        max_bytes, max_items, max_age = self.bounds
        self.kept = {digest: item for digest, item in self.kept.items() if now - item[0] <= max_age}
        while len(self.kept) > max_items or sum(len(text) for _, text in self.kept.values()) > max_bytes:
            del self.kept[next(iter(self.kept))]

    def keep(self, digest: str, text: str, now: float) -> bool:
        if len(text) > self.bounds[0]:
            return False
        self.kept.pop(digest, None)
        self.kept[digest] = (now, text)
        self.prune(now)
        return True


STEPS = st.lists(st.tuples(st.integers(1, 40), st.sampled_from("abcdef"), st.integers(0, 14)), max_size=12)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS, max_bytes=st.integers(1, 30), max_items=st.integers(1, 5), max_age=st.integers(1, 100))
def test_whatever_is_kept_the_folder_holds_what_the_bounds_mean(
    steps: list[tuple[int, str, int]], max_bytes: int, max_items: int, max_age: int
) -> None:
    clock, model = Clock(), Model(max_bytes, max_items, max_age)
    with tempfile.TemporaryDirectory() as root:
        kept = Evidence(
            Path(root, "e"), max_bytes=max_bytes, max_items=max_items, max_age=max_age, clock=clock
        )
        for wait, digest, length in steps:
            clock.now += wait
            text = digest * length
            assert kept.keep(digest, text) == model.keep(digest, text, clock.now)
            found = items(Path(root, "e"))
            model.prune(clock.now)
            if length <= max_bytes:
                assert found == {name: len(item[1]) for name, item in model.kept.items()}
            assert sum(found.values()) <= max_bytes
            assert len(found) <= max_items
        for digest in "abcdef":
            assert kept.get(digest) == model.kept.get(digest, (0, None))[1]


# -- whole, also where something goes wrong --------------------------------------------------------------


def test_a_file_that_cannot_be_written_whole_leaves_nothing_and_is_counted(folder: Path) -> None:
    """A real limit of the system: this process may write files of ten bytes."""
    kept = Evidence(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        assert not kept.keep("aa", "x" * 11)
        assert kept.keep("bb", "x" * 10)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert (items(folder), kept.failures) == ({"bb": 10}, 1)


def test_an_item_whose_place_is_taken_by_a_folder_is_a_failure(folder: Path) -> None:
    kept = Evidence(folder)
    (folder / "aa").mkdir()

    assert not kept.keep("aa", "x")
    assert kept.failures == 1
    assert [path.name for path in folder.iterdir()] == ["aa"]


def test_an_item_is_on_the_disk_before_it_has_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a power cut could leave an empty file, which is evidence of something else."""
    seen: list[dict[str, int]] = []
    monkeypatch.setattr(
        os, "fsync", lambda file: seen.append({**items(folder), "file": os.fstat(file).st_size})
    )
    Evidence(folder).keep("aa", "1234")

    ((part, size), (_, written)) = seen[0].items()
    assert part.endswith(".part")
    assert (size, written) == (4, 4)


def test_the_bounds_hold_before_an_item_comes_and_after_another_process_wrote_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, other = Evidence(folder, max_bytes=6), Evidence(folder, max_bytes=6)
    kept.keep("aa", "1234")
    sizes: list[int] = []

    def meanwhile(_: int) -> None:
        sizes.append(sum(items(folder).values()))  # what stays, and what is being written
        monkeypatch.setattr(os, "fsync", lambda _: None)
        other.keep("bb", "1234")

    monkeypatch.setattr(os, "fsync", meanwhile)
    assert kept.keep("cc", "1234")
    assert (sizes, items(folder)) == ([4], {"cc": 4})


def test_an_interrupted_keep_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Evidence(folder)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        kept.keep("aa", "x")
    assert items(folder) == {}


def test_an_item_that_another_process_removes_meanwhile_is_no_failure(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    kept = Evidence(folder, max_items=1, clock=clock)
    kept.keep("aa", "x")
    clock.now += 1
    listed, unlink = os.listdir, os.unlink
    monkeypatch.setattr(os, "listdir", lambda folder: [*listed(folder), "bb"])  # listed, and gone

    def unlink_twice(path: str, *, dir_fd: int | None = None) -> None:
        unlink(path, dir_fd=dir_fd)
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", unlink_twice)
    assert kept.keep("cc", "y")
    monkeypatch.undo()
    assert (items(folder), kept.failures) == ({"cc": 1}, 0)


CHILD = """
import os, sys
os.fsync = lambda _: None
from hashlib import blake2b
from wholecall.turn.evidence import Evidence

kept = Evidence(sys.argv[1], max_bytes=int(sys.argv[2]))
seed, count = sys.argv[3], int(sys.argv[4])
print("ready", flush=True)
for number in range(count):
    text = f"{seed}-{number}-" + "x" * (number * 37 % 900)
    assert kept.keep(blake2b(text.encode(), digest_size=8).hexdigest(), text)
assert kept.failures == 0
"""


def child(folder: Path, max_bytes: int, seed: str, count: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", CHILD, str(folder), str(max_bytes), seed, str(count)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def assert_whole(folder: Path) -> None:
    for path in folder.iterdir():
        if not path.name.endswith(".part"):
            assert digest_of(path.read_text()) == path.name
        assert mode(path) == 0o600


def test_processes_that_write_into_one_folder_lose_nothing_but_the_oldest(folder: Path) -> None:
    children = [child(folder, 20_000, seed, 60) for seed in "abc"]
    for one in children:
        one.communicate(timeout=30)

    assert [one.returncode for one in children] == [0, 0, 0]
    found = items(folder)
    assert all(not name.endswith(".part") for name in found)
    assert 18_000 < sum(found.values()) <= 20_000
    assert_whole(folder)


def test_a_process_that_is_killed_leaves_items_whole_or_not_at_all(folder: Path) -> None:
    for number in range(6):
        one = child(folder, 50_000, f"killed{number}", 1_000_000)
        assert one.stdout is not None
        one.stdout.readline()
        time.sleep(0.01 * number)
        one.send_signal(signal.SIGKILL)
        one.communicate()
        assert_whole(folder)

    assert Evidence(folder, max_bytes=50_000).keep("aa", "x")
    assert sum(size for name, size in items(folder).items() if not name.endswith(".part")) <= 50_000


def test_what_a_crash_left_is_never_an_item_and_is_removed_once_it_is_stale(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rename never comes, as after a crash."""
    die = "import os; os.rename = lambda *a, **k: os._exit(9)\n" + CHILD
    arguments = [sys.executable, "-c", die, str(folder), "1000", "seed", "1"]
    assert subprocess.run(arguments, capture_output=True, check=False).returncode == 9
    (left,) = folder.iterdir()
    assert left.name.endswith(".part")
    assert mode(left) == 0o600

    kept = Evidence(folder, max_bytes=1)
    assert kept.keep("aa", "x")
    assert set(items(folder)) == {"aa", left.name}
    monkeypatch.setattr(room, "STALE", -1.0)
    kept.prune()
    assert items(folder) == {"aa": 1}


def test_threads_may_share_one(folder: Path) -> None:
    kept = Evidence(folder, max_bytes=300)
    wrong: list[str] = []

    def work(seed: int) -> None:
        for number in range(15):
            text = f"{seed}-{number}"
            if not kept.keep(digest_of(text), text) or kept.get(digest_of(text)) not in (text, None):
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (wrong, kept.failures) == ([], 0)
    assert_whole(folder)


# -- the assembler ---------------------------------------------------------------------------------------

TOOLS = [{"type": "function", "function": {"name": "save", "parameters": {"required": ["path"]}}}]


def frame(*fragments: Mapping[str, object], finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"delta": {"tool_calls": list(fragments)}, "finish_reason": finish}]}


def begun(index: int, arguments: str, id: str | None = None) -> dict[str, object]:
    function = {"name": "save", "arguments": arguments}
    return {"index": index, "id": id or f"id-secret-{index}", "function": function}


def judged(kept: Any, *frames: object) -> Response:
    assembler = Assembler(tools=TOOLS, evidence=kept, digest_key=b"k", correlation_id="c")
    for one in frames:
        assembler.feed(one)
    response = assembler.close()
    assert assembler.close() is response
    return response


def test_the_text_of_a_refused_call_is_kept_under_the_digest_that_its_diagnostic_shows(folder: Path) -> None:
    kept = Evidence(folder)
    whole, cut, wrong = '{"path": "a"}', '{"path": "secr', '{"path": '
    response = judged(kept, frame(begun(0, whole), begun(3, cut), begun(5, wrong), finish="tool_calls"))

    assert [fault.index for fault in response.faults] == [3, 5]
    assert [kept.get(str(fault.text_digest)) for fault in response.faults] == [cut, wrong]
    assert len(items(folder)) == 2


@pytest.mark.parametrize(
    ("fragments", "fault", "text"),
    [
        ([begun(0, '{"a": 1}')], "structure.schema", '{"a": 1}'),
        ([begun(0, "{}{}")], "syntax.invalid", "{}{}"),
        ([begun(0, '{"k": "\ud83d'), {"index": 0, "function": {"arguments": "\ude00"}}], None, '{"k": "😀'),
        ([begun(0, '"\ud83d"')], "syntax.invalid", '"\ud83d"'),
        ([begun(0, '{"a'), {"index": 0, "id": "other"}], "identity.conflict", '{"a'),
        ([begun(0, "{"), {"index": 0, "function": {"arguments": 7}}], "arguments.type", "{"),
        ([begun(0, "")], "syntax.incomplete", ""),
    ],
)
def test_it_is_the_text_as_it_had_arrived(
    folder: Path, fragments: list[dict[str, object]], fault: str | None, text: str
) -> None:
    kept = Evidence(folder)
    response = judged(kept, *map(frame, fragments), frame(finish="stop"))

    assert response.fault == (fault or "syntax.incomplete")
    assert kept.get(str(response.faults[0].text_digest)) == text
    assert len(items(folder)) == 1


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([frame(begun(0, '{"path": "secret"}'), finish="tool_calls")], id="whole"),
        pytest.param(
            [{"choices": [{"delta": {"content": "secret"}, "finish_reason": "stop"}]}], id="answered"
        ),
        pytest.param([frame(begun(0, "secret")), "secret"], id="a frame that cannot be read"),
        pytest.param([frame(begun(0, "secret")), {"error": {"message": "secret"}}], id="an upstream error"),
        pytest.param([frame({"id": "secret", "function": {"arguments": "secret"}})], id="no index"),
    ],
)
def test_without_a_digest_in_a_diagnostic_nothing_is_kept(folder: Path, frames: list[object]) -> None:
    judged(Evidence(folder), *frames)

    assert items(folder) == {}


def test_ids_names_and_content_are_no_evidence(folder: Path) -> None:
    response = judged(
        Evidence(folder),
        {"choices": [{"delta": {"content": "content-secret"}}]},
        frame(begun(0, "{", id="id-secret")),
        frame(begun(0, "", id="id-secret-too")),
    )

    assert response.fault == "identity.conflict"
    assert [path.read_text() for path in folder.iterdir()] == ["{"]


def test_a_response_asks_once_for_each_refused_call_however_often_it_is_closed() -> None:
    class Counting:
        def __init__(self) -> None:
            self.kept: list[tuple[str, str]] = []

        def keep(self, digest: str, text: str) -> None:
            self.kept.append((digest, text))

    sink = Counting()
    response = judged(sink, frame(begun(0, "{"), begun(1, "["), finish="stop"))

    assert sink.kept == [(f.text_digest, t) for f, t in zip(response.faults, "{[", strict=True)]


PIECES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["{", "}", '"a":1', "x", "", "\udc00"])))


@settings(max_examples=25, deadline=None)
@given(pieces=PIECES, finish=st.sampled_from(["stop", "length", None]))
def test_evidence_kept_or_not_has_no_say_in_a_verdict(
    pieces: list[tuple[int, str]], finish: str | None
) -> None:
    frames = [*(frame(begun(index, text)) for index, text in pieces), frame(finish=finish)]
    with tempfile.TemporaryDirectory() as root:
        kept = Evidence(Path(root, "kept"))
        broken = Evidence(Path(root, "broken"))
        Path(root, "broken").rmdir()
        expected = judged(None, *frames)

        assert judged(kept, *frames) == expected
        assert judged(broken, *frames) == expected
        named = {fault.text_digest for fault in expected.faults} - {None}
        assert set(items(Path(root, "kept"))) == named
        assert (kept.failures, broken.failures > 0) == (0, bool(named))
