"""How fast streams are read: wholecall beside the floor and its peers (`make bench`).

One process. Each round reads every stream in both forms by every contender in turn, so that whatever else the
machine does meanwhile meets them all; a ratio is the median of the ratios within the rounds. The clock is the
CPU time of this process. What is read is made before the clock starts, anew for each run, and hidden from the
garbage collector, which stays on. Right before, each contender reads ten fragments, so that its code is at
hand. What a run gives is compared with the text that was sent. A contender that has used up its time on a
stream is not run there again: `runs` says how often it was.

What each contender does and leaves undone is told in `contenders`, what is read in `streams`. A figure is a
figure: a target that is missed is printed as missed, and the exit status is 0.
"""

from __future__ import annotations

import argparse
import gc
import platform
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from statistics import median
from typing import Final, NamedTuple

import importing
from contenders import BYTES, CLIENT, DICTS, FLOOR, OURS, Contender
from streams import Stream, make_stream

ROUNDS: Final = 7
FEW: Final = 5
PATIENCE: Final = 2.0
"""Seconds that a contender may use on one stream before it is not run there again."""

WARM: Final = make_stream(10)
"""What each contender reads right before the clock starts, so that its code is at hand."""

FORMS: Final = {"dicts": DICTS, "bytes": BYTES}
PACKAGES: Final = ("msgspec", "orjson", "openai", "pydantic-ai-slim")
LINE: Final = "{:<6} {:<16} {:<17} {:>4} {:>11} {:>9} {:>9} {:>12}"


class Entry(NamedTuple):
    """One line of the table: which form of which stream, and who reads it."""

    form: str
    stream: str
    contender: str


class Times:
    """What was measured: of each entry the seconds of its runs, by the pass in which they were."""

    def __init__(self) -> None:
        self.seconds: defaultdict[Entry, dict[int, float]] = defaultdict(dict)

    def ratio(self, entry: Entry, to: Entry) -> float:
        """How many times as long as the other it takes: the median over the passes that both were in.

        Where they share but few passes, one of them decides nothing: it is the ratio of their medians.
        """
        ours, theirs = self.seconds[entry], self.seconds[to]
        both = ours.keys() & theirs.keys()
        if len(both) < FEW:
            return median(ours.values()) / median(theirs.values())
        return median(ours[at] / theirs[at] for at in both)


def measure(streams: Sequence[Stream], rounds: int) -> Times:
    """Let each contender read each stream, so many rounds; a short stream several times in each."""
    times = Times()
    longest = max(stream.fragments for stream in streams)
    for at in range(rounds):
        print(f"\rround {at + 1} of {rounds}", end="", file=sys.stderr, flush=True)
        for stream in streams:
            repeats = min(5, longest // stream.fragments)
            for again in range(at * repeats, (at + 1) * repeats):
                for form, contenders in FORMS.items():
                    for contender in contenders:
                        seconds = times.seconds[Entry(form, stream.name, contender.name)]
                        if sum(seconds.values()) < PATIENCE:
                            seconds[again] = time_one(contender, stream)
    print(file=sys.stderr)
    return times


def time_one(contender: Contender, stream: Stream) -> float:
    """Seconds of one run; what it gives is checked."""
    warm, what = contender.prepare(WARM), contender.prepare(stream)
    gc.collect()
    gc.freeze()
    contender.read(warm)
    start = time.process_time()
    texts = contender.read(what)
    seconds = time.process_time() - start
    gc.unfreeze()
    if texts is not None and texts != stream.expected:
        raise SystemExit(f"{contender.name} did not give the text of {stream.name}")
    return seconds


def table(times: Times, streams: Iterable[Stream]) -> Iterator[str]:
    """The lines of the table."""
    yield LINE.format("form", "stream", "contender", "runs", "us/fragment", "least", "x floor", "x wholecall")
    for stream in streams:
        for form, contenders in FORMS.items():
            yield ""
            floor, ours, *_ = entries = [Entry(form, stream.name, each.name) for each in contenders]
            for entry in entries:
                runs = [1e6 * seconds / stream.fragments for seconds in times.seconds[entry].values()]
                figures = (median(runs), min(runs), times.ratio(entry, floor), times.ratio(entry, ours))
                yield LINE.format(*entry, len(runs), *(f"{figure:.2f}" for figure in figures))


class Target(NamedTuple):
    """What was promised: the figure of each stream, and how high or low each must be."""

    what: str
    figures: Sequence[float]
    most: float = float("inf")
    least: float = 0.0

    def __str__(self) -> str:
        met = self.least <= min(self.figures) and max(self.figures) <= self.most
        bound = f">= {self.least:g}" if self.least else f"<= {self.most:g}"
        shown = "".join(f"{figure:8.2f}" for figure in self.figures)
        return f"{self.what:<38}{shown:<34} {bound:<7} {'met' if met else 'MISSED'}"


def targets(times: Times, streams: Sequence[Stream]) -> Iterator[Target]:
    """Each target with its figures."""

    def ratios(form: str, contender: str, to: str) -> list[float]:
        names = [stream.name for stream in streams]
        return [times.ratio(Entry(form, name, contender), Entry(form, name, to)) for name in names]

    yield Target("bytes: wholecall / floor", ratios("bytes", OURS, FLOOR), most=1.0)
    yield Target("bytes: openai client / wholecall", ratios("bytes", CLIENT, OURS), least=100)
    yield Target("dicts: wholecall / floor", ratios("dicts", OURS, FLOOR), most=2.5)
    for peer in DICTS[3:]:
        yield Target(f"dicts: {peer.name} / wholecall", ratios("dicts", peer.name, OURS), least=1.0)


def growth(times: Times, shorter: Stream, longer: Stream) -> Target:
    """How much longer a stream takes that has five times the fragments; figures of dicts and of bytes."""
    figures = [times.ratio(Entry(form, longer.name, OURS), Entry(form, shorter.name, OURS)) for form in FORMS]
    return Target("wholecall: 50k / 10k (dicts, bytes)", figures, most=5.3)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the table, the targets and what importing costs."""
    parser = argparse.ArgumentParser(description="How fast streams are read, beside the floor and the peers.")
    parser.add_argument("--quick", action="store_true", help="short streams only, and fewer rounds")
    quick = parser.parse_args(argv).quick
    print(f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES), sep=", ")
    if quick:
        streams = [make_stream(1_000), make_stream(100, calls=10)]
    else:
        streams = [make_stream(size) for size in (1_000, 10_000, 50_000)] + [make_stream(200, calls=50)]
    times = measure(streams, 3 if quick else ROUNDS)
    print("\n".join(table(times, streams)))
    print(f"\nTargets, with the figures of {', '.join(stream.name for stream in streams)}:\n")
    print("\n".join(map(str, targets(times, streams))))
    if not quick:
        print(growth(times, streams[1], streams[2]))
    print()
    importing.main()


if __name__ == "__main__":
    main()
