/** Times as RFC 3339 writes them; `Date` alone takes local times, and days that there are not. */

const form = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

/**
 * Whether the calendar has such a time: `Date` reads the 30th of February and the hour 24 as times of the day after.
 * @param text as in `2026-01-02T03:04:05`
 */
export function isCalendarTime(text: string): boolean {
  const read = new Date(`${text}Z`)
  return !Number.isNaN(read.getTime()) && read.toISOString().slice(0, 19) === text
}

/** @returns undefined for a text that is no such time, or names a day that its month does not have */
export function parseRfc3339(text: string): Date | undefined {
  const day = form.exec(text)?.[1]
  if (day === undefined || !isCalendarTime(`${day}T00:00:00`)) return undefined
  const time = new Date(text.toUpperCase())
  return Number.isNaN(time.getTime()) ? undefined : time
}
