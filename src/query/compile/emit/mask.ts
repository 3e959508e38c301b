/** Writes column masks as SQL. The dialect writes what differs between engines. */

import type { IcebergType } from '../../../core/iceberg-type.ts'
import { applyMask, type MaskAction } from '../../../core/mask.ts'
import type { LiteralExpr } from '../base/ir.ts'
import { servedType } from '../base/types.ts'
import type { MaskDialect } from './dialect.ts'
import { emitLiteral } from './literal.ts'

/**
 * A masked column, equal byte for byte to the result of `applyMask`.
 * @param sql the raw column
 * @param salt SQL of the query's salt, as bytes
 */
export function emitMask(
  dialect: MaskDialect,
  action: Exclude<MaskAction, 'apply-expression'>,
  sql: string,
  type: IcebergType,
  salt: string,
): string {
  const served = servedType(type)
  switch (action) {
    case 'replace-with-null':
      return `CAST(NULL AS ${dialect.typeName(served?.type ?? 'text', served?.size)})`
    case 'mask-to-fixed-value':
      return emitLiteral(dialect, fixedLiteral(type))
    case 'mask-alphanum':
      return dialect.maskedText(sql)
    case 'show-first-4':
      return `(substr(${sql}, 1, 4) || ${dialect.maskedText(`substr(${sql}, 5)`)})`
    case 'show-last-4':
      return `CASE WHEN length(${sql}) <= 4 THEN ${sql} ELSE ${dialect.maskedText(`substr(${sql}, 1, length(${sql}) - 4)`)} || substr(${sql}, length(${sql}) - 3) END`
    case 'truncate-to-year':
      return dialect.truncated('year', sql, type)
    case 'truncate-to-month':
      return dialect.truncated('month', sql, type)
    case 'sha-256-global':
      return dialect.sha256(sql, type, undefined)
    case 'sha-256-query-local':
      return dialect.sha256(sql, type, salt)
  }
}

/** The constant that replaces every value of a type. */
function fixedLiteral(type: IcebergType): LiteralExpr {
  const served = servedType(type)
  const value = applyMask('mask-to-fixed-value', type, true)
  if (served === undefined || value === null) throw new RangeError('no fixed value for this type')
  const literal = (text: string): LiteralExpr => ({ kind: 'literal', value: text, ...served })
  if (value instanceof Uint8Array) return literal(Buffer.from(value).toString('hex'))
  switch (served.type) {
    case 'date':
      return literal('1970-01-01')
    case 'time':
      return literal('00:00:00')
    case 'timestamp':
    case 'timestamptz':
      return literal('1970-01-01 00:00:00')
    default:
      return literal(String(value))
  }
}
