/** Parses RFC 3339 times. `Date` alone also accepts local times and days that do not exist. */

const form = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

/**
 * Whether the calendar has this time. `Date` reads the 30th of February and hour 24 as times of a later day.
 * @param text as in `2026-01-02T03:04:05`
 */
export function isCalendarTime(text: string): boolean {
  const read = new Date(`${text}Z`)
  return !Number.isNaN(read.getTime()) && read.toISOString().slice(0, 19) === text
}

/**
 * Parses one time.
 * @returns undefined for any other text, or a day that its month does not have
 */
export function parseRfc3339(text: string): Date | undefined {
  const day = form.exec(text)?.[1]
  if (day === undefined || !isCalendarTime(`${day}T00:00:00`)) return undefined
  const time = new Date(text.toUpperCase())
  return Number.isNaN(time.getTime()) ? undefined : time
}
