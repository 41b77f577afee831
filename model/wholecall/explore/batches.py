"""What becomes of a response that was read whole: its fields end, then the proposal takes its stages."""

from __future__ import annotations

from wholecall.explore.fields import FIELDS
from wholecall.explore.machines import Machines, Move, fault_of
from wholecall.explore.responses import Call, Response, announced_by
from wholecall.explore.scope import NAME
from wholecall.syntax import read_syntax


class Batches:
    """Judges the calls of a response.

    Args:
        machines: Run the tables.
    """

    def __init__(self, machines: Machines) -> None:
        self.machines = machines

    def judge(self, response: Response, proposal: str, fault: str) -> Move | None:
        """The next move of a response that was read whole, or None where the proposal needs the turn.

        Args:
            response: What was read.
            proposal: Where the proposal is; empty before it was begun.
            fault: The fault that travels.

        Returns:
            A move whose `after` is the response and the proposal.
        """
        if not proposal:
            return self._end_fields(response)
        calls = [call for choice in response for call in choice.calls]
        ask = {
            "gathered": self._gathered,
            "filled": self._filled,
            "distinct": self._distinct,
            "parsed": self._parsed,
        }.get(proposal)
        if ask is None:
            return None
        input, found = ask(response, calls)
        step = self.machines.step("proposal", proposal, input)
        after = (response, step.state)
        return Move((input,), (step.row,), after, fault_of(step, found or fault))

    def _end_fields(self, response: Response) -> Move:
        streams = frozenset(choice.stream for choice in response)
        input = self.machines.decide("fields_end", stream=streams)
        rows: list[str] = []
        faults: list[str] = []
        ended = []
        for choice in response:
            step = self.machines.step("routing", choice.routing, input)
            rows.append(step.row)
            ended.append(choice._replace(routing=step.state))
        for at, choice in enumerate(ended):
            calls = []
            for call in choice.calls:
                for machine in FIELDS:
                    step = self.machines.step(machine, getattr(call, machine), input)
                    rows.append(step.row)
                    faults += [step.fault] if step.fault else []
                    call = call._replace(**{machine: step.state})
                calls.append(call)
            ended[at] = choice._replace(calls=tuple(calls))
        after = (tuple(ended), self.machines.initial("proposal"))
        return Move((input,), tuple(rows), after, (faults or [""])[0])

    def _gathered(self, response: Response, calls: list[Call]) -> tuple[str, str]:
        facts = {
            "many_choices": sum(bool(choice.calls) for choice in response) > 1,
            "announced": any(choice.finish in announced_by(self.machines.spec) for choice in response),
        }
        seen = {
            machine: frozenset(getattr(call, machine) for call in calls) for machine in ("identity", "name")
        }
        return self.machines.decide("gathered", facts, **seen), ""

    def _filled(self, _: Response, calls: list[Call]) -> tuple[str, str]:
        distinct = len({call.id for call in calls}) == len(calls)
        return ("distinct_ids" if distinct else "duplicate_id"), ""

    def _distinct(self, _: Response, calls: list[Call]) -> tuple[str, str]:
        faults = list(filter(None, (read_syntax(call.text).fault for call in calls)))
        return ("bad_syntax", faults[0]) if faults else ("syntax_ok", "")

    def _parsed(self, _: Response, calls: list[Call]) -> tuple[str, str]:
        faults = list(filter(None, map(_misfit, calls)))
        return ("bad_structure", faults[0]) if faults else ("structure_ok", "")


def sound(response: Response) -> bool:
    """Whether every call is one that may run, as nobody but the sender knows before the checks."""
    calls = [call for choice in response for call in choice.calls]
    ids = {call.id for call in calls}
    return (
        len(ids) == len(calls)
        and "" not in ids
        and not any(read_syntax(call.text).fault or _misfit(call) for call in calls)
    )


def _misfit(call: Call) -> str:
    if not isinstance(read_syntax(call.text).value, dict):
        return "structure.not_object"
    return "" if call.named == NAME else "structure.unknown_tool"
