/** Times as RFC 3339 writes them; `Date` alone takes local times, and days that there are not. */

const form = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

/** @returns undefined for a text that is no such time, or names a day that its month does not have */
export function parseRfc3339(text: string): Date | undefined {
  const day = form.exec(text)?.[1]
  if (day === undefined) return undefined
  const [time, midnight] = [new Date(text.toUpperCase()), new Date(`${day}T00:00:00Z`)]
  const exists = !Number.isNaN(time.getTime()) && !Number.isNaN(midnight.getTime())
  return exists && midnight.toISOString().startsWith(day) ? time : undefined
}
