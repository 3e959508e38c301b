/** Builds pages of a listing: a bounded number of items, and the token of the next page. */

import { Fault } from '../../base/fault.ts'
import { isCalendarTime } from '../../base/rfc3339.ts'

export interface PageRequest {
  /** Items wanted; default 100, at most 1000. */
  readonly limit?: number | undefined
  /** `next` of the previous page. */
  readonly after?: string | undefined
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Absent on the last page. */
  readonly next?: string
}

const limitDefault = 100
const limitMax = 1000

/** The number of items of a page. @throws Fault `bad_request` where it is not a whole number from 1 to 1000 */
export function pageLimit({ limit = limitDefault }: PageRequest): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    throw new Fault('bad_request', `A page holds 1 to ${limitMax} items.`)
  return limit
}

/**
 * Makes a page from rows that were queried with a limit of one more than the page holds.
 * @param position the token of a page that begins after `item`
 */
export function toPage<T>(rows: readonly T[], limit: number, position: (item: T) => string): Page<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return rows.length > limit && last !== undefined ? { items, next: position(last) } : { items }
}

/** Every item of a listing, page by page. @param load gives one page of it */
export async function* everyItem<T>(load: (page: PageRequest) => Promise<Page<T>>): AsyncGenerator<T> {
  let after: string | undefined
  do {
    const page = await load(after === undefined ? {} : { after })
    yield* page.items
    after = page.next
  } while (after !== undefined)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether `text` is a UUID as PostgreSQL prints it. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/** `after` of a listing in UUID order. @throws Fault `bad_request` where it is no token of such a listing */
export function afterUuid({ after }: PageRequest): string {
  if (after === undefined) return '00000000-0000-0000-0000-000000000000'
  if (!isUuid(after)) throw new Fault('bad_request', 'The page token is not valid.')
  return after
}

/** `after` of a listing in counter order. @throws Fault `bad_request` where it is no token of such a listing */
export function afterCount({ after }: PageRequest): string | undefined {
  // Fewer digits than a bigint has, so that no number is out of range. The graph's numbers have no leading zero.
  if (after !== undefined && !/^(?:0|[1-9]\d{0,17})$/.test(after))
    throw new Fault('bad_request', 'The page token is not valid.')
  return after
}

/** SQL of the token of a row in a listing by time and id, as {@link afterPosition} reads it. */
export function positionText(time: string, id: string): string {
  return `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '.' || ${id}`
}

/** `after` of a listing by time and id. @throws Fault `bad_request` where it is no token of such a listing */
export function afterPosition({
  after,
}: PageRequest): readonly [time: string | undefined, id: string | undefined] {
  if (after === undefined) return [undefined, undefined]
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\.(.{36})$/.exec(after)
  if (match?.[1] === undefined || match[2] === undefined || !isUuid(match[2]) || !isDate(match[1]))
    throw new Fault('bad_request', 'The page token is not valid.')
  return [match[1], match[2]]
}

/** Whether PostgreSQL accepts the date: a year from 1 on, and a day that the month has. */
function isDate(text: string): boolean {
  return !text.startsWith('0000') && isCalendarTime(text.slice(0, 19))
}
