"""The reference page says what the tables say, and nothing else: it is rendered, read back and compared."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, get_args

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from wholecall.press.reference import UNSEEN, raised_by, reference_md
from wholecall_spec.join import Join
from wholecall_spec.load import load
from wholecall_spec.spec import Spec
from wholecall_spec.table import CARRIED, Evidence, Row, Table, evidence_of

SPEC = load()
TEXT = reference_md(SPEC)


# -- Reading the page back


class Cell(NamedTuple):
    """What a reader sees in a cell: its lines, and what is linked, bold, and an anchor in it."""

    lines: list[str]
    links: list[str]
    bold: list[str]
    anchors: list[str]


class Section(NamedTuple):
    """A heading, what stands under it in words, and its tables: the first row of each is the head."""

    title: str
    prose: list[str]
    tables: list[list[list[Cell]]]

    def table(self, *head: str) -> list[list[Cell]]:
        """The rows under the head that begins so."""
        (found,) = (rows for rows in self.tables if [c.lines[0] for c in rows[0][: len(head)]] == list(head))
        return found[1:]


def cell_of(inline: Token) -> Cell:
    cell = Cell([""], [], [], [])
    bold = False
    for token in inline.children or ():
        if token.type == "html_inline" and token.content == "<br>":
            cell.lines.append("")
        elif token.type == "html_inline":
            cell.anchors.extend(re.findall(r'^<a id="(.+)">$', token.content))
        elif token.type == "link_open":
            cell.links.append(str(token.attrs["href"]))
        elif token.type in ("strong_open", "strong_close"):
            bold = token.type == "strong_open"
        elif token.content:
            cell.lines[-1] += token.content
            cell.bold.extend([token.content] if bold else [])
    return cell


def sections_of(text: str) -> list[Section]:
    sections: list[Section] = []
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    for before, token in itertools.pairwise(tokens):
        if before.type == "heading_open":
            sections.append(Section(token.content, [], []))
        elif before.type == "paragraph_open":
            sections[-1].prose.append(token.content)
        elif token.type == "table_open":
            sections[-1].tables.append([])
        elif token.type == "tr_open":
            sections[-1].tables[-1].append([])
        elif before.type in ("th_open", "td_open"):
            sections[-1].tables[-1][-1].append(cell_of(token))
    return sections


SECTIONS = {section.title: section for section in sections_of(TEXT)}


each_machine = pytest.mark.parametrize("table", SPEC.tables, ids=lambda table: table.machine)


# -- Every row, where it belongs


def expected_row(row: Row, table: Table) -> list[Cell]:
    final = [row.next] if table.state(row.next).final else []
    fault_link = [f"#{row.fault}"] if row.fault not in ("", CARRIED) else []
    return [
        Cell([row.id], [], [], [row.id.lower()]),
        Cell([row.state], [], [], []),
        Cell([row.input, *filter(None, [row.when])], [], [], []),
        Cell([row.next, *filter(None, [row.effect])], [], final, []),
        Cell([row.fault], fault_link, [], []),
        Cell([row.why], [], [], []),
        Cell([row.source, row.evidence], [], [], []),
    ]


@each_machine
def test_every_row_of_a_machine_stands_in_its_table_in_order(table: Table) -> None:
    """With its anchor, why, source and evidence, and nothing of another row."""
    actual = SECTIONS[table.machine].table("id", "state")

    assert [expected_row(row, table) for row in table.rows] == actual


@pytest.mark.parametrize("join", SPEC.joins, ids=lambda join: join.name)
def test_every_row_of_a_join_stands_in_its_table_in_order(join: Join) -> None:
    """A column for each machine it reads and each fact; a cell left out is empty."""
    columns = [*(column.machine for column in join.reads), *(fact.name for fact in join.facts)]
    expected = [
        [
            row.id,
            *(dict(row.cells).get(column, "") for column in columns),
            *(row.gives, row.why, f"{row.source}\n{evidence_of(row.source)}"),
        ]
        for row in join.rows
    ]

    rows = SECTIONS[join.name].table("id", *columns, "gives", "why")

    assert expected == [["\n".join(cell.lines) for cell in row] for row in rows]
    assert [[row.id.lower()] for row in join.rows] == [row[0].anchors for row in rows]
    reads = SECTIONS[join.name].table("reads", "of")
    assert [(c.machine, c.of, ", ".join(c.states)) for c in join.reads] == [
        tuple(cell.lines[0] for cell in row) for row in reads
    ]


def guards_of(when: str) -> dict[str, bool]:
    return {word.strip("! "): "!" not in word for word in when.split("&") if word.strip()}


def matrix_of(table: Table) -> Iterator[tuple[str, str, Cell]]:
    """Every cell of the machine's matrices, with its state and input."""
    live = [state.name for state in table.live]
    for head, *rows in SECTIONS[table.machine].tables:
        states = [cell.lines[0] for cell in head[1:]]
        if set(states) <= set(live):
            yield from ((s, row[0].lines[0], c) for row in rows for s, c in zip(states, row[1:], strict=True))


@each_machine
def test_the_matrix_agrees_with_the_table(table: Table) -> None:
    """In every situation one line of the cell holds, and it names next, fault and the row behind it."""
    matrix = {(state, input): cell for state, input, cell in matrix_of(table)}
    met = set()

    for state, input, guards, row in table.cells():
        cell = matrix[state, input]
        met.add((state, input))
        said = [re.fullmatch(r"(?:(.+): )?(\w+)(?: (\S+))?", line) for line in cell.lines]
        (actual,) = (
            (found[2], found[3] or "", link)
            for found, link in zip(said, cell.links, strict=True)
            if found and all(guards[name] is truth for name, truth in guards_of(found[1] or "").items())
        )
        assert (row.next, row.fault, f"#{row.id.lower()}") == actual
        finals = [r.next for r in table.cell(state, input) if table.state(r.next).final]
        assert finals == cell.bold

    assert {cell.lines[0] for place, cell in matrix.items() if place not in met} <= {UNSEEN}
    assert len(list(matrix_of(table))) == len(matrix)


def test_a_machine_of_many_states_is_cut_into_matrices_of_what_each_part_sees() -> None:
    """So that no page is too narrow for them."""
    heads = [[cell.lines[0] for cell in rows[0]] for rows in SECTIONS["turn"].tables]
    second = SECTIONS["turn"].table("input", "authorizing", "dispatching", "reconciling")

    assert ["input", "requesting", "receiving", "checking"] in heads
    assert [row[0].lines[0] for row in second] == [
        *("authorized", "unauthorized", "all_known", "some_uncertain", "some_cancelled", "some_unresolved"),
        "cancel",
    ]


@each_machine
def test_a_machine_is_told_before_its_rows(table: Table) -> None:
    """Its question, its diagram, and the meaning of every state, input, guard and effect."""
    section = SECTIONS[table.machine]
    kinds = {(False, False): "live", (True, False): "final", (True, True): "final, good"}
    expected = [[s.name, kinds[s.final, s.good], s.about] for s in table.states]
    expected[0][1] = "live, initial"

    assert expected == [[cell.lines[0] for cell in row] for row in section.table("state")]
    assert section.prose[0].startswith(table.about)
    assert f"![{table.machine}](../diagrams/{table.machine}.svg)" == section.prose[1]
    inputs = section.table("input", "meaning")
    assert [(x.name, x.about) for x in table.inputs] == [(r[0].lines[0], r[1].lines[0]) for r in inputs]
    for head, named in (("guard", table.guards), ("effect", table.effects)):
        shown = section.table(head) if named else []
        assert list(named) == [(row[0].lines[0], row[1].lines[0]) for row in shown]


def test_an_input_tells_its_wire_texts_what_it_carries_and_which_join_gives_it() -> None:
    """Columns that only some machines have."""
    finish = SECTIONS["stream"].table("input", "meaning", "wire texts", "given by")
    syntax = SECTIONS["proposal"].table("input", "meaning", "carries", "given by")
    ended = SECTIONS["name"].table("input", "meaning", "given by")

    assert finish[3][2].lines == ["stop, tool_calls, function_call"]
    assert finish[1][3].links == ["#j01", "#j02", "#j03", "#j04"]
    assert syntax[7][2].links[:2] == ["#syntax.incomplete", "#syntax.invalid"]
    assert ended[-1][2].links == ["#j06"]


# -- Faults, outcomes, evidence


def test_every_fault_tells_its_kind_its_sentence_and_its_rows() -> None:
    """In the order of the file; the rows are links."""
    actual = SECTIONS["Faults"].table("fault", "kind")

    assert [(f.name, f.kind, f.about) for f in SPEC.faults] == [
        tuple(cell.lines[0] for cell in row[:3]) for row in actual
    ]
    assert [[fault.name] for fault in SPEC.faults] == [row[0].anchors for row in actual]
    for fault, row in zip(SPEC.faults, actual, strict=True):
        assert [f"#{row_id.lower()}" for row_id in raised_by(fault, SPEC)] == row[3].links != []


def test_a_fault_is_raised_where_it_is_named_or_brought_in() -> None:
    """A row that only passes on what another raised is not blamed."""
    by_hand = {"identity.conflict": ["I15", "I17"], "limit.depth": ["P08"], "business.denied": ["P12", "T21"]}

    assert by_hand == {name: raised_by(SPEC.fault(name), SPEC) for name in by_hand}


def test_outcomes_and_kinds_are_told_and_outcomes_name_their_rows() -> None:
    """Both come from the files of the specification, word by word."""
    outcomes = SECTIONS["Outcomes"].table("outcome")
    kinds = SECTIONS["Faults"].table("kind")

    assert list(SPEC.outcomes) == [(row[0].lines[0], row[1].lines[0]) for row in outcomes]
    assert list(SPEC.kinds) == [(row[0].lines[0], row[1].lines[0]) for row in kinds]
    assert [row[2].links for row in outcomes][:3] == [["#j19"], ["#j18"], ["#j15", "#j20"]]


def test_each_level_of_evidence_is_explained_once() -> None:
    """And a row from a public report is not passed off as another."""
    first = replace(SPEC.tables[0].rows[0], source="a report in public, 2026")
    tables = (replace(SPEC.tables[0], rows=(first, *SPEC.tables[0].rows[1:])), *SPEC.tables[1:])

    (routing,) = (s for s in sections_of(reference_md(replace(SPEC, tables=tables))) if s.title == "routing")

    assert list(get_args(Evidence)) == [r[0].lines[0] for r in SECTIONS["How to read"].table("evidence")]
    assert routing.table("id")[0][-1].lines == ["a report in public, 2026", "reconstructed"]


# -- Markdown


HOSTILE = r"a | b \| c || `d|e` *f* _g_ h_i [j](#k) <b>l</b> &amp; ~~m~~ \ ![n] | "


def hostile(spec: Spec) -> Spec:
    table, join, fault = spec.tables[0], spec.joins[0], spec.faults[0]
    rows = (replace(table.rows[0], why=HOSTILE, source=HOSTILE), *table.rows[1:])
    states = (replace(table.states[0], about=HOSTILE), *table.states[1:])
    return replace(
        spec,
        tables=(replace(table, rows=rows, states=states), *spec.tables[1:]),
        joins=(replace(join, rows=(replace(join.rows[0], why=HOSTILE), *join.rows[1:])), *spec.joins[1:]),
        faults=(replace(fault, about=HOSTILE), *spec.faults[1:]),
    )


def test_no_text_of_a_table_is_read_as_markdown() -> None:
    """Pipes, stars, brackets and tags come out as they were written."""
    sections = {section.title: section for section in sections_of(reference_md(hostile(SPEC)))}

    actual = [
        sections["routing"].table("id")[0][5].lines,
        sections["routing"].table("id")[0][6].lines[:1],
        sections["routing"].table("state")[0][2].lines,
        sections["field_refusal"].table("id")[0][6].lines,
        sections["Faults"].table("fault")[0][2].lines,
    ]

    assert [[HOSTILE.strip()]] * 5 == actual


def test_a_column_that_says_nothing_is_left_out() -> None:
    """A stream has no guards, so it has no table of them; a name has no wire texts."""
    heads = [[cell.lines[0] for cell in rows[0]] for rows in SECTIONS["stream"].tables]

    assert "guard" not in [head[0] for head in heads]
    assert "|  |" not in TEXT.splitlines()
    assert "wire texts" not in [cell.lines[0] for rows in SECTIONS["name"].tables for cell in rows[0]]
