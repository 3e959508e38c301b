/**
 * Protects Arrow tables by an opened plan: works on offsets and buffers, a chunk at a time. All or nothing: a table is
 * given only when every batch and column is done. Dictionaries come out as plain columns of the same Iceberg type.
 */

import {
  Binary,
  BinaryView,
  type Data,
  DataType,
  Field,
  type FixedSizeBinary,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimeUnit,
  Utf8,
  util,
  Vector,
} from 'apache-arrow'
import { applyMask, type MaskValue } from '../core/mask.ts'
import { type BytesColumn, bytesAt, columnOfBytes, isValid } from './bytes-column.ts'
import { checkTime, type OpenPlan } from './open-plan.ts'
import { type ColumnRule, isSubjectRule, type KeyedRule } from './plan.ts'
import { protectBytes } from './protect-bytes.ts'
import { protectBySubject, type SubjectTexts } from './protect-subjects.ts'
import { asRefusal, redacted, rulesOf } from './protect-values.ts'
import { TransformRefused } from './refusal.ts'
import { tokenizeLongs } from './tokens.ts'

/** Where writers of Parquet keep a field's id, as metadata of the Arrow field. */
const fieldIdKey = 'PARQUET:field_id'

/**
 * Protects a table.
 *
 * @param nowSeconds the writer's clock; an expired plan refuses
 * @returns a table of the same Iceberg schema; columns to keep share the buffers of the one given
 * @throws TransformRefused; nothing is done then
 */
export function protectTable(open: OpenPlan, table: Table, nowSeconds: number): Table {
  checkTime(open.plan, nowSeconds)
  const rules = rulesOf(
    open,
    table.schema.fields.map(({ name }) => name),
  )
  for (const [place, { metadata, type }] of table.schema.fields.entries()) {
    const rule = rules[place] as ColumnRule
    const id = metadata.get(fieldIdKey)
    if (id !== undefined && Number(id) !== rule.field_id)
      throw new TransformRefused('wrong_schema', 'its field id is not that of the plan', rule.name)
    if (rule.action !== 'keep' && !fits(rule.type, plainType(type)))
      throw new TransformRefused('wrong_type', `its Arrow type is not that of ${rule.type}`, rule.name)
  }
  const fields = table.schema.fields.map((field, place) =>
    rules[place]?.action === 'keep'
      ? field
      : new Field(field.name, plainType(field.type), field.nullable, field.metadata),
  )
  const schema = new Schema(fields, table.schema.metadata)
  const batches = table.batches.map((batch) => {
    const children = batch.data.children.map((data, place) => {
      const rule = rules[place] as ColumnRule
      return rule.action === 'keep' ? data : asRefusal(rule, () => protectData(open, rule, data, batch))
    })
    return new RecordBatch(
      schema,
      makeData({ type: new Struct(fields), length: batch.numRows, nullCount: 0, children }),
    )
  })
  return new Table(schema, batches)
}

/** The type of the column that comes out: a dictionary's values, and a view's layout with offsets. */
function plainType(type: DataType): DataType {
  if (DataType.isDictionary(type)) return plainType(type.dictionary)
  if (DataType.isUtf8View(type)) return new Utf8()
  return DataType.isBinaryView(type) ? new Binary() : type
}

function fits(type: string, arrow: DataType): boolean {
  const [, precision, scale] = /^decimal\((\d+),\s*(\d+)\)$/.exec(type) ?? []
  if (precision !== undefined)
    return DataType.isDecimal(arrow) && arrow.precision === Number(precision) && arrow.scale === Number(scale)
  const width = type === 'uuid' ? '16' : /^fixed\[(\d+)\]$/.exec(type)?.[1]
  if (width !== undefined) return DataType.isFixedSizeBinary(arrow) && arrow.byteWidth === Number(width)
  switch (type) {
    case 'boolean':
      return DataType.isBool(arrow)
    case 'int':
    case 'long':
      return DataType.isInt(arrow) && arrow.isSigned && arrow.bitWidth === (type === 'int' ? 32 : 64)
    case 'float':
    case 'double':
      return DataType.isFloat(arrow) && arrow.precision === (type === 'float' ? 1 : 2)
    case 'string':
      return DataType.isUtf8(arrow) || DataType.isLargeUtf8(arrow)
    case 'binary':
      return DataType.isBinary(arrow) || DataType.isLargeBinary(arrow)
    case 'date':
      return DataType.isDate(arrow) && arrow.unit === 0
    case 'time':
      return DataType.isTime(arrow) && arrow.unit === TimeUnit.MICROSECOND
    default:
      return (
        DataType.isTimestamp(arrow) &&
        arrow.unit === (type.endsWith('_ns') ? TimeUnit.NANOSECOND : TimeUnit.MICROSECOND) &&
        (arrow.timezone != null) === type.startsWith('timestamptz')
      )
  }
}

function protectData(
  open: OpenPlan,
  rule: Exclude<ColumnRule, { action: 'keep' }>,
  data: Data,
  batch: RecordBatch,
): Data {
  const { length } = data
  if (rule.required)
    for (let index = 0; index < length; index += 1)
      if (!data.getValid(index))
        throw new TransformRefused('null_in_required', 'a value is NULL, and the column is required')
  const type = plainType(data.type)
  if (rule.action === 'redact') return constant(type, length, redacted(rule))
  if (rule.action === 'mask') {
    if (rule.mask === 'mask-to-fixed-value')
      return constant(type, length, applyMask(rule.mask, rule.type, null))
    if (rule.mask === 'replace-with-null') return constant(type, length, null)
  }
  if (rule.type === 'string' || rule.type === 'binary') {
    const column = bytesOf(data)
    if (rule.type === 'string') checkUnicode(column)
    if (isSubjectRule(rule)) {
      const texts = textsOfBatch(open, batch, rule.subject_key_of)
      return dataOf(type, protectBySubject(open, rule, texts, column))
    }
    if (rule.action !== 'mask')
      return dataOf(type, protectBytes(rule, open.plan.tenant, open.keyOf(rule), column))
    return dataOf(type, maskBytes(rule.type, rule.mask, column))
  }
  const numbers = numbersOf(data)
  if (rule.action === 'mask') return likeNumbers(type, data, numbers, maskNumbers(rule, data, numbers))
  return likeNumbers(
    type,
    data,
    numbers,
    tokenizeLongs(open.keyOf(rule as KeyedRule), numbers as BigInt64Array),
  )
}

/** The values of a subject column of a table as text; undefined where it has no such column. */
export function subjectTextsOfTable(open: OpenPlan, table: Table, name: string): SubjectTexts | undefined {
  const parts = table.batches.map((batch) => textsOfBatch(open, batch, name))
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? [])
}

function textsOfBatch(open: OpenPlan, batch: RecordBatch, name: string): SubjectTexts | undefined {
  const place = batch.schema.fields.findIndex((field) => field.name === name)
  const rule = open.plan.columns.find((column) => column.name === name)
  const data = batch.data.children[place]
  if (rule === undefined || data === undefined) return undefined
  if (!fits(rule.type, plainType(data.type)))
    throw new TransformRefused('wrong_type', `its Arrow type is not that of ${rule.type}`, name)
  const indices = Array.from({ length: data.length }, (_, index) => index)
  if (rule.type !== 'string') {
    const numbers = numbersOf(data)
    return indices.map((index) => (data.getValid(index) ? String(numbers[index]) : null))
  }
  const column = bytesOf(data)
  checkUnicode(column)
  return indices.map((index) =>
    isValid(column, index) ? Buffer.from(bytesAt(column, index)).toString() : null,
  )
}

/** A column of one value: NULL, or the fixed value of its type, which is zero in all types but text. */
function constant(type: DataType, length: number, value: MaskValue): Data {
  if (
    DataType.isUtf8(type) ||
    DataType.isLargeUtf8(type) ||
    DataType.isBinary(type) ||
    DataType.isLargeBinary(type)
  ) {
    const bytes = value === null ? null : Buffer.from(value as string)
    return dataOf(type, columnOfBytes(new Array(length).fill(bytes)))
  }
  const bits = DataType.isBool(type) ? 1 : bitWidthOf(type)
  const bytes = new Uint8Array(Math.ceil((length * bits) / 64) * 8)
  const values = viewAs(type, bytes)
  return makeData({
    type,
    length,
    data: values,
    nullCount: value === null ? length : 0,
    ...(value === null && { nullBitmap: new Uint8Array(Math.ceil(length / 8)) }),
  } as never)
}

function bitWidthOf(type: DataType): number {
  if (DataType.isFixedSizeBinary(type)) return (type as FixedSizeBinary).byteWidth * 8
  if (DataType.isDecimal(type)) return type.bitWidth
  return new type.ArrayType(1).BYTES_PER_ELEMENT * 8
}

function viewAs(type: DataType, bytes: Uint8Array): ArrayBufferView {
  const View = DataType.isBool(type) || DataType.isFixedSizeBinary(type) ? Uint8Array : type.ArrayType
  return new View(bytes.buffer)
}

/** Texts or byte strings of a chunk, of any of the layouts. */
function bytesOf(data: Data): BytesColumn {
  const { length } = data
  const valid = Uint8Array.from({ length }, (_, index) => (data.getValid(index) ? 1 : 0))
  const anyNull = valid.includes(0)
  if (DataType.isUtf8View(data.type) || DataType.isBinaryView(data.type)) {
    // Read as bytes: a text that Arrow decodes loses a byte order mark at its start.
    const views = new Vector([data.clone(new BinaryView())])
    return columnOfBytes(
      Array.from({ length }, (_, index) =>
        valid[index] === 0 ? null : new Uint8Array(views.get(index) as Uint8Array),
      ),
    )
  }
  if (!DataType.isDictionary(data.type)) {
    const offsets = Float64Array.from(data.valueOffsets as ArrayLike<number | bigint>, Number)
    return { length, data: data.values as Uint8Array, offsets, ...(anyNull && { valid }) }
  }
  const chunks = (data.dictionary?.data ?? []).map(bytesOf)
  const values = chunks.flatMap((chunk) =>
    Array.from({ length: chunk.length }, (_, index) =>
      isValid(chunk, index) ? bytesAt(chunk, index) : null,
    ),
  )
  return columnOfBytes(
    Array.from({ length }, (_, index) =>
      valid[index] === 0 ? null : (values[Number(data.values[index])] ?? null),
    ),
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function checkUnicode(column: BytesColumn): void {
  const from = column.offsets[0] as number
  const end = column.offsets[column.length] as number
  const refused = new TransformRefused('wrong_type', 'a value is not well-formed UTF-8')
  try {
    utf8.decode(column.data.subarray(from, end))
  } catch {
    throw refused
  }
  // A character may be cut by a boundary: a value begins at its first byte.
  for (let index = 0; index < column.length; index += 1) {
    const at = column.offsets[index] as number
    if (at < (column.offsets[index + 1] as number) && ((column.data[at] as number) & 0xc0) === 0x80)
      throw refused
  }
}

function maskBytes(type: string, mask: Parameters<typeof applyMask>[0], column: BytesColumn): BytesColumn {
  const done = new Map<string, Uint8Array>()
  return columnOfBytes(
    Array.from({ length: column.length }, (_, index) => {
      if (!isValid(column, index)) return null
      const bytes = bytesAt(column, index)
      const label = Buffer.from(bytes).toString('latin1')
      const known = done.get(label)
      if (known !== undefined) return known
      const masked = applyMask(mask, type, type === 'string' ? Buffer.from(bytes).toString() : bytes)
      const result = typeof masked === 'string' ? Buffer.from(masked) : (masked as Uint8Array)
      done.set(label, result)
      return result
    }),
  )
}

/** A chunk of bytes in the layout of its type. */
function dataOf(type: DataType, column: BytesColumn): Data {
  const large = DataType.isLargeUtf8(type) || DataType.isLargeBinary(type)
  if (!large && column.data.length > 0x7fff_ffff)
    throw new TransformRefused('wrong_type', 'a batch would hold over 2 GiB: write smaller batches')
  const valueOffsets = large
    ? BigInt64Array.from(column.offsets, (offset) => BigInt(offset))
    : Int32Array.from(column.offsets)
  const { valid, length, data } = column
  const nullBitmap = valid && util.packBools(valid)
  return makeData({ type, length, data, valueOffsets, ...(nullBitmap && { nullBitmap }) } as never)
}

type Numbers = Int32Array | BigInt64Array

function numbersOf(data: Data): Numbers {
  const { values, length } = data
  if (!DataType.isDictionary(data.type)) return (values as Numbers).subarray(0, length) as Numbers
  const words = (data.dictionary?.data ?? []).flatMap((chunk) => [...(numbersOf(chunk) as Int32Array)])
  const at = (index: number) => words[Number(values[index])] ?? (0 as number)
  const indices = Array.from({ length }, (_, index) => index)
  const wide = bitWidthOf(plainType(data.type)) === 64
  return wide ? BigInt64Array.from(indices, (index) => BigInt(at(index))) : Int32Array.from(indices, at)
}

function maskNumbers(rule: ColumnRule & { action: 'mask' }, data: Data, numbers: Numbers): Numbers {
  const done = new Map<number | bigint, number | bigint>()
  const masked = (value: number | bigint, index: number) => {
    if (!data.getValid(index)) return value
    const known = done.get(value)
    if (known !== undefined) return known
    const result = applyMask(rule.mask, rule.type, value) as number | bigint
    if (done.size < distinctMax) done.set(value, result)
    return result
  }
  return numbers instanceof Int32Array
    ? numbers.map((value, index) => masked(value, index) as number)
    : numbers.map((value, index) => masked(value, index) as bigint)
}

/** Distinct numbers that a mask remembers. */
const distinctMax = 100_000

/** A chunk of numbers, where NULLs hold zero: what lies below a NULL reaches files, too. */
function likeNumbers(type: DataType, data: Data, { length }: Numbers, numbers: Numbers): Data {
  const valid = Array.from({ length }, (_, index) => data.getValid(index))
  if (numbers instanceof Int32Array)
    for (const [index, there] of valid.entries()) if (!there) numbers[index] = 0
  if (numbers instanceof BigInt64Array)
    for (const [index, there] of valid.entries()) if (!there) numbers[index] = 0n
  const anyNull = valid.includes(false)
  return makeData({
    type,
    length,
    data: numbers,
    ...(anyNull && { nullBitmap: util.packBools(valid) }),
  } as never)
}
