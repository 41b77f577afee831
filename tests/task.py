"""The task of article 1 §4: read a page, save a report, finish. Its world, its model's words, and its agent.

Synthetic: the words are scripted, to show what a stream's shape does. All else is real: HTTP on loopback, the
openai client, the ledger on disk, the files. `make demo` shows it, and tests hold it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import openai
from upstream import Step, answer, calls, chunk

from wholecall import UNKNOWN, Applied, Context, Ledger, Policy, Result, Tool, Turn, openai_request
from wholecall.turn.observe import Observer

EVIDENCE: Final = "synthetic"
ASKED: Final = "Read page 1 and save a report of it."
PAGE: Final = "Board 7: the clearance check passed, 12 of 12."
REPORT: Final = "# Board 7\n\nClearance ≥ 0.2 mm: “passed”, 12 of 12. ✅\n"
FINISHED: Final = "The report is saved."

READ: Final = ('{ "page":', "1}")
"""The arguments as the model wrote them, in pieces. They go back verbatim, so an odd space must survive."""
SAVE: Final = json.dumps({"text": REPORT}, ensure_ascii=False)

Fragment = Mapping[str, object]

# -- the world ---------------------------------------------------------------------------------------


class Desk:
    """What the tools work on: a page, and a folder for the report.

    Args:
        folder: An empty folder.
        told: Is told of each thing that was done to the world.

    Attributes:
        report: Where the report is, once it is saved.
        runs: The name of each tool that ran, in order.
        queries: How often it was asked whether a report was saved.
    """

    def __init__(self, folder: Path, told: Callable[[str], object] = lambda _: None) -> None:
        self.folder = folder
        self.report = folder / "report.md"
        self.told = told
        self.runs: list[str] = []
        self.queries = 0

    def read_page(self, arguments: dict[str, Any], _: Context) -> str:
        self.runs.append("read_page")
        self.told(f"page {arguments['page']} was read")
        return PAGE

    def save_report(self, arguments: dict[str, Any], context: Context) -> str:
        """Write under the key, then show it under its name: the effect happens in one step, or not at all."""
        self.runs.append("save_report")
        kept = self.folder / context.key
        kept.write_text(arguments["text"], encoding="utf-8")
        os.link(kept, self.report)
        self.told(f"{self.report.name} was written, {self.report.stat().st_size} bytes")
        return self.report.name

    def find_report(self, key: str) -> object:
        """Whether the report is that of this key. A write may still be under way, so never `ABSENT`."""
        self.queries += 1
        kept = self.folder / key
        saved = kept.exists() and self.report.exists() and kept.samefile(self.report)
        return Applied(self.report.name) if saved else UNKNOWN

    @property
    def tools(self) -> list[Tool]:
        return [
            Tool("read_page", takes(page="integer"), self.read_page, effect="none"),
            Tool("save_report", takes(text="string"), self.save_report, query=self.find_report),
        ]


def takes(**required: str) -> dict[str, object]:
    """The schema of arguments that are all required: `takes(page="integer")`."""
    properties = {name: {"type": type_} for name, type_ in required.items()}
    return {"type": "object", "properties": properties, "required": [*required]}


# -- the model's words -------------------------------------------------------------------------------


def pieces(index: int, id: str, name: str, *arguments: str, again: Fragment | None = None) -> list[Fragment]:
    """The fragments of one call: one that names it, then its argument text, piece by piece.

    Args:
        index: The call's index.
        id: Its id.
        name: The tool's name.
        *arguments: The argument text, cut anywhere.
        again: What the later pieces say of the id: nothing, or `{"id": None}`.
    """
    first = {"index": index, "id": id, "function": {"name": name, "arguments": ""}}
    rest = [{"index": index, **(again or {}), "function": {"arguments": text}} for text in arguments]
    return [first, *rest]


def says(*fragments: Fragment) -> list[Step]:
    """A response of calls, a frame for each fragment, with its end."""
    return calls([chunk({"tool_calls": [fragment]}) for fragment in fragments])


def reads(again: Fragment | None = None) -> list[Step]:
    return says(*pieces(0, "call-read", "read_page", *READ, again=again))


def saves(again: Fragment | None = None) -> list[Step]:
    cut = [SAVE[at : at + 20] for at in range(0, len(SAVE), 20)]  # also within an escape
    return says(*pieces(0, "call-save", "save_report", *cut, again=again))


def finishes() -> list[Step]:
    return answer("The report ", "is saved.")


def script(again: Fragment | None = None) -> list[Sequence[Step]]:
    """The three responses of the task; `again` is what each later piece says of its id."""
    return [reads(again), saves(again), finishes()]


# -- the agent ---------------------------------------------------------------------------------------

POLICY: Final = Policy(attempts=3, pause=0.01)


@dataclass
class Done:
    """What came of the task.

    Attributes:
        results: What each turn came to.
        history: Every message, as the next request would bear them.
    """

    results: list[Result] = field(default_factory=list)
    history: list[Any] = field(default_factory=lambda: [{"role": "user", "content": ASKED}])

    @property
    def call_ids(self) -> list[str]:
        return [one.call_id for result in self.results for one in result.operations]


async def do_task(
    client: openai.AsyncOpenAI,
    desk: Desk,
    ledger: Ledger,
    *,
    policy: Policy = POLICY,
    observe: Observer | None = None,
    on_frame: Callable[[object], object] | None = None,
) -> Done:
    """The whole agent: one turn after another, as long as they settle."""
    done = Done()
    while not done.results or done.results[-1].end == "settled":
        turn = Turn(
            desk.tools,
            openai_request(client, messages=done.history, tools=desk.tools, model="test-model"),
            id=f"task/step-{len(done.results) + 1}",
            policy=policy,
            ledger=ledger,
            observe=observe,
            on_frame=on_frame,
        )
        done.results.append(await turn.run())
        done.history += done.results[-1].messages
    return done
