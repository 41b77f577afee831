"""The turn, case by case: article 2 at this level, what a host may decide, and what it is told."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest
from turns import (
    ARGUMENTS,
    BROKEN,
    CUT,
    ERROR,
    FAILED,
    FAST,
    GOOD,
    HALF,
    SECRET,
    TEXT,
    TWO,
    Acts,
    Script,
    Shaky,
    Stage,
    context_of,
    hang,
    says,
    stall,
)

from wholecall.assemble import Call
from wholecall.structure import ToolLookupError, Toolset, ToolsetError
from wholecall.turn.observe import (
    AttemptJudged,
    AttemptStarted,
    AttemptUnanswered,
    Checked,
    OperationEnded,
    OperationStarted,
    RowFired,
    TurnEnded,
    TurnStarted,
)
from wholecall.turn.policy import Policy, PolicyError
from wholecall.turn.result import Attempt
from wholecall.turn.run import Turn
from wholecall.turn.tools import ABSENT, UNKNOWN, Applied
from wholecall.turn.upstream import Unreachable, UpstreamRefused

MIXED = says(ARGUMENTS, ("other", '{"a":'))


def states(stage: Stage) -> list[str]:
    return [operation.state for operation in stage.on_record]


# -- article 2 ---------------------------------------------------------------------------------------


def test_cut_and_then_recovered() -> None:
    """Exactly one regeneration; the cut call ran zero times."""
    stage = Stage([HALF, GOOD])
    result = stage.run()

    assert (result.end, result.fault) == ("settled", None)
    assert result.attempts == (Attempt(1, "rejected", "syntax.incomplete"), Attempt(2, "whole", None))
    assert (stage.requests, stage.save.count) == (2, 1)
    assert stage.save.calls[0][0] == json.loads(ARGUMENTS)
    assert [d.fault for d in result.diagnostics] == ["syntax.incomplete"]


def test_always_cut_stops_at_the_limit() -> None:
    stage = Stage([HALF])
    result = stage.run()

    assert (result.end, result.fault) == ("exhausted", "syntax.incomplete")
    assert (stage.requests, stage.save.count, stage.on_record) == (3, 0, ())
    assert result.messages == ()


def test_one_valid_and_one_cut_run_neither_and_then_each_once() -> None:
    ran: list[int] = []

    async def both() -> object:
        ran.append(stage.save.count + stage.other.count)
        return TWO

    stage = Stage([MIXED, both])
    result = stage.run()

    assert (result.end, ran) == ("settled", [0])
    assert (stage.requests, stage.save.count, stage.other.count) == (2, 1, 1)


def test_a_legal_empty_object_runs_once_where_nothing_is_required() -> None:
    stage = Stage([says(("other", "{}"))])

    assert stage.run().end == "settled"
    assert (stage.requests, stage.other.count) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("{}", "structure.schema"),
        ('{"path": 7}', "structure.schema"),
        ("null", "structure.not_object"),
        ("[]", "structure.not_object"),
    ],
)
def test_valid_json_that_does_not_fit_is_never_a_syntax_fault(arguments: str, fault: str) -> None:
    stage = Stage([says(arguments)])
    result = stage.run()

    assert (result.end, result.fault) == ("exhausted", fault)
    assert (stage.requests, stage.save.count) == (3, 0)


def test_an_upstream_error_event_is_a_refusal() -> None:
    stage = Stage([ERROR, GOOD])
    result = stage.run()

    assert (result.end, result.fault) == ("refused", "upstream.error")
    assert [(d.upstream_status, d.reason) for d in result.diagnostics] == [(503, SECRET)]
    assert (stage.requests, stage.save.count) == (1, 0)


def test_a_refused_request_keeps_status_and_reason() -> None:
    stage = Stage([UpstreamRefused(429, SECRET, "slow_down"), GOOD])
    result = stage.run()
    (found,) = result.diagnostics

    assert (result.end, result.fault, stage.requests) == ("refused", "upstream.refused", 1)
    assert (found.upstream_status, found.upstream_code, found.reason) == (429, "slow_down", SECRET)
    assert (found.row, found.machine, found.state, found.input) == (
        "T05",
        "turn",
        "requesting",
        "upstream_refused",
    )
    assert result.attempts == (Attempt(1, None, "upstream.refused"),)


def test_no_answer_is_asked_for_again_within_the_limit() -> None:
    stage = Stage([Unreachable(SECRET)])
    result = stage.run()

    assert (result.end, result.fault, stage.requests) == ("exhausted", "turn.unreachable", 3)
    assert [d.row for d in result.diagnostics] == ["T03", "T03", "T04"]


def test_an_outcome_that_is_not_known_is_queried_and_never_run_again() -> None:
    stage = Stage(save=Acts([BROKEN]), query=Acts([UNKNOWN, Applied("found")]))
    result = stage.run()

    assert (result.end, states(stage)) == ("settled", ["succeeded"])
    assert (stage.save.count, stage.query and stage.query.count, stage.requests) == (1, 2, 1)
    assert result.operations[0].result == "found"


def test_an_outcome_that_cannot_be_found_out_is_left_unresolved() -> None:
    """Queries stop at their limit; the tool never runs again."""
    stage = Stage(save=Acts([BROKEN]), query=Acts([UNKNOWN]))
    result = stage.run()

    assert (result.end, result.fault) == ("unresolved", "operation.unresolved")
    assert (stage.save.count, stage.query and stage.query.count) == (1, 2)
    assert states(stage) == ["unresolved"]


def test_the_next_response_cut_regenerates_only_that_one() -> None:
    """A tool ran in the step before. The step after is cut; only its own request is made again."""
    stage = Stage([GOOD])
    stage.run()
    result = stage.run(id="next", replies=[HALF, TEXT], script=Script([]))

    assert (result.end, stage.requests, stage.save.count) == ("answered", 2, 1)


def test_a_known_operation_beside_an_uncertain_one_never_runs_again() -> None:
    stage = Stage([TWO], save=Acts([BROKEN, "saved"]), query=Acts([ABSENT]))
    result = stage.run()

    assert (result.end, states(stage)) == ("settled", ["succeeded", "succeeded"])
    assert (stage.save.count, stage.other.count, stage.requests) == (2, 1, 1)
    assert context_of(stage.save).key == context_of(stage.save, 1).key
    assert [context_of(stage.save, call).try_number for call in (0, 1)] == [1, 2]


def test_a_promise_that_nothing_was_written_is_a_failure_with_its_reason() -> None:
    stage = Stage([TWO], save=Acts([FAILED]))
    result = stage.run()

    assert (result.end, stage.other.count) == ("settled", 1)
    assert (result.operations[0].state, result.operations[0].reason) == ("failed", FAILED.reason)
    assert FAILED.reason in result.messages[1]["content"]


def test_tries_stop_at_their_limit() -> None:
    stage = Stage(save=Acts([BROKEN]), effect="idempotent")
    result = stage.run()

    assert (result.end, stage.save.count) == ("unresolved", 2)
    assert len(stage.ledger.tries(stage.on_record[0].key)) == 2


# -- checks, then the host, then the run --------------------------------------------------------------


def test_denied_goes_back_with_reasons_and_is_not_asked_for_again() -> None:
    asked: list[object] = []
    stage = Stage([TWO], check=Acts([f"no {SECRET}"]), options={"authorize": asked.append})
    result = stage.run()
    (assistant, first, second) = result.messages

    assert (result.end, result.fault, stage.requests) == ("returned", "business.denied", 1)
    assert assistant["tool_calls"][0]["function"]["arguments"] == ARGUMENTS
    assert first == {"role": "tool", "tool_call_id": f"call-0-{SECRET}", "content": f"no {SECRET}"}
    assert "another call" in second["content"]
    assert (stage.save.count, stage.other.count, asked, stage.on_record) == (0, 0, [], ())
    assert [(d.index, d.tool, d.reason) for d in result.diagnostics] == [(0, "save", f"no {SECRET}")]
    assert result.attempts == (Attempt(1, "whole", "business.denied"),)


def test_the_host_is_asked_once_about_a_whole_batch_that_passed() -> None:
    asked: list[tuple[Call, ...]] = []

    async def authorize(batch: tuple[Call, ...]) -> bool:
        asked.append(batch)
        return True

    stage = Stage([MIXED, says("{}"), TWO], options={"authorize": authorize})

    assert stage.run().end == "settled"
    assert [[call.arguments for call in batch] for batch in asked] == [[ARGUMENTS, "{}"]]


@pytest.mark.parametrize("answer", [False, None, 1, "yes", BROKEN])
def test_anything_but_true_is_no(answer: object) -> None:
    def authorize(_: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    stage = Stage([TWO], options={"authorize": authorize})
    result = stage.run()

    assert (result.end, result.fault) == ("declined", "host.unauthorized")
    assert [m["role"] for m in result.messages] == ["assistant", "tool", "tool"]
    assert (stage.save.count, stage.other.count, stage.requests, stage.on_record) == (0, 0, 1, ())


def test_a_host_that_changes_what_it_is_shown_changes_nothing_that_runs() -> None:
    def authorize(batch: tuple[Call, ...]) -> bool:
        assert batch[0].value is not None
        batch[0].value["path"] = "elsewhere"
        return True

    def on_frame(frame: Any) -> None:
        if isinstance(frame, dict):
            frame.clear()

    stage = Stage([json.loads(json.dumps(GOOD))], options={"authorize": authorize, "on_frame": on_frame})

    assert stage.run().end == "settled"
    assert stage.save.calls[0][0] == json.loads(ARGUMENTS)


# -- what an agent appends, and what a host is told ---------------------------------------------------


def test_messages_go_back_verbatim_with_a_result_for_each_call() -> None:
    odd = '{ "path" :"\\u00e9" }'
    stage = Stage([says(odd, ("other", "{}"))], save=Acts([{"a": 1}]))
    (assistant, first, second) = stage.run().messages

    assert assistant["role"] == "assistant"
    assert assistant["content"] is None
    assert [call["function"]["arguments"] for call in assistant["tool_calls"]] == [odd, "{}"]
    assert (first["content"], second["content"]) == ('{"a": 1}', "done")


def test_an_answer_is_the_text() -> None:
    result = Stage([TEXT]).run()

    assert (result.end, result.fault) == ("answered", None)
    assert result.messages == ({"role": "assistant", "content": f"hello {SECRET}"},)


def test_feedback_tells_where_and_never_what() -> None:
    stage = Stage([HALF, Unreachable(), GOOD])
    stage.run()
    first, second, third = stage.script.told

    assert first is None
    assert second is not None
    assert second == third  # a request without an answer says nothing new of the last response
    assert (second.fault, second.calls) == ("syntax.incomplete", (0,))
    assert (second.offset, SECRET in second.text) == (len(CUT), False)


def test_events_in_their_order() -> None:
    stage = Stage([Unreachable(), HALF, TWO], save=Acts([BROKEN]), query=Acts([Applied()]))
    stage.run()
    told = [event for event in stage.events if not isinstance(event, RowFired)]

    assert [type(event) for event in told] == [
        TurnStarted,
        *(AttemptStarted, AttemptUnanswered),
        *(AttemptStarted, AttemptJudged, Checked),
        *(AttemptStarted, AttemptJudged, Checked),
        *(OperationStarted, OperationStarted, OperationEnded, OperationEnded),
        TurnEnded,
    ]
    assert [event.proposal for event in told if isinstance(event, Checked)] == ["malformed", "permitted"]
    assert [event.call for event in told if isinstance(event, OperationEnded)] == [1, 0]
    assert {event.turn_id for event in told} == {"turn"}
    assert len({event.run for event in told}) == 1


def test_an_observer_that_raises_changes_nothing() -> None:
    def observe(_: object) -> None:
        raise BROKEN

    stage = Stage()
    turn = Turn(stage.tools, Script([GOOD]), "turn", FAST, ledger=stage.ledger, observe=observe)

    assert (turn.run_sync().end, stage.save.count) == ("settled", 1)
    assert Turn(stage.tools, Script([GOOD]), policy=FAST, ledger=stage.ledger).run_sync().end == "settled"


@pytest.mark.parametrize("is_async", [False, True])
def test_every_frame_is_shown_as_it_comes(is_async: bool) -> None:
    shown: list[object] = []

    async def later(frame: object) -> None:
        shown.append(frame)

    stage = Stage([HALF, GOOD], options={"on_frame": later if is_async else shown.append})
    stage.run()

    assert shown == [*HALF, *GOOD]


def test_a_host_that_fails_while_it_is_shown_frames_ends_the_turn() -> None:
    def on_frame(_: object) -> None:
        raise BROKEN

    stage = Stage(options={"on_frame": on_frame})
    with pytest.raises(RuntimeError):
        stage.run()
    assert stage.turn is not None
    result = stage.turn.result()

    assert (result.end, result.fault, stage.save.count) == ("cancelled", "turn.cancelled", 0)
    assert result.attempts == (Attempt(1, None, "turn.cancelled"),)


# -- time --------------------------------------------------------------------------------------------


def test_a_stall_is_an_abort() -> None:
    stage = Stage([stall, GOOD], policy=replace(FAST, stream_idle=0.05))
    result = stage.run()

    assert [attempt.fault for attempt in result.attempts] == ["stream.aborted", None]


def test_a_transport_that_fails_is_an_abort() -> None:
    async def breaks() -> Any:
        async def frames() -> Any:
            yield GOOD[0]
            raise OSError(SECRET)

        return frames()

    assert Stage([breaks, GOOD]).run().attempts[0].fault == "stream.aborted"


def test_a_clean_end_without_a_finish_is_incomplete() -> None:
    assert Stage([GOOD[:1], GOOD]).run().attempts[0] == Attempt(1, "incomplete", "stream.no_finish")


def test_a_request_that_gets_no_answer_in_time_is_unreachable() -> None:
    stage = Stage([hang, GOOD], policy=replace(FAST, stream_idle=0.05))
    result = stage.run()

    assert [attempt.fault for attempt in result.attempts] == ["turn.unreachable", None]


def test_the_deadline_cancels() -> None:
    stage = Stage([stall], policy=replace(FAST, deadline=0.05))
    result = stage.run()

    assert (result.end, result.fault) == ("cancelled", "turn.cancelled")
    assert stage.turn is not None
    assert stage.turn.run_sync() == result


@pytest.mark.parametrize("policy", [{"deadline": 0.1}, {}], ids=["deadline", "cancelled"])
def test_an_operation_that_is_left_uncertain_says_so(policy: dict[str, Any]) -> None:
    """Whether the host or the deadline ends the turn, and also while a query runs."""
    for save in (Acts([BROKEN]), Acts([hang])):
        stage = Stage(save=save, query=Acts([hang]), policy=replace(FAST, **policy), interrupted=not policy)
        (one,) = stage.run().operations

        assert (one.state, one.fault) == ("uncertain", "operation.uncertain")


def test_the_tools_own_time_limit_goes_first() -> None:
    stage = Stage()
    save = replace(stage.tools[0], run=Acts([hang]), timeout=0.02)
    result = Turn([save], Script([GOOD]), "turn", FAST, ledger=stage.ledger).run_sync()

    assert (result.end, states(stage)) == ("unresolved", ["unresolved"])


def test_a_query_has_a_time_limit_and_the_retry_that_it_opens_another() -> None:
    """The limit of the query does not cut what it leads to."""

    async def slow(*_: object) -> str:
        await anyio.sleep(0.15)
        return "saved"

    policy = replace(FAST, tool_timeout=0.1)
    stage = Stage()
    save = replace(stage.tools[0], run=Acts([BROKEN, slow]), query=Acts([hang, ABSENT]), timeout=5)
    result = Turn([save], Script([GOOD]), "turn", policy, ledger=stage.ledger).run_sync()

    assert (result.end, states(stage)) == ("settled", ["succeeded"])


def test_a_late_answer_that_came_before_the_cancellation_counts() -> None:
    """A tool that answers although it is cancelled has answered."""

    async def stubborn(*_: object) -> str:
        try:
            await hang()
        except anyio.get_cancelled_exc_class():
            return "saved"
        raise AssertionError

    stage = Stage(save=Acts([stubborn]), interrupted=True)

    assert stage.run().end in ("cancelled", "settled")
    assert states(stage) == ["succeeded"]


def test_no_more_operations_run_at_one_time_than_the_policy_allows() -> None:
    now, most = [0], [0]

    async def busy(*_: object) -> None:
        now[0] += 1
        most[0] = max(most[0], now[0])
        await anyio.sleep(0.01)
        now[0] -= 1

    calls = [("save", ARGUMENTS)] * 4
    for concurrency in (1, 3):
        most[0] = 0
        stage = Stage([says(*calls)], save=Acts([busy]), policy=replace(FAST, concurrency=concurrency))

        assert (stage.run().end, most[0]) == ("settled", concurrency)


# -- what cannot be used ------------------------------------------------------------------------------


def test_tools_that_cannot_run_are_refused_before_anything_is_asked_for() -> None:
    ledger = Shaky()
    declared = Toolset.from_openai(Stage().tools[0].to_openai() for _ in range(1))

    with pytest.raises(ToolLookupError):
        Turn(declared, Script([GOOD]), ledger=ledger)
    with pytest.raises(ToolsetError):
        Turn([*Stage().tools, *Stage().tools], Script([GOOD]), ledger=ledger)
    assert Turn(Toolset.of(Stage().tools), Script([TEXT]), ledger=ledger).run_sync().end == "answered"


@pytest.mark.parametrize("name", ["attempts", "queries", "tries", "concurrency"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "3"])
def test_a_count_is_an_integer_of_at_least_one(name: str, value: object) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy(**{name: value})  # type: ignore[arg-type]

    assert (raised.value.name, raised.value.value) == (name, value)


@pytest.mark.parametrize("name", ["tool_timeout", "lease", "stream_idle", "deadline", "pause"])
@pytest.mark.parametrize("value", [-1, True, "3", float("inf"), float("nan")])
def test_a_time_is_a_finite_number(name: str, value: object) -> None:
    with pytest.raises(PolicyError, match="finite"):
        Policy(**{name: value})  # type: ignore[arg-type]


def test_limits_that_may_be_none_or_zero() -> None:
    Policy(tool_timeout=None, stream_idle=None, deadline=None, pause=0)
    for wrong in ({"lease": None}, {"pause": None}, {"tool_timeout": 0}):
        with pytest.raises(PolicyError):
            Policy(**wrong)
