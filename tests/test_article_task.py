"""The task of article 1 §4 and the failures of article 2, end to end.

HTTP, the openai client, the ledger on disk and the report are real; only the model is a script. To assert the
last error is not enough (article 2): each test counts the requests at the server and the runs of the tools.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import demo
import openai
import pytest
from task import (
    ASKED,
    FINISHED,
    PAGE,
    POLICY,
    READ,
    REPORT,
    SAVE,
    Desk,
    Done,
    Fragment,
    do_task,
    finishes,
    pieces,
    reads,
    saves,
    says,
    script,
    takes,
)
from upstream import CUT, DONE, HANG_UP, RESET, Refusal, Reply, Step, Upstream, answer, chunk, finish

from wholecall import (
    ABSENT,
    UNKNOWN,
    Applied,
    Call,
    Context,
    Ledger,
    Policy,
    Result,
    Tool,
    ToolFailed,
    Turn,
    openai_request,
)
from wholecall.turn.observe import Event, RowFired

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def client_of(upstream: Upstream) -> AsyncIterator[openai.AsyncOpenAI]:
    http = openai.DefaultAsyncHttpxClient(verify=False)  # plain HTTP: no certificates to load each time
    async with openai.AsyncOpenAI(base_url=upstream.url, api_key="none", http_client=http) as client:
        yield client


# -- article 1 §4 ------------------------------------------------------------------------------------


@dataclass
class Ended:
    """The task, and what stands when it is over."""

    desk: Desk
    done: Done
    requests: list[dict[str, Any]]
    rows: list[str]


async def task_of(folder: Path, *replies: Reply) -> Ended:
    """Do the task with this upstream, in this folder."""
    (folder / "desk").mkdir(parents=True)
    desk, rows = Desk(folder / "desk"), list[str]()

    def observe(event: Event) -> None:
        if isinstance(event, RowFired):
            rows.append(event.row)

    with Upstream(*replies) as upstream, Ledger(f"sqlite:///{folder / 'ledger.db'}") as ledger:
        async with client_of(upstream) as client:
            done = await do_task(client, desk, ledger, observe=observe)
        assert ledger.recover() == ()
    return Ended(desk, done, upstream.requests, rows)


CONTINUATIONS: dict[str, Fragment] = {"omitted": {}, "null": {"id": None}}


@pytest.mark.parametrize("again", CONTINUATIONS.values(), ids=CONTINUATIONS)
async def test_the_task_is_done(tmp_path: Path, again: Fragment) -> None:
    """A page is read, a report saved, an answer given; each tool runs once, each turn asks once."""
    ended = await task_of(tmp_path, *script(again))

    assert [result.end for result in ended.done.results] == ["settled", "settled", "answered"]
    assert [result.fault for result in ended.done.results] == [None, None, None]
    assert ended.done.call_ids == ["call-read", "call-save"]
    assert ended.desk.runs == ["read_page", "save_report"]
    assert ended.desk.report.read_bytes() == REPORT.encode()
    assert len(ended.requests) == 3
    assert ended.desk.queries == 0


async def test_omitted_and_null_continuations_come_to_the_same(tmp_path: Path) -> None:
    """The same ids, the same requests, the same keys and rows, and byte for byte the same report."""
    omitted, null = [await task_of(tmp_path / name, *script(CONTINUATIONS[name])) for name in CONTINUATIONS]

    assert omitted.done.call_ids == null.done.call_ids
    assert omitted.desk.report.read_bytes() == null.desk.report.read_bytes()
    assert omitted.requests == null.requests
    assert omitted.done.results == null.done.results
    assert omitted.rows == null.rows
    assert sorted(p.name for p in omitted.desk.folder.iterdir()) == sorted(
        p.name for p in null.desk.folder.iterdir()
    )


async def test_what_was_said_goes_back_verbatim(tmp_path: Path) -> None:
    """The assistant's calls as they came, with their odd spaces, and what each tool gave; nothing else."""
    ended = await task_of(tmp_path, *script({"id": None}))
    asked = {"role": "user", "content": ASKED}
    read = [assistant("call-read", "read_page", "".join(READ)), said("call-read", PAGE)]
    saved = [assistant("call-save", "save_report", SAVE), said("call-save", "report.md")]

    assert [request["messages"] for request in ended.requests] == [
        [asked],
        [asked, *read],
        [asked, *read, *saved],
    ]
    assert ended.done.history == [asked, *read, *saved, {"role": "assistant", "content": FINISHED}]
    assert all(request["stream"] is True for request in ended.requests)
    assert [tool["function"]["name"] for tool in ended.requests[0]["tools"]] == ["read_page", "save_report"]


def assistant(id: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }


def said(id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def beginning(**id: object) -> Fragment:
    """The first fragment of the save, with an id or without."""
    return {"index": 0, **id, "function": {"name": "save_report", "arguments": '{"text":'}}


def later(arguments: str = '"x"}', index: int = 0, **id: object) -> Fragment:
    return {"index": index, **id, "function": {"arguments": arguments}}


NAMED = beginning(id="call-save")
OTHER: Fragment = {"index": 1, "id": None, "function": {"name": "save_report", "arguments": SAVE}}
REFUSED: dict[str, tuple[str, list[Fragment]]] = {
    "null first": ("identity.null_first", [beginning(id=None), later(id="call-save")]),
    "null after an early empty string": ("identity.null_first", [beginning(id=""), later(id=None)]),
    "null at a new index": ("identity.null_first", [NAMED, later(), OTHER]),
    "a different string": ("identity.conflict", [NAMED, later(id="call-other")]),
    "an empty string": ("identity.conflict", [NAMED, later(id="")]),
    "a number": ("identity.type", [NAMED, later(id=7)]),
    "a boolean": ("identity.type", [beginning(id=True), later()]),
    "an array": ("identity.type", [NAMED, later(id=["call-save"])]),
    "an object": ("identity.type", [NAMED, later(id={"id": "call-save"})]),
    "no id at all": ("identity.missing", [beginning(), later()]),
    "no JSON once joined": ("syntax.incomplete", [NAMED, later('"x"', id=None)]),
    "other text once joined": ("syntax.invalid", [NAMED, later('"x"}}', id=None)]),
    "ids that stand twice": (
        "proposal.duplicate_id",
        [*pieces(0, "call-save", "save_report", SAVE), *pieces(1, "call-save", "save_report", SAVE)],
    ),
}


@pytest.mark.parametrize(("fault", "fragments"), REFUSED.values(), ids=REFUSED)
async def test_what_is_refused_leaves_no_report(
    tmp_path: Path, fault: str, fragments: list[Fragment]
) -> None:
    """The page is read; then the save is refused as often as it comes, and nothing of it ever runs."""
    refused = says(*fragments)
    ended = await task_of(tmp_path, reads(), *[refused] * POLICY.attempts)
    first, last = ended.done.results

    assert (first.end, last.end, last.fault) == ("settled", "exhausted", fault)
    assert [attempt.fault for attempt in last.attempts] == [fault] * POLICY.attempts
    assert len(ended.requests) == 1 + POLICY.attempts
    assert ended.desk.runs == ["read_page"]
    assert list(ended.desk.folder.iterdir()) == []
    assert (last.operations, last.messages) == ((), ())


async def test_feedback_goes_with_the_next_request_and_bears_no_argument_text(tmp_path: Path) -> None:
    """A short message of fault, position and which call; the cut text stays where it was."""
    cut = says(NAMED, later('"sk-planted-7431'))
    ended = await task_of(tmp_path, reads(), cut, saves(), finishes())
    before, after = (ended.requests[number]["messages"] for number in (1, 2))

    assert ended.done.results[-1].end == "answered"
    assert after[:-1] == before
    assert after[-1]["role"] == "user"
    assert "call 0 (save_report): the arguments stop before their JSON text is whole" in after[-1]["content"]
    assert "planted" not in json.dumps(ended.requests)
    assert ended.requests[3]["messages"][:3] == before  # what was regenerated leaves no trace in the history


async def test_the_demo_shows_it_and_computes_what_it_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fits 80 columns, a pipe gets no colours, and the level of evidence is printed."""
    monkeypatch.setenv("COLUMNS", "80")
    status = await demo.main()
    lines = capsys.readouterr().out.splitlines()

    assert status == 0
    assert lines[-1] == "reports are byte-equal"
    assert max(map(len, lines)) <= 80
    assert "evidence: synthetic" in "\n".join(lines)
    assert not [line for line in lines if "\x1b" in line or line != line.rstrip()]


async def test_the_demo_would_say_that_it_is_not_so(tmp_path: Path) -> None:
    """Of two runs that are both done but differ, and of one that should have left no report."""
    one = await demo.run("one", tmp_path, script())
    empty = says(*pieces(0, "call-x", "save_report", '{"text":""}'))
    other = await demo.run("other", tmp_path, [reads(), empty, finishes()])

    assert demo.verdict(one, other, other) == {
        "the refused run left no report": False,
        "of the rows only I13 became I14": False,
        "call ids are the same": False,
        "reports are byte-equal": False,
    }


# -- article 2 ---------------------------------------------------------------------------------------


class Counting:
    """Tools that only count, and a turn that runs on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: list[str] = []

    def tool(self, name: str, **options: Any) -> Tool:
        def run(_: dict[str, Any], context: Context) -> object:
            self.runs.append(name)
            return f"{name} {context.try_number}"

        return Tool(name, options.pop("parameters", takes(boardId="string")), run, **options)

    async def turn(
        self, upstream: Upstream, tools: Sequence[Tool], *, policy: Policy = POLICY, **options: Any
    ) -> Result:
        with Ledger(f"sqlite:///{self.folder / 'ledger.db'}") as ledger:
            async with client_of(upstream) as client:
                request = openai_request(client, messages=[], tools=tools, model="test-model")
                return await Turn(tools, request, policy=policy, ledger=ledger, **options).run()


@pytest.fixture
def counting(tmp_path: Path) -> Counting:
    return Counting(tmp_path)


BOARD = '{"boardId":"demo","checks":["clearance"]}'


def inspects(arguments: str = BOARD, index: int = 0, name: str = "inspect_board") -> list[Fragment]:
    return pieces(index, f"call-{index}", name, arguments)


WHOLE = says(*inspects())
CUT_TEXT = says(*inspects(BOARD[:-1]))
SHORT = [*CUT_TEXT[:-2], finish("length"), DONE]
HALF = [chunk({"tool_calls": [fragment]}) for fragment in inspects()[:-1]]

RECOVERED: dict[str, tuple[str, Reply]] = {
    "text that lacks its bracket": ("syntax.incomplete", CUT_TEXT),
    "a length limit": ("stream.cut_short", SHORT),
    "no finish reason": ("stream.no_finish", [*CUT_TEXT[:-2], DONE]),
    "a clean close": ("stream.no_finish", HALF),
    "a cut connection": ("stream.aborted", [*HALF, CUT]),
    "a reset connection": ("stream.aborted", [*HALF, RESET]),
    "half an event": ("stream.aborted", [*HALF, b'data: {"choices":[{"index":0,"del', CUT]),
    "an unknown tool": ("structure.unknown_tool", says(*inspects(name="inspect_bord"))),
    "no answer": ("turn.unreachable", HANG_UP),
}


@pytest.mark.parametrize(("fault", "reply"), RECOVERED.values(), ids=RECOVERED)
async def test_cut_once_then_recovered(counting: Counting, fault: str, reply: Reply) -> None:
    """Exactly one regeneration; the cut call ran zero times, the whole one once."""
    with Upstream(reply, WHOLE) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board")])

    assert (result.end, result.fault) == ("settled", None)
    assert [attempt.fault for attempt in result.attempts] == [fault, None]
    assert [diagnostic.fault for diagnostic in result.diagnostics] == [fault]
    assert len(upstream.requests) == 2
    assert counting.runs == ["inspect_board"]


@pytest.mark.parametrize(("fault", "reply"), RECOVERED.values(), ids=RECOVERED)
async def test_always_cut_stops_at_the_limit(counting: Counting, fault: str, reply: Reply) -> None:
    """The error goes back to the user; nothing loops in the background, and nothing ran."""
    with Upstream(*[reply] * POLICY.attempts) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board")])

    assert (result.end, result.fault) == ("exhausted", fault)
    assert len(upstream.requests) == len(result.attempts) == POLICY.attempts
    assert counting.runs == []


async def test_one_valid_and_one_cut_call_run_neither_and_then_each_once(counting: Counting) -> None:
    """Checks come before any dispatch, so the valid call has not run when the cut one is found."""
    ran_before: list[list[str]] = []
    tools = [counting.tool("inspect_board"), counting.tool("export_board")]
    mixed = says(*inspects(), *inspects(BOARD[:-1], 1, "export_board"))
    both = says(*inspects(), *inspects(BOARD, 1, "export_board"))

    def observe(event: Event) -> None:
        if isinstance(event, RowFired) and event.row == "T01":
            ran_before.append(list(counting.runs))

    with Upstream(mixed, both) as upstream:
        result = await counting.turn(upstream, tools, observe=observe)

    assert result.end == "settled"
    assert ran_before == [[], []]
    assert sorted(counting.runs) == ["export_board", "inspect_board"]
    assert len(upstream.requests) == 2
    assert [diagnostic.index for diagnostic in result.diagnostics] == [1]


async def test_a_legal_empty_object_runs_once(counting: Counting) -> None:
    with Upstream(says(*inspects("{}"))) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board", parameters=takes())])

    assert (result.end, counting.runs, len(upstream.requests)) == ("settled", ["inspect_board"], 1)


MISFIT = {
    "{}": "structure.schema",
    '{"boardId":7}': "structure.schema",
    "null": "structure.not_object",
    "7": "structure.not_object",
    '["demo"]': "structure.not_object",
    '"demo"': "structure.not_object",
}


@pytest.mark.parametrize("arguments", MISFIT)
async def test_valid_json_that_does_not_fit_is_no_syntax_error(counting: Counting, arguments: str) -> None:
    """An empty object where a field is required is as whole as any; it only does not fit."""
    with Upstream(says(*inspects(arguments)), WHOLE) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board")])

    assert [attempt.fault for attempt in result.attempts] == [MISFIT[arguments], None]
    assert result.diagnostics[0].parsed is True
    assert (result.end, counting.runs, len(upstream.requests)) == ("settled", ["inspect_board"], 2)


ERROR = {"error": {"message": "overloaded, try later", "code": "overloaded", "status": 503}}
EVENT = b'event: error\ndata: {"message":"overloaded, try later","status":503}\n\n'


@pytest.mark.parametrize("error", [ERROR, EVENT], ids=["an error object", "an error event"])
async def test_an_upstream_error_within_the_stream_is_a_refusal(counting: Counting, error: Step) -> None:
    """One request, no success pretended; status and reason are kept, and the reason is in no repr."""
    with Upstream([*HALF, error, *WHOLE[-3:]]) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board")])
    (found,) = result.diagnostics

    assert (result.end, result.fault) == ("refused", "upstream.error")
    assert (found.upstream_status, found.reason) == (503, "overloaded, try later")
    assert (counting.runs, len(upstream.requests), result.messages) == ([], 1, ())
    assert "overloaded, try" not in repr(result)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 500, 503])
async def test_an_http_refusal_is_asked_exactly_once(counting: Counting, status: int) -> None:
    """Also of the statuses that the client itself would have repeated."""
    body = {"error": {"message": "quota is used up", "code": "no_quota"}}
    with Upstream(Refusal(status, body)) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board")])
    (found,) = result.diagnostics

    assert (result.end, result.fault) == ("refused", "upstream.refused")
    assert (found.upstream_status, found.upstream_code) == (status, "no_quota")
    assert "quota is used up" in (found.reason or "")
    assert (counting.runs, len(upstream.requests)) == ([], 1)


async def test_a_filter_is_a_refusal(counting: Counting) -> None:
    with Upstream([*WHOLE[:-2], finish("content_filter"), DONE]) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board")])

    assert (result.end, result.fault) == ("refused", "stream.filtered")
    assert (counting.runs, len(upstream.requests)) == ([], 1)


# -- whole, and not allowed --------------------------------------------------------------------------


async def test_a_business_refusal_goes_back_with_its_reason(counting: Counting) -> None:
    """The planner gets the reason of each call; the same request is not made again, and no sibling runs."""
    tools = [
        counting.tool("inspect_board"),
        counting.tool("export_board", check=lambda arguments: f"no board {arguments['boardId']}"),
    ]
    with Upstream(says(*inspects(), *inspects(BOARD, 1, "export_board"))) as upstream:
        result = await counting.turn(upstream, tools)

    assert (result.end, result.fault) == ("returned", "business.denied")
    assert [message["role"] for message in result.messages] == ["assistant", "tool", "tool"]
    assert "no board demo" in result.messages[2]["content"]
    assert (counting.runs, len(upstream.requests)) == ([], 1)


async def test_the_host_is_asked_once_about_the_whole_batch(counting: Counting) -> None:
    asked: list[tuple[Call, ...]] = []

    def authorize(batch: tuple[Call, ...]) -> bool:
        asked.append(batch)
        return False

    both = says(*inspects(), *inspects(BOARD, 1))
    with Upstream(CUT_TEXT, both) as upstream:
        result = await counting.turn(upstream, [counting.tool("inspect_board")], authorize=authorize)

    assert (result.end, result.fault) == ("declined", "host.unauthorized")
    assert [[call.id for call in batch] for batch in asked] == [["call-0", "call-1"]]
    assert (counting.runs, len(upstream.requests)) == ([], 2)


# -- after a tool ran --------------------------------------------------------------------------------


class Slow:
    """A tool that writes and then does not answer in time, and what a query says of it."""

    def __init__(self, counting: Counting, *answers: object) -> None:
        self.counting = counting
        self.answers = iter(answers)
        self.keys: list[str] = []
        self.asked: list[str] = []

    def run(self, _: dict[str, Any], context: Context) -> str:
        self.counting.runs.append("inspect_board")
        self.keys.append(context.key)
        if context.try_number == 1:
            time.sleep(0.3)
        return "written"

    def query(self, key: str) -> object:
        self.asked.append(key)
        return next(self.answers)

    def tool(self, **options: Any) -> Tool:
        return Tool(
            "inspect_board", takes(boardId="string"), self.run, query=self.query, timeout=0.05, **options
        )


async def test_a_timeout_after_the_write_is_looked_up_and_found(counting: Counting) -> None:
    """The write is not repeated, and no request is made: the query tells."""
    slow = Slow(counting, UNKNOWN, Applied("written"))
    with Upstream(WHOLE) as upstream:
        result = await counting.turn(upstream, [slow.tool()])

    assert (result.end, result.fault) == ("settled", None)
    assert [(one.state, one.result) for one in result.operations] == [("succeeded", "written")]
    assert result.messages[-1]["content"] == "written"
    assert (counting.runs, len(upstream.requests)) == (["inspect_board"], 1)
    assert slow.asked == [slow.keys[0]] * 2


async def test_a_timeout_whose_effect_is_known_absent_is_tried_again_under_its_key(
    counting: Counting,
) -> None:
    slow = Slow(counting, ABSENT)
    with Upstream(WHOLE) as upstream:
        result = await counting.turn(upstream, [slow.tool()])

    assert (result.end, len(upstream.requests)) == ("settled", 1)
    assert len(counting.runs) == 2
    assert len(set(slow.keys)) == 1


@pytest.mark.parametrize("effect", ["once", "idempotent"])
async def test_an_unknown_effect_is_repeated_only_where_that_is_one_effect(
    counting: Counting, effect: str
) -> None:
    slow = Slow(counting, *[UNKNOWN] * POLICY.queries)
    with Upstream(WHOLE) as upstream:
        result = await counting.turn(upstream, [slow.tool(effect=effect)])

    once = effect == "once"
    assert (result.end, result.fault) == (
        ("unresolved", "operation.unresolved") if once else ("settled", None)
    )
    assert (len(slow.keys), len(set(slow.keys))) == (1 if once else 2, 1)
    assert (len(slow.asked), len(upstream.requests)) == (POLICY.queries, 1)


async def test_of_one_known_and_one_uncertain_only_the_uncertain_is_looked_up(counting: Counting) -> None:
    slow = Slow(counting, ABSENT)
    known = counting.tool("export_board")
    both = says(*inspects(BOARD, 0, "export_board"), *inspects(BOARD, 1))
    with Upstream(both) as upstream:
        result = await counting.turn(upstream, [known, slow.tool()])

    assert [(one.tool, one.state) for one in result.operations] == [
        ("export_board", "succeeded"),
        ("inspect_board", "succeeded"),
    ]
    assert (counting.runs.count("export_board"), counting.runs.count("inspect_board")) == (1, 2)
    assert len(upstream.requests) == 1


def raise_failed(_: dict[str, Any], context: Context) -> object:  # noqa: ARG001
    raise ToolFailed("the board is locked")


def raise_other(_: dict[str, Any], context: Context) -> object:  # noqa: ARG001
    raise OSError("the disk went away")


@pytest.mark.parametrize(
    ("run", "effect", "end", "state"),
    [
        (raise_failed, "once", "settled", "failed"),
        (raise_other, "none", "settled", "failed"),
        (raise_other, "once", "unresolved", "unresolved"),
    ],
    ids=["it promises that it wrote nothing", "it only reads", "it may have written"],
)
async def test_a_tool_that_raises_is_read_by_what_it_promised(
    counting: Counting, run: Callable[..., object], effect: Any, end: str, state: str
) -> None:
    """No success received is not the same as no effect; only a promise makes a failure known."""
    with Upstream(WHOLE) as upstream:
        result = await counting.turn(
            upstream, [Tool("inspect_board", takes(boardId="string"), run, effect=effect)]
        )

    assert (result.end, [one.state for one in result.operations]) == (end, [state])
    assert len(upstream.requests) == 1
    assert "disk" not in repr(result)


async def test_where_the_next_response_is_cut_only_that_one_is_regenerated(tmp_path: Path) -> None:
    """The tool that ran before is on record, and does not run again with the turn that follows."""
    cut = [*answer("The rep")[:-2], CUT]
    ended = await task_of(tmp_path, reads(), saves(), cut, finishes())

    assert [len(result.attempts) for result in ended.done.results] == [1, 1, 2]
    assert ended.done.results[-1].end == "answered"
    assert ended.done.history[-1]["content"] == FINISHED
    assert ended.desk.runs == ["read_page", "save_report"]
    assert len(ended.requests) == 4
    assert ended.requests[3]["messages"][:-1] == ended.requests[2]["messages"]
