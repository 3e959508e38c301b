"""
Protects Arrow data by an opened plan. All or nothing: a table is given only when every column is done. Dictionaries and
views come out as plain columns of the same Iceberg type.
"""

from __future__ import annotations

import decimal
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pyarrow as pa

from .ff1 import ff1_texts
from .keys import binding_of
from .masks import mask_of
from .open_plan import OpenPlan
from .plan import Rule
from .refusal import TransformRefused, refusing
from .seal import Seal, is_protected
from .subjects import subject_ref
from .tokens import long_tokens, text_tokens

Batch = TypeVar("Batch", pa.Table, pa.RecordBatch)

_FIELD_ID = b"PARQUET:field_id"
_DECIMAL = re.compile(r"decimal\(([0-9]+),\s*([0-9]+)\)")
_FIXED = re.compile(r"fixed\[([0-9]+)\]")
_INTEGERS = {"int": pa.int32(), "date": pa.int32(), "long": pa.int64()}


def protect(data: Batch, plan: OpenPlan, *, now: float | None = None) -> Batch:
    """
    Protects a table or a record batch.

    `now` is the writer's clock in seconds, for tests. Returns data of the same Iceberg schema; columns to keep are the
    ones given. Raises TransformRefused; nothing is done then.
    """
    plan.check_time(time.time() if now is None else now)
    rules = _rules_of(plan, data.schema)
    subjects = _subjects_of(plan, rules, data)
    columns = [
        refusing(
            lambda rule=rule, column=column: _protect_column(plan, rule, column, subjects.get(rule.name)),
            TransformRefused("failed", f"{rule.action} failed", rule.name),
            rule.name,
        )
        for rule, column in zip(rules, data.columns)
    ]
    fields = [
        field if rule.action == "keep" else field.with_type(column.type)
        for field, rule, column in zip(data.schema, rules, columns)
    ]
    return type(data).from_arrays(columns, schema=pa.schema(fields, metadata=data.schema.metadata))


def protect_batches(reader: pa.RecordBatchReader, plan: OpenPlan) -> Iterator[pa.RecordBatch]:
    """Protects a stream, batch by batch. A refusal ends it: a writer that commits at its end commits nothing."""
    for batch in reader:
        yield protect(batch, plan)


def _rules_of(plan: OpenPlan, schema: pa.Schema) -> list[Rule]:
    by_name = {rule.name: rule for rule in plan.plan.columns}
    for rule in plan.plan.columns:
        if rule.required and rule.name not in schema.names:
            raise TransformRefused("missing_column", "it is required, and the batch does not have it", rule.name)
    if len(set(schema.names)) != len(schema.names):
        raise TransformRefused("wrong_schema", "two columns of the batch have one name")
    rules = []
    for field in schema:
        rule = by_name.get(field.name)
        if rule is None:
            raise TransformRefused("unknown_column", "the plan does not know it", field.name)
        field_id = (field.metadata or {}).get(_FIELD_ID)
        if field_id is not None and field_id.decode("ascii", "replace") != str(rule.field_id):
            raise TransformRefused("wrong_schema", "its field id is not that of the plan", rule.name)
        if rule.action != "keep" and not _fits(rule.type, _plain_type(field.type)):
            raise TransformRefused("wrong_type", f"its Arrow type is not that of {rule.type}", rule.name)
        rules.append(rule)
    return rules


def _plain_type(arrow: pa.DataType) -> pa.DataType:
    """The type of the column that comes out."""
    if pa.types.is_dictionary(arrow):
        return _plain_type(arrow.value_type)
    if pa.types.is_string_view(arrow):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(arrow) else arrow


def _storage(arrow: pa.DataType) -> pa.DataType:
    return arrow.storage_type if isinstance(arrow, pa.BaseExtensionType) and arrow.extension_name == "arrow.uuid" else arrow


def _fits(kind: str, arrow: pa.DataType) -> bool:
    decimal, fixed = _DECIMAL.fullmatch(kind), _FIXED.fullmatch(kind)
    if decimal is not None:
        size = (int(decimal[1]), int(decimal[2]))
        return pa.types.is_decimal(arrow) and (arrow.precision, arrow.scale) == size
    if kind == "uuid" or fixed is not None:
        return _storage(arrow) == pa.binary(16 if fixed is None else int(fixed[1]))
    if kind.startswith("timestamp"):
        unit = "ns" if kind.endswith("_ns") else "us"
        return (
            pa.types.is_timestamp(arrow)
            and arrow.unit == unit
            and (arrow.tz is not None) == kind.startswith("timestamptz")
        )
    return arrow in _ARROW_TYPES[kind]


_ARROW_TYPES: dict[str, tuple[pa.DataType, ...]] = {
    "boolean": (pa.bool_(),),
    "int": (pa.int32(),),
    "long": (pa.int64(),),
    "float": (pa.float32(),),
    "double": (pa.float64(),),
    "string": (pa.string(), pa.large_string()),
    "binary": (pa.binary(), pa.large_binary()),
    "date": (pa.date32(),),
    "time": (pa.time64("us"),),
}


def _protect_column(plan: OpenPlan, rule: Rule, column: Any, refs: list[str | None] | None) -> Any:
    if rule.action == "keep":
        return column
    if rule.required and column.null_count > 0:
        raise TransformRefused("null_in_required", "a value is NULL, and the column is required")
    arrow = _plain_type(column.type)
    _check_unicode(rule, column)
    if rule.action == "redact":
        return _fixed_values(rule, arrow, len(column)) if rule.required else pa.nulls(len(column), arrow)
    if rule.action == "mask" and rule.mask == "replace-with-null":
        return pa.nulls(len(column), arrow)
    if rule.action == "mask" and rule.mask == "mask-to-fixed-value":
        return _fixed_values(rule, arrow, len(column))
    if rule.subject_key_of is not None:
        return _from_values(arrow, _protect_by_subject(plan, rule, _values(rule, column), refs or []))
    return _from_values(arrow, _protect_values(plan, rule, _values(rule, column)))


def _subjects_of(plan: OpenPlan, rules: list[Rule], data: Any) -> dict[str, list[str | None]]:
    """For each column with keys of subjects, the reference of each row's subject. Asks for the keys of all of them."""
    found: dict[str, list[str | None]] = {}
    wanted: set[tuple[str, str]] = set()
    for rule in rules:
        if rule.subject_key_of is None:
            continue
        texts = _subject_texts(plan, rule, data)
        key = plan.key_of(rule)
        refs = _each(lambda text, key=key: subject_ref(key, text), texts)
        found[rule.name] = refs
        wanted |= {(rule.subject_kind or "", ref) for ref in refs if ref is not None}
    if wanted:
        refused = TransformRefused("subject_keys", "the keys of subjects cannot be had")
        refusing(lambda: plan.subject_keys.ensure(plan.plan, sorted(wanted)), refused)
    return found


def _subject_texts(plan: OpenPlan, rule: Rule, data: Any) -> list[str | None]:
    of = rule.subject_key_of
    if of not in data.schema.names:
        raise TransformRefused("no_subject", f"the batch has no column {of}, which names its subjects", rule.name)
    subject = next(each for each in plan.plan.columns if each.name == of)
    column = data.column(of)
    if not _fits(subject.type, _plain_type(column.type)):
        raise TransformRefused("wrong_type", f"its Arrow type is not that of {subject.type}", subject.name)
    refusing(
        lambda: _check_unicode(subject, column), TransformRefused("failed", "it cannot be read", subject.name), subject.name
    )
    return [None if value is None else str(value) for value in _values(subject, column)]


def _protect_by_subject(plan: OpenPlan, rule: Rule, values: list[Any], refs: list[str | None]) -> list[Any]:
    if rule.type == "string" and any(map(is_protected, filter(None, values))):
        raise TransformRefused("already_protected", "a value is a token or ciphertext already")
    rows: dict[str, list[int]] = {}
    for index, (value, ref) in enumerate(zip(values, refs)):
        if value is None:
            continue
        if ref is None:
            raise TransformRefused("no_subject", f"a row with a value has none in {rule.subject_key_of}")
        rows.setdefault(ref, []).append(index)
    out: list[Any] = [None] * len(values)
    tenant, scope, kid = plan.plan.tenant, rule.scope or "", rule.kid or ""
    # Every key is there before the first value is sealed.
    keyed = [(plan.subject_keys.key_of(rule, ref), members) for ref, members in rows.items()]
    for key, members in keyed:
        seal = Seal(rule.method or "", rule.type, tenant, scope, kid, key.key, key.sid)
        for index, sealed in zip(members, seal.seal([values[index] for index in members])):
            out[index] = sealed
    return out


def _check_unicode(rule: Rule, column: Any) -> None:
    """Arrow takes any bytes for text."""
    if rule.type == "string":
        broken = TransformRefused("wrong_type", "a value is not well-formed UTF-8")
        refusing(lambda: column.validate(full=True), broken)


def _values(rule: Rule, column: Any) -> list[Any]:
    """Plain values: dates and timestamps as their integers."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(_plain_type(column.type))
    if rule.type.startswith("timestamp") or rule.type == "date":
        column = column.cast(_INTEGERS.get(rule.type, pa.int64()))
    return column.to_pylist()


def _from_values(arrow: pa.DataType, values: list[Any]) -> pa.Array:
    if pa.types.is_timestamp(arrow):
        return pa.array(values, pa.int64()).cast(arrow)
    if pa.types.is_date32(arrow):
        return pa.array(values, pa.int32()).cast(arrow)
    return pa.array(values, arrow)


def _protect_values(plan: OpenPlan, rule: Rule, values: list[Any]) -> list[Any]:
    if rule.action == "mask":
        return _each(mask_of(rule.mask or "", rule.type), values)
    key = plan.key_of(rule)
    if rule.type == "string" and any(map(is_protected, filter(None, values))):
        raise TransformRefused("already_protected", "a value is a token or ciphertext already")
    if rule.method == "hmac":
        return _each(text_tokens(key) if rule.type == "string" else long_tokens(key), values)
    tenant, scope, kid = plan.plan.tenant, rule.scope or "", rule.kid or ""
    if rule.method == "ff1":
        tweak = binding_of(tenant, scope, kid).encode()
        return _distinct(lambda texts: ff1_texts(key, rule.alphabet or "", tweak, texts), values)
    seal = Seal(rule.method or "", rule.type, tenant, scope, kid, key)
    return _distinct(seal.seal, values) if rule.method == "siv" else _there(seal.seal, values)


def _each(function: Callable[[Any], Any], values: list[Any]) -> list[Any]:
    """Applies a function once to each distinct value."""
    done: dict[Any, Any] = {None: None}
    for value in values:
        if value not in done:
            done[value] = function(value)
    return [done[value] for value in values]


def _distinct(function: Callable[[list[Any]], list[Any]], values: list[Any]) -> list[Any]:
    """Applies a function of a list to the distinct values."""
    distinct = [value for value in dict.fromkeys(values) if value is not None]
    done = dict(zip(distinct, function(distinct)))
    return [done.get(value) for value in values]


def _there(function: Callable[[list[Any]], list[Any]], values: list[Any]) -> list[Any]:
    """Applies a function of a list to every value that is not NULL."""
    done = iter(function([value for value in values if value is not None]))
    return [None if value is None else next(done) for value in values]


def _fixed_values(rule: Rule, arrow: pa.DataType, count: int) -> Any:
    """The fixed value of `mask-to-fixed-value`: zero in all types but text."""
    storage = _storage(arrow)
    if rule.type == "string":
        values: Any = pa.repeat(pa.scalar("XXXXXXXX", storage), count)
    elif pa.types.is_fixed_size_binary(storage):
        values = pa.repeat(pa.scalar(bytes(storage.byte_width), storage), count)
    elif rule.type == "binary":
        values = pa.repeat(pa.scalar(b"", storage), count)
    elif rule.type == "boolean":
        values = pa.repeat(pa.scalar(False), count)
    elif pa.types.is_decimal(storage):
        values = pa.repeat(pa.scalar(decimal.Decimal(0), storage), count)
    else:
        values = pa.repeat(pa.scalar(0, _INTEGERS.get(rule.type, pa.int64())), count).cast(storage)
    return values if storage is arrow else pa.ExtensionArray.from_storage(arrow, values)
