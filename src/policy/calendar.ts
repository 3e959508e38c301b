/**
 * Implements CEL's calendar getters of a timestamp. The library computes them in the host's time zone, which is wrong
 * in the hour that its clocks skip. Here the UTC fields of a date hold the wall clock of the requested zone.
 */

import { type CelFunc, CelScalar, celMethod, objectType } from '@bufbuild/cel'
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt'
import { charge } from './budget.ts'

/** The cost of creating a formatter for an IANA zone. */
const zoneTicks = 50
const dayMs = 86_400_000

const getters: Readonly<Record<string, (wall: Date) => number>> = {
  getFullYear: (wall) => wall.getUTCFullYear(),
  getMonth: (wall) => wall.getUTCMonth(),
  getDate: (wall) => wall.getUTCDate(),
  getDayOfMonth: (wall) => wall.getUTCDate() - 1,
  getDayOfWeek: (wall) => wall.getUTCDay(),
  getDayOfYear: (wall) => Math.floor((wall.getTime() - new Date(wall).setUTCMonth(0, 1)) / dayMs),
  getHours: (wall) => wall.getUTCHours(),
  getMinutes: (wall) => wall.getUTCMinutes(),
  getSeconds: (wall) => wall.getUTCSeconds(),
  getMilliseconds: (wall) => wall.getUTCMilliseconds(),
}

function utc({ seconds, nanos }: Timestamp): Date {
  return new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000))
}

/** @param zone `+hh:mm`, `hh:mm`, `-hh:mm` or an IANA name; throws for any other value */
function wallClock(timestamp: Timestamp, zone: string): Date {
  const date = utc(timestamp)
  const offset = /^([+-]?)(\d\d):(\d\d)$/.exec(zone)
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3])
    return new Date(date.getTime() + (offset[1] === '-' ? -minutes : minutes) * 60_000)
  }
  charge(zoneTicks)
  const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
    hourCycle: 'h23',
    timeZone: zone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts = new Map(format.formatToParts(date).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? Number.NaN
  const wall = new Date(0)
  wall.setUTCFullYear(part('year'), part('month') - 1, part('day'))
  wall.setUTCHours(part('hour'), part('minute'), part('second'), date.getUTCMilliseconds())
  return wall
}

const { INT, STRING } = CelScalar
const TIMESTAMP = objectType(TimestampSchema)

/** Replacements for the library's getters, with the same signatures. */
export const calendarFunctions: readonly CelFunc[] = Object.entries(getters).flatMap(([name, get]) => [
  celMethod(name, TIMESTAMP, [], INT, function () {
    return BigInt(get(utc(this.message)))
  }),
  celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
    return BigInt(get(wallClock(this.message, zone)))
  }),
])
