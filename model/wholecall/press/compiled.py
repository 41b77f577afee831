"""Prints the specification as the Python that the runtime imports."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass

from wholecall_spec.spec import Spec

_DOC = '''"""The specification as the runtime imports it: tables, joins and faults, in file order."""

from wholecall_spec.join import Column, Fact, Join, JoinRow
from wholecall_spec.spec import Fault, Spec
from wholecall_spec.table import Input, Row, State, Table
'''


def compiled_py(spec: Spec) -> str:
    """The text of `wholecall_generated/tables.py`, before it is formatted."""
    names = [f"{table.machine.upper()}" for table in spec.tables]
    joins = [f"{join.name.upper()}_JOIN" for join in spec.joins]
    parts = [_DOC]
    parts += [f"{n} = {_expression(table)}\n" for n, table in zip(names, spec.tables, strict=True)]
    parts += [f"{n} = {_expression(join)}\n" for n, join in zip(joins, spec.joins, strict=True)]
    parts.append(
        "SPEC = Spec("
        f"tables=({', '.join(names)}), joins=({', '.join(joins)}), "
        f"outcomes={_expression(spec.outcomes)}, kinds={_expression(spec.kinds)}, "
        f"faults={_expression(spec.faults)})\n"
    )
    return "\n".join(parts)


def _expression(value: object) -> str:
    """Python that makes this value; fields with their default are left out, as a person would."""
    if isinstance(value, tuple):
        items = ", ".join(map(_expression, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if not is_dataclass(value):
        return repr(value)
    given = [(field, getattr(value, field.name)) for field in fields(value)]
    arguments = (
        _expression(item) if field.default is MISSING else f"{field.name}={_expression(item)}"
        for field, item in given
        if item != field.default
    )
    return f"{type(value).__name__}({', '.join(arguments)})"
