"""The whole specification, and its faults."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from wholecall_spec.join import Join, JoinRow
from wholecall_spec.table import Row, Table


@dataclass(frozen=True, slots=True)
class Fault:
    """The named reason why something was not accepted; `kind` says which recovery fits."""

    name: str
    kind: str
    about: str


@dataclass(frozen=True, slots=True)
class Spec:
    """The whole specification: every table, every join, every fault.

    Attributes:
        tables: One a machine, in the order of `MACHINES`.
        joins: In the order of their file.
        outcomes: Name and meaning of each outcome of a response.
        kinds: Name and meaning of each kind of fault.
        faults: In the order of their file.
    """

    tables: tuple[Table, ...]
    joins: tuple[Join, ...]
    outcomes: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]
    faults: tuple[Fault, ...]

    def table(self, machine: str) -> Table:
        """The table of this machine (KeyError: there is none)."""
        return {table.machine: table for table in self.tables}[machine]

    def join(self, name: str) -> Join:
        """The join of this name (KeyError: there is none)."""
        return {join.name: join for join in self.joins}[name]

    def fault(self, name: str) -> Fault:
        """The fault of this name (KeyError: there is none)."""
        return {fault.name: fault for fault in self.faults}[name]

    def find(self, row_id: str) -> tuple[Table, Row] | tuple[Join, JoinRow]:
        """The row of this id and the table or join it stands in (KeyError: there is none)."""
        for table in self.tables:
            for row in table.rows:
                if row.id == row_id:
                    return table, row
        for join in self.joins:
            for join_row in join.rows:
                if join_row.id == row_id:
                    return join, join_row
        raise KeyError(row_id)

    @property
    def digest(self) -> str:
        """Twelve hex digits that change with any word of the specification; a diagnostic names them."""
        return hashlib.blake2b(repr(self).encode(), digest_size=6).hexdigest()
