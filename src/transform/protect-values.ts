/**
 * Protects plain columns, each an array of values as `core/mask.ts` has them. All or nothing: the result is given only
 * when every column is done. Arrow tables are in `protect-table.ts`.
 */

import { applyMask, type MaskValue } from '../core/mask.ts'
import { type BytesColumn, bytesAt, columnOfBytes, isValid } from './bytes-column.ts'
import { checkTime, type OpenPlan } from './open-plan.ts'
import { type ColumnRule, isSubjectRule, type KeyedRule } from './plan.ts'
import { protectBytes } from './protect-bytes.ts'
import { protectBySubject, type SubjectTexts } from './protect-subjects.ts'
import { TransformRefused } from './refusal.ts'
import { tokenizeLongs } from './tokens.ts'

export type PlainColumns = Readonly<Record<string, readonly MaskValue[]>>

/**
 * Protects the columns of a batch by an opened plan.
 *
 * @param nowSeconds the writer's clock; an expired plan refuses
 * @returns the columns in their order; those to keep are the arrays given
 * @throws TransformRefused; nothing is done then
 */
export function protectColumns(open: OpenPlan, columns: PlainColumns, nowSeconds: number): PlainColumns {
  checkTime(open.plan, nowSeconds)
  const names = Object.keys(columns)
  const rules = rulesOf(open, names)
  return Object.fromEntries(
    names.map((name, place) => [name, protectColumn(open, rules[place] as ColumnRule, columns)]),
  )
}

/**
 * Protects one column of a batch.
 *
 * @throws TransformRefused
 */
export function protectColumn(open: OpenPlan, rule: ColumnRule, columns: PlainColumns): readonly MaskValue[] {
  const values = columns[rule.name] as readonly MaskValue[]
  return asRefusal(rule, () => {
    if (!isSubjectRule(rule))
      return protectValues(rule, open.plan.tenant, () => open.keyOf(rule as KeyedRule), values)
    for (const value of values) checkValue(rule, value)
    const texts = subjectTextsOf(open, columns, rule.subject_key_of)
    return fromBytes(rule, protectBySubject(open, rule, texts, toBytes(rule, values)))
  })
}

/**
 * The values of a subject column as text; undefined where the batch has no such column.
 *
 * @throws TransformRefused `wrong_type`
 */
export function subjectTextsOf(
  { plan }: OpenPlan,
  columns: PlainColumns,
  name: string,
): SubjectTexts | undefined {
  const rule = plan.columns.find((column) => column.name === name)
  const values = columns[name]
  if (rule === undefined || values === undefined) return undefined
  return asRefusal(rule, () =>
    values.map((value) => {
      checkValue({ ...rule, required: false }, value)
      return value === null ? null : String(value)
    }),
  )
}

/**
 * The rule of each column of a batch.
 *
 * @throws TransformRefused `unknown_column`, or `missing_column` where a required one is absent
 */
export function rulesOf({ plan }: OpenPlan, names: readonly string[]): readonly ColumnRule[] {
  for (const { name, required } of plan.columns)
    if (required && !names.includes(name))
      throw new TransformRefused('missing_column', 'it is required, and the batch does not have it', name)
  return names.map((name) => {
    const rule = plan.columns.find((column) => column.name === name)
    if (rule === undefined) throw new TransformRefused('unknown_column', 'the plan does not know it', name)
    return rule
  })
}

/** Runs a step for a column; what it throws names the column, and says nothing that the column holds. */
export function asRefusal<T>(rule: ColumnRule, step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof TransformRefused)
      throw error.column === undefined ? new TransformRefused(error.code, error.message, rule.name) : error
    throw new TransformRefused('failed', `${rule.action} failed`, rule.name)
  }
}

/**
 * Protects the values of one column.
 *
 * @throws TransformRefused
 */
export function protectValues(
  rule: ColumnRule,
  tenant: string,
  keyOf: () => Uint8Array,
  values: readonly MaskValue[],
): readonly MaskValue[] {
  if (rule.action === 'keep') return values
  for (const value of values) checkValue(rule, value)
  switch (rule.action) {
    case 'redact':
      return values.map(() => redacted(rule))
    case 'mask': {
      const { mask } = rule
      const done = new Map<MaskValue, MaskValue>()
      return values.map((value) => {
        let masked = done.get(value)
        if (masked === undefined) {
          masked = applyMask(mask, rule.type, value)
          if (done.size < distinctMax) done.set(value, masked)
        }
        return masked
      })
    }
    default:
      return protectKeyed(rule, tenant, keyOf(), values)
  }
}

/** Distinct values that a mask remembers. */
const distinctMax = 100_000

/** NULL where the column is optional, else the fixed value of its type. */
export function redacted({ required, type }: ColumnRule): MaskValue {
  return required ? applyMask('mask-to-fixed-value', type, null) : null
}

function protectKeyed(
  rule: KeyedRule,
  tenant: string,
  key: Uint8Array,
  values: readonly MaskValue[],
): readonly MaskValue[] {
  if (rule.type === 'long') {
    const longs = tokenizeLongs(
      key,
      BigInt64Array.from(values, (value) => (value === null ? 0n : (value as bigint))),
    )
    return values.map((value, index) => (value === null ? null : (longs[index] as bigint)))
  }
  return fromBytes(rule, protectBytes(rule, tenant, key, toBytes(rule, values)))
}

function toBytes({ type }: ColumnRule, values: readonly MaskValue[]): BytesColumn {
  const bytes = (value: MaskValue) =>
    type === 'string' ? Buffer.from(value as string) : (value as Uint8Array)
  return columnOfBytes(values.map((value) => (value === null ? null : bytes(value))))
}

function fromBytes({ type }: ColumnRule, done: BytesColumn): readonly MaskValue[] {
  return Array.from({ length: done.length }, (_, index) => {
    if (!isValid(done, index)) return null
    const bytes = bytesAt(done, index)
    return type === 'string' ? Buffer.from(bytes).toString() : Uint8Array.from(bytes)
  })
}

function checkValue({ type, required }: ColumnRule, value: MaskValue): void {
  if (value === null) {
    if (required)
      throw new TransformRefused('null_in_required', 'a value is NULL, and the column is required')
    return
  }
  const fits =
    type === 'boolean'
      ? typeof value === 'boolean'
      : ['int', 'date'].includes(type)
        ? typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
        : ['float', 'double'].includes(type)
          ? typeof value === 'number'
          : type === 'long' || type.startsWith('time')
            ? typeof value === 'bigint' && BigInt.asIntN(64, value) === value
            : type === 'binary' || type.startsWith('fixed[')
              ? value instanceof Uint8Array
              : typeof value === 'string' && value.isWellFormed()
  if (!fits)
    throw new TransformRefused('wrong_type', `a value is not of type ${type}, or is not well-formed Unicode`)
}
