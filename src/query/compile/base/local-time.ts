/** Moves times in PostgreSQL's text form between UTC and what the clocks of a zone show. */

import { instantOfLocal, type TimeZone } from '../../../core/time-zone.ts'
import { isLocalTime, readLiteral } from './literal.ts'

/** @param move seconds since 1970 to others */
function shifted(value: string, move: (seconds: number) => number): string {
  const [clock = '', fraction] = value.split('.')
  const seconds = move(Date.parse(`${clock.replace(' ', 'T')}Z`) / 1_000)
  const moved = new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')
  return fraction === undefined ? moved : `${moved}.${fraction}`
}

/** What the clocks of a zone show at an instant. */
export function localText(instant: string, zone: TimeZone): string {
  return shifted(instant, (seconds) => seconds + zone.offsetAt(seconds))
}

/** The instant at which the clocks of a zone show a time. */
export function instantText(local: string, zone: TimeZone): string {
  return shifted(local, (seconds) => instantOfLocal(zone, seconds))
}

/**
 * A parameter's text, where it is an instant that names no offset, with one.
 * @throws SqlError as readLiteral, for what is no instant
 */
export function withOffset(text: string, zone: TimeZone): string {
  const read = readLiteral(text, 'timestamptz')
  return isLocalTime(text) ? `${instantText(read, zone)}+00` : text
}
