/**
 * Skips data files in which no row can match a predicate of an Iceberg client. A part of the predicate that is not
 * understood keeps every file: its names, transforms, types and values may be more than is known here. So a plan may
 * hold more files than needed, never fewer, and the client filters the rows.
 */

import type { JsonValue } from '../../base/json.ts'
import type { ColumnRange, RangeBound } from '../../core/column-range.ts'
import type { IcebergType } from '../../core/iceberg-type.ts'
import type { FileEntry } from '../../storage/iceberg/files.ts'
import type { Operand, Predicate } from '../../wire/iceberg/predicate.ts'
import { mayHold } from './prune.ts'
import type { SnapshotPlan } from './snapshot-plan.ts'
import type { TableField, TableSchema } from './table-schema.ts'

/** How names in a predicate are looked up. */
interface NamesBy {
  readonly schema: TableSchema
  readonly caseSensitive: boolean
}

/** The data files that may hold rows for which the predicate is true. */
export function filesMatching(
  plan: SnapshotPlan,
  predicate: Predicate,
  names: NamesBy,
): readonly FileEntry[] {
  const test = testOf(plan, predicate, fieldFinder(names))
  return test === undefined ? plan.dataFiles : plan.dataFiles.filter(test)
}

/** Whether a file may hold matching rows. Undefined: every file may. */
type Test = ((file: FileEntry) => boolean) | undefined
type FindField = (operand: Operand) => TableField | undefined

function testOf(plan: SnapshotPlan, predicate: Predicate, find: FindField): Test {
  switch (predicate.kind) {
    case 'constant':
      return predicate.value ? undefined : () => false
    case 'and': {
      const left = testOf(plan, predicate.left, find)
      const right = testOf(plan, predicate.right, find)
      if (left === undefined || right === undefined) return left ?? right
      return (file) => left(file) && right(file)
    }
    case 'or': {
      const left = testOf(plan, predicate.left, find)
      const right = testOf(plan, predicate.right, find)
      if (left === undefined || right === undefined) return undefined
      return (file) => left(file) || right(file)
    }
    case 'not':
      // Of a part that only says which files may match, the opposite says nothing.
      return undefined
    case 'unary': {
      const field = predicate.type === 'not-null' ? find(predicate.operand) : undefined
      if (field === undefined) return undefined
      return within(plan, { fieldId: field.id, lower: undefined, upper: undefined })
    }
    case 'set': {
      const field = predicate.type === 'in' ? find(predicate.operand) : undefined
      if (field === undefined) return undefined
      const bounds = predicate.values.map((value) => literalBound(value, field.type))
      if (bounds.some((bound) => bound === undefined)) return undefined
      const tests = bounds.map((bound) => within(plan, { fieldId: field.id, lower: bound, upper: bound }))
      return (file) => tests.some((test) => test(file))
    }
    case 'comparison':
      return compared(plan, predicate, find)
  }
}

function compared(
  plan: SnapshotPlan,
  { type, operand, value }: Extract<Predicate, { kind: 'comparison' }>,
  find: FindField,
): Test {
  const field = value === undefined ? undefined : find(operand)
  const bound = field && value !== undefined ? literalBound(value, field.type) : undefined
  if (field === undefined || bound === undefined) return undefined
  const { id: fieldId } = field
  switch (type) {
    case 'eq':
      return within(plan, { fieldId, lower: bound, upper: bound })
    case 'gt':
    case 'gt-eq':
    case 'starts-with':
      return within(plan, { fieldId, lower: bound, upper: undefined })
    case 'lt':
    case 'lt-eq': {
      const below = within(plan, { fieldId, lower: undefined, upper: bound })
      // To a reader with two-valued logic, NULL is less than every value.
      return (file) => below(file) || mayHoldNull(plan, file, fieldId)
    }
    default:
      return undefined
  }
}

const within =
  (plan: SnapshotPlan, range: ColumnRange) =>
  (file: FileEntry): boolean =>
    mayHold(plan, file, range)

function mayHoldNull(plan: SnapshotPlan, { stats }: FileEntry, fieldId: number): boolean {
  if (plan.fields.get(fieldId)?.required === true) return false
  return stats.nullCounts.get(fieldId) !== 0n
}

/** Top-level fields by id or name. A name that fits several, or none, finds nothing. */
function fieldFinder({ schema, caseSensitive }: NamesBy): FindField {
  return (operand) => {
    if (operand.kind === 'field') return schema.get(operand.id)
    if (operand.kind !== 'name') return undefined
    const fold = (name: string) => (caseSensitive ? name : name.toLowerCase())
    const found = [...schema.values()].filter(({ name }) => fold(name) === fold(operand.name))
    return found.length === 1 ? found[0] : undefined
  }
}

/** A literal in JSON single-value form as the bound of a column; undefined where its type is not compared here. */
function literalBound(value: JsonValue, type: IcebergType): RangeBound | undefined {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'int':
    case 'long':
      return typeof value === 'bigint' ? value : undefined
    case 'string':
      return typeof value === 'string' ? value : undefined
    case 'date':
      return typeof value === 'string' ? daysOf(value) : undefined
    case 'timestamp':
    case 'timestamptz':
      return typeof value === 'string' ? microsOf(value, type === 'timestamptz') : undefined
    default:
      return undefined
  }
}

const dayMs = 86_400_000n
const dayPattern = /^\d{4}-\d\d-\d\d$/
const instantPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(\+00:00)?$/

function daysOf(text: string): bigint | undefined {
  const ms = dayPattern.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(ms) ? undefined : BigInt(ms) / dayMs
}

function microsOf(text: string, hasZone: boolean): bigint | undefined {
  const [, instant, fraction = '', zone] = instantPattern.exec(text) ?? []
  if (instant === undefined || (zone !== undefined) !== hasZone) return undefined
  const ms = Date.parse(`${instant}Z`)
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000n + BigInt(fraction.padEnd(6, '0'))
}
