/** Converts cells of a result's vectors to PostgreSQL's text form, for comparison with PostgreSQL. */

import { type ColumnVector, isNull, type ResultBatch, scaleAt } from '../../src/core/result-batch.ts'
import { bytesAt, type VariableWidth } from '../../src/core/variable-width.ts'

/** The rows of a batch. */
export function batchText({ columns, rowCount }: ResultBatch): (string | null)[][] {
  return Array.from({ length: rowCount }, (_, row) => columns.map((column) => cellText(column, row)))
}

/** One cell; null for NULL. */
export function cellText(column: ColumnVector, row: number): string | null {
  if (isNull(column, row)) return null
  switch (column.type) {
    case 'bool':
      return column.values[row] === 1 ? 't' : 'f'
    case 'numeric':
      return decimalText(column.values[row] ?? 0n, scaleAt(column.scale, row))
    case 'date':
      return dateText(column.values[row] ?? 0)
    case 'time':
      return timeText(column.values[row] ?? 0n)
    case 'timestamp':
      return timestampText(column.values[row] ?? 0n)
    case 'timestamptz':
      return `${timestampText(column.values[row] ?? 0n)}+00`
    case 'interval':
      return intervalText(column.months[row] ?? 0, column.days[row] ?? 0, column.micros[row] ?? 0n)
    case 'bytea':
      return `\\x${Buffer.from(bytesAt(column, row)).toString('hex')}`
    case 'text':
    case 'varchar':
    case 'json':
    case 'jsonb':
      return textAt(column, row)
    case 'array':
      return arrayText(column, row)
    case 'float4':
      return shortest(column.values[row] ?? 0)
    default:
      return String(column.values[row])
  }
}

/** The least digits that give the same float4 again. */
function shortest(value: number): string {
  for (let digits = 1; digits < 10; digits++) {
    const text = String(Number(value.toPrecision(digits)))
    if (Math.fround(Number(text)) === value) return text
  }
  return String(value)
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  const split = digits.length - scale
  return `${sign}${digits.slice(0, split)}${scale === 0 ? '' : `.${digits.slice(split)}`}`
}

function dateText(days: number): string {
  return new Date(days * 86_400_000).toISOString().slice(0, 10)
}

function timeText(micros: bigint): string {
  const clock = new Date(Number(micros / 1000n)).toISOString().slice(11, 19)
  const fraction = String(micros % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return fraction === '' ? clock : `${clock}.${fraction}`
}

const microsPerDay = 86_400_000_000n

function timestampText(micros: bigint): string {
  const timeOfDay = ((micros % microsPerDay) + microsPerDay) % microsPerDay
  return `${dateText(Number((micros - timeOfDay) / microsPerDay))} ${timeText(timeOfDay)}`
}

function intervalText(months: number, days: number, micros: bigint): string {
  const parts = [`${months} mon`, `${days} day`]
  const magnitude = micros < 0n ? -micros : micros
  const hours = String(magnitude / 3_600_000_000n).padStart(2, '0')
  parts.push(`${micros < 0n ? '-' : ''}${hours}${timeText(magnitude % 3_600_000_000n).slice(2)}`)
  return parts.join(' ')
}

function arrayText({ offsets, elements }: Extract<ColumnVector, { type: 'array' }>, row: number): string {
  const items: string[] = []
  for (let at = offsets[row] ?? 0; at < (offsets[row + 1] ?? 0); at++) {
    const text = cellText(elements, at)
    if (text === null) items.push('NULL')
    else
      items.push(
        text === '' || /[{},"\\\s]|^null$/i.test(text) ? `"${text.replace(/(["\\])/g, '\\$1')}"` : text,
      )
  }
  return `{${items.join(',')}}`
}

/** The text of one row. */
export function textAt(values: VariableWidth, row: number): string {
  const { buffer, byteOffset, length } = bytesAt(values, row)
  return Buffer.from(buffer, byteOffset, length).toString()
}
