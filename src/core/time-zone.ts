/**
 * Reads the time zones of IANA: their names, and what their clocks show. It knows no abbreviations and no offsets as
 * names of zones, because programs read the sign of these in two ways.
 */

/** A time zone other than UTC. */
export interface TimeZone {
  /** As the zone database spells it. */
  readonly name: string
  /** Seconds by which the zone's clocks are ahead of UTC at a time, in seconds since 1970. */
  readonly offsetAt: (seconds: number) => number
}

/** The zone's offset from a time on, in seconds since 1970. */
type Span = readonly [from: number, offset: number]

const secondsPerDay = 86_400
/** Clocks showed the sun's time at their place before. */
const firstRailwayYear = 1840
/** From here on the rules repeat with the calendar, every 400 years. */
const steadyYear = 2_100
const cycleYears = 400
const cycleSeconds = 146_097 * secondsPerDay
/** Days between two looks at a zone; between them the offset changes once at most. */
const stepDays = 7
/** Years that are kept, of all zones together. */
const spansMax = 20_000

/** The name of a zone as the database spells it; `UTC` for all its names; undefined for anything else. */
export function zoneNamed(text: string): string | undefined {
  if (/^(?:(?:etc\/)?(?:utc|uct|gmt|universal|zulu|greenwich)|gmt0|z|[+-]?00?(?::?00)?)$/i.test(text))
    return 'UTC'
  // What has no slash may be an abbreviation, which PostgreSQL reads as a fixed offset in some places.
  if (!/^[a-z][\w+-]*(?:\/[\w+-]+){1,2}$/i.test(text)) return undefined
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions()
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : undefined
  } catch {
    return undefined
  }
}

const zones = new Map<string, TimeZone>()
let spansHeld = 0

/** @param name one that {@link zoneNamed} gave; undefined for UTC */
export function timeZone(name: string): TimeZone | undefined {
  if (name === 'UTC') return undefined
  const known = zones.get(name)
  if (known !== undefined && spansHeld < spansMax) return known
  if (spansHeld >= spansMax) {
    zones.clear()
    spansHeld = 0
  }
  const zone = readZone(name)
  zones.set(name, zone)
  return zone
}

function readZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: name, hourCycle: 'h23', era: 'short' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  const look = (seconds: number): number => {
    const parts = new Map(format.formatToParts(seconds * 1_000).map(({ type, value }) => [type, value]))
    const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
    const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year')
    const local = new Date(0)
    local.setUTCFullYear(year, part('month') - 1, part('day'))
    local.setUTCHours(part('hour'), part('minute'), part('second'))
    return local.getTime() / 1_000 - seconds
  }
  const years = new Map<number, readonly Span[]>()
  return {
    name,
    offsetAt(given) {
      const cycles = Math.max(0, Math.ceil((yearOf(given) - steadyYear - cycleYears + 1) / cycleYears))
      const seconds = Math.floor(given) - cycles * cycleSeconds
      const year = Math.max(yearOf(seconds), firstRailwayYear - 1)
      let spans = years.get(year)
      if (spans === undefined) {
        spans = spansOf(year, look)
        years.set(year, spans)
        spansHeld++
      }
      return spans.findLast(([from]) => from <= seconds)?.[1] ?? spans[0]?.[1] ?? 0
    },
  }
}

function yearOf(seconds: number): number {
  return new Date(seconds * 1_000).getUTCFullYear()
}

/** The offsets of a year in UTC. */
function spansOf(year: number, look: (seconds: number) => number): readonly Span[] {
  const [start, end] = [Date.UTC(year, 0, 1) / 1_000, Date.UTC(year + 1, 0, 1) / 1_000]
  let offset = look(start)
  const spans: Span[] = [[start, offset]]
  for (let from = start; from < end; from += stepDays * secondsPerDay) {
    const until = Math.min(from + stepDays * secondsPerDay, end)
    const next = look(until)
    if (next === offset) continue
    let [before, after] = [from, until]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (look(middle) === offset) before = middle
      else after = middle
    }
    spans.push([after, next])
    offset = next
  }
  return spans
}

/**
 * The time in UTC at which clocks of a zone show a time, in seconds since 1970. Of a time that clocks show twice it is
 * the second; one that they skip is read by the offset before. So do PostgreSQL and the engines.
 */
export function instantOfLocal({ offsetAt }: TimeZone, local: number): number {
  const before = offsetAt(local - secondsPerDay)
  const after = offsetAt(local + secondsPerDay)
  if (before === after && offsetAt(local - before) === before) return local - before
  for (const offset of [after, before, offsetAt(local)])
    if (offsetAt(local - offset) === offset) return local - offset
  return local - before
}

/** An offset as PostgreSQL writes it: `+02`, `-03:30`, `+00:53:28`. */
export function offsetText(offset: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const size = Math.abs(offset)
  const [hours, minutes, seconds] = [Math.floor(size / 3_600), Math.floor(size / 60) % 60, size % 60]
  const rest = seconds > 0 ? `:${two(minutes)}:${two(seconds)}` : minutes > 0 ? `:${two(minutes)}` : ''
  return `${offset < 0 ? '-' : '+'}${two(hours)}${rest}`
}
