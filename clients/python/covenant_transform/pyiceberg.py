"""Writes to PyIceberg tables what a plan protected. There is no way through here that forgets the plan."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyiceberg.table import Table

from .fetch import fetch_plan
from .open_plan import OpenPlan
from .protect import protect
from .refusal import TransformRefused


def protected_append(table: Table, data: pa.Table, *, plan: OpenPlan | None = None, **options: Any) -> OpenPlan:
    """
    Appends a table's rows, protected, and shows the plan in the snapshot's summary.

    Without `plan`, one is fetched with COVENANT_URL and COVENANT_SESSION. `options` are those of `Table.append`.
    Returns the plan. Raises TransformRefused before anything is written, and what PyIceberg raises.
    """
    plan, rows, options = _prepared(table, data, plan, options)
    table.append(rows, **options)
    return plan


def protected_overwrite(table: Table, data: pa.Table, *, plan: OpenPlan | None = None, **options: Any) -> OpenPlan:
    """Overwrites a table with protected rows. As protected_append, with the options of `Table.overwrite`."""
    plan, rows, options = _prepared(table, data, plan, options)
    table.overwrite(rows, **options)
    return plan


def _prepared(
    table: Table, data: pa.Table, plan: OpenPlan | None, options: dict[str, Any]
) -> tuple[OpenPlan, pa.Table, dict[str, Any]]:
    metadata = table.metadata
    if plan is None:
        plan = fetch_plan(table.name(), table_uuid=str(metadata.table_uuid), schema_id=metadata.current_schema_id)
    elif plan.plan.table_uuid != str(metadata.table_uuid):
        raise TransformRefused("wrong_table", "the plan is of another table")
    elif plan.plan.schema_id != metadata.current_schema_id:
        raise TransformRefused("wrong_schema", "the plan is of another schema of the table")
    summary = {**options.pop("snapshot_properties", {}), **plan.summary}
    return plan, protect(data, plan), {**options, "snapshot_properties": summary}
