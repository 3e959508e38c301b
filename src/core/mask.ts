/**
 * The column masks of Iceberg `read-restrictions`, with one vocabulary and one result for every surface. `applyMask` is
 * the definition; every engine's SQL must agree with it byte for byte. NULL stays NULL, except under
 * `mask-to-fixed-value`, which hides that a value is missing. A mask never changes a column's type.
 */

import { createHash } from 'node:crypto'
import type { IcebergType } from './iceberg-type.ts'

/** In order of strictness: the earlier of two wins. */
export const maskActions = [
  'replace-with-null',
  'mask-to-fixed-value',
  'sha-256-query-local',
  'sha-256-global',
  'mask-alphanum',
  'truncate-to-year',
  'truncate-to-month',
  'show-last-4',
  'show-first-4',
  'apply-expression',
] as const
export type MaskAction = (typeof maskActions)[number]

export interface ColumnMask {
  /** One of maskActions; any other text is refused. */
  readonly action: string
  /** With apply-expression only: a SQL expression over the raw columns, of the column's type. */
  readonly expression?: string
  /** Field ids of the columns that the expression names; absent where names mean today's columns. */
  readonly names?: Readonly<Record<string, number>>
}

/**
 * A value under a mask. Boolean is boolean; int, float, double and date (days since 1970-01-01) are numbers. Long, time
 * and timestamps (micro- or nanoseconds since midnight or 1970-01-01) are bigints. String, decimal and uuid are
 * strings; binary and fixed are bytes.
 */
export type MaskValue = boolean | number | bigint | string | Uint8Array | null

/** Fewest bytes of a query-local salt. */
export const saltBytesMin = 16

const timestampTypes = ['timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns']
const hashedTypes = ['string', 'int', 'long', 'binary']
const fixedValueTypes = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'string',
  'date',
  'time',
  'uuid',
  'binary',
  ...timestampTypes,
]

/** Whether `text` names a mask action, in its exact spelling. */
export function isMaskAction(text: string): text is MaskAction {
  return (maskActions as readonly string[]).includes(text)
}

/**
 * Whether an action is defined for a column's type.
 *
 * @param type the column's Iceberg type
 */
export function maskFits(action: MaskAction, type: IcebergType): boolean {
  if (action === 'replace-with-null' || action === 'apply-expression') return true
  if (typeof type !== 'string') return false
  switch (action) {
    case 'mask-alphanum':
    case 'show-first-4':
    case 'show-last-4':
      return type === 'string'
    case 'truncate-to-year':
    case 'truncate-to-month':
      return type === 'date' || timestampTypes.includes(type)
    case 'sha-256-global':
    case 'sha-256-query-local':
      return hashedTypes.includes(type)
    case 'mask-to-fixed-value':
      return fixedValueTypes.includes(type) || /^(decimal\(|fixed\[)/.test(type)
  }
}

/**
 * Chooses the one mask that applies of several on a column: the strictest. It reports a problem for two masks without
 * an order, an unknown action, or one that is not defined for the type. At save that is an error, at run a refusal.
 */
export function chooseMask<M extends ColumnMask>(
  masks: readonly M[],
  type: IcebergType,
  required: boolean,
):
  | { readonly mask: M | undefined; readonly problem?: never }
  /** A sentence for the author of the policies. */
  | { readonly problem: string; readonly mask?: never } {
  let chosen: M | undefined
  for (const mask of masks) {
    const { action } = mask
    if (!isMaskAction(action)) return { problem: `'${action}' is not a mask action.` }
    if (!maskFits(action, type))
      return { problem: `${action} is not defined for a column of type ${typeName(type)}.` }
    if ((action === 'apply-expression') !== (mask.expression !== undefined))
      return { problem: 'apply-expression, and no other action, needs an expression.' }
    if (action === 'replace-with-null' && required)
      return { problem: 'replace-with-null is not allowed on a required column.' }
    if (chosen !== undefined && ambiguous(chosen, mask))
      return { problem: `${chosen.action} and ${action} on one column: neither is the stricter.` }
    if (chosen === undefined || strictness(mask) < strictness(chosen)) chosen = mask
  }
  return { mask: chosen }
}

function strictness(mask: ColumnMask): number {
  return (maskActions as readonly string[]).indexOf(mask.action)
}

/** The same text means different things where its names are bound to different columns. */
function meaningOf({ expression, names }: ColumnMask): string | undefined {
  return expression === undefined ? undefined : JSON.stringify([expression, names])
}

function ambiguous(a: ColumnMask, b: ColumnMask): boolean {
  if (a.action === b.action) return meaningOf(a) !== meaningOf(b)
  const actions = [a.action, b.action]
  // NULL reveals nothing, so it is stricter than any expression.
  if (actions.includes('replace-with-null')) return false
  if (actions.includes('apply-expression')) return true
  return actions.includes('show-first-4') && actions.includes('show-last-4')
}

function typeName(type: IcebergType): string {
  return typeof type === 'string' ? type : type.type
}

/**
 * What a reader sees instead of `value`.
 * @param type the column's Iceberg type; the action must fit it
 * @param salt bytes drawn once per query, at least saltBytesMin; needed by sha-256-query-local only
 * @throws RangeError where the action does not fit the type, is apply-expression, or has no salt
 */
export function applyMask(
  action: MaskAction,
  type: IcebergType,
  value: MaskValue,
  salt?: Uint8Array,
): MaskValue {
  if (!maskFits(action, type) || action === 'apply-expression')
    throw new RangeError(`${action} has no value of its own for ${typeName(type)}`)
  if (action === 'mask-to-fixed-value') return fixedValue(typeName(type))
  if (value === null || action === 'replace-with-null') return null
  switch (action) {
    case 'mask-alphanum':
      return maskCharacters(String(value), () => false)
    case 'show-first-4':
      return maskCharacters(String(value), (index) => index < 4)
    case 'show-last-4':
      return maskCharacters(String(value), (index, count) => index >= count - 4)
    case 'truncate-to-year':
    case 'truncate-to-month':
      return truncateTime(value, typeName(type), action === 'truncate-to-year')
    case 'sha-256-global':
      return hash(value, typeName(type), new Uint8Array())
    case 'sha-256-query-local':
      if (salt === undefined || salt.length < saltBytesMin)
        throw new RangeError('the salt is missing or too short')
      return hash(value, typeName(type), salt)
  }
}

/** ASCII digits become n, `( ) , . - @` stay, every other code point becomes x. */
function maskCharacters(text: string, shown: (index: number, count: number) => boolean): string {
  const points = [...text]
  return points
    .map((point, index) => {
      if (shown(index, points.length)) return point
      if (/^[0-9]$/.test(point)) return 'n'
      return /^[(),.@-]$/.test(point) ? point : 'x'
    })
    .join('')
}

const dayMs = 86_400_000

function fixedValue(type: string): MaskValue {
  const scale = /^decimal\(\d+,\s*(\d+)\)$/.exec(type)?.[1]
  if (scale !== undefined) return Number(scale) === 0 ? '0' : `0.${'0'.repeat(Number(scale))}`
  const length = /^fixed\[(\d+)\]$/.exec(type)?.[1]
  if (length !== undefined) return new Uint8Array(Number(length))
  switch (type) {
    case 'boolean':
      return false
    case 'int':
    case 'float':
    case 'double':
    case 'date':
      return 0
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return 0n
    case 'string':
      return 'XXXXXXXX'
    case 'uuid':
      return '00000000-0000-0000-0000-000000000000'
    case 'binary':
      return new Uint8Array()
    default:
      throw new RangeError(`no fixed value for ${type}`)
  }
}

/** To the first instant of the year or month; time zones in UTC. */
function truncateTime(value: MaskValue, type: string, toYear: boolean): MaskValue {
  const unitsPerDay = type === 'date' ? 1n : type.endsWith('_ns') ? 86_400_000_000_000n : 86_400_000_000n
  const units = BigInt(value as number | bigint)
  const day = Number((units - (((units % unitsPerDay) + unitsPerDay) % unitsPerDay)) / unitsPerDay)
  const date = new Date(day * dayMs)
  date.setUTCMonth(toYear ? 0 : date.getUTCMonth(), 1)
  const first = date.getTime() / dayMs
  return type === 'date' ? first : BigInt(first) * unitsPerDay
}

/** SHA-256 over salt and value: text as hexadecimal, integers as their little-endian first bytes, else bytes. */
function hash(value: MaskValue, type: string, salt: Uint8Array): MaskValue {
  const digest = (bytes: Uint8Array) => createHash('sha256').update(salt).update(bytes).digest()
  if (type === 'string') return digest(Buffer.from(String(value))).toString('hex')
  if (type === 'binary') return new Uint8Array(digest(value as Uint8Array))
  if (type === 'int') {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(Number(value))
    return digest(bytes).readInt32LE()
  }
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(value as bigint))
  return digest(bytes).readBigInt64LE()
}
