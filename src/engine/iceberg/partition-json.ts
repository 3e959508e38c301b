/** Writes partition values of manifests in JSON single-value form (Iceberg specification, Appendix D). */

import type { JsonValue } from '../../base/json.ts'
import { engineCannotRead } from '../engine-error.ts'

/**
 * A partition value in JSON.
 * @param value not NULL, as Avro decoded it
 * @param source type of the field that the transform derives from
 * @throws EngineError for a value that the form cannot hold
 */
export function partitionValueJson(value: unknown, transform: string, source: string): JsonValue {
  return valueJson(value, resultType(transform, source))
}

function resultType(transform: string, source: string): string {
  if (transform === 'identity' || transform.startsWith('truncate')) return source
  return transform === 'day' ? 'date' : 'int'
}

function valueJson(value: unknown, type: string): JsonValue {
  if (type === 'boolean' && typeof value === 'boolean') return value
  if (type === 'string' && typeof value === 'string') return value
  if ((type === 'float' || type === 'double') && Number.isFinite(value)) return value as number
  const whole = wholeOf(value)
  if (whole !== undefined)
    switch (type) {
      case 'int':
      case 'long':
        return whole
      case 'date':
        return dayText(whole)
      case 'time':
        return instantText(whole, 6).slice(11)
      case 'timestamp':
        return instantText(whole, 6)
      case 'timestamptz':
        return `${instantText(whole, 6)}+00:00`
      case 'timestamp_ns':
        return instantText(whole, 9)
      case 'timestamptz_ns':
        return `${instantText(whole, 9)}+00:00`
    }
  if (value instanceof Uint8Array) {
    const hex = Buffer.from(value).toString('hex')
    if (type === 'binary' || type.startsWith('fixed[')) return hex
    if (type === 'uuid' && value.length === 16)
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    const scale = /^decimal\(\s*\d+\s*,\s*(\d+)\s*\)$/.exec(type)?.[1]
    if (scale !== undefined) return decimalText(value, Number(scale))
  }
  throw engineCannotRead('A partition value of this type')
}

function wholeOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined
}

function floorDivide(value: bigint, by: bigint): bigint {
  return (value - (((value % by) + by) % by)) / by
}

const secondsOfDay = 86_400n

function dayText(days: bigint): string {
  return isoText(days * secondsOfDay).slice(0, 10)
}

/** @param digits of the second's fraction */
function instantText(units: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits)
  const seconds = floorDivide(units, perSecond)
  return `${isoText(seconds).slice(0, 19)}.${String(units - seconds * perSecond).padStart(digits, '0')}`
}

function isoText(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1_000)
  const year = date.getUTCFullYear()
  if (!(year >= 0 && year <= 9_999)) throw engineCannotRead('A partition of a year after 9999 or before 0')
  return date.toISOString()
}

/** Two's complement with the first byte first. */
function decimalText(bytes: Uint8Array, scale: number): string {
  const unscaled = BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`))
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return unscaled < 0n ? `-${text}` : text
}
