/** The constant of mask-to-fixed-value as a literal of the column's type. */

import type { IcebergType } from '../../core/iceberg-type.ts'
import type { MaskValue } from '../../core/mask.ts'
import type { LiteralExpr } from '../ir.ts'
import { servedType } from '../types.ts'

const microsPerMilli = 1_000n

/** @param value what applyMask gave for the type */
export function fixedLiteral(type: IcebergType, value: MaskValue): LiteralExpr {
  const served = servedType(type)
  if (served === undefined || value === null) throw new RangeError('no fixed value for this type')
  const literal = (text: string): LiteralExpr => ({ kind: 'literal', value: text, ...served })
  if (value instanceof Uint8Array) return literal(Buffer.from(value).toString('hex'))
  switch (served.type) {
    case 'date':
      return literal(new Date(Number(value) * 86_400_000).toISOString().slice(0, 10))
    case 'time':
      return literal('00:00:00')
    case 'timestamp':
    case 'timestamptz': {
      const millis = BigInt(value) / (String(type).endsWith('_ns') ? 1_000_000n : microsPerMilli)
      return literal(new Date(Number(millis)).toISOString().slice(0, 19).replace('T', ' '))
    }
    default:
      return literal(String(value))
  }
}
