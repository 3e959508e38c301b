/**
 * Declares the months of history under /admin: which there are, detaching one, verifying one. A month holds rows of every
 * tenant, so they are for the internal admin organization.
 */

import { Fault } from '../../base/fault.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { operationsOf } from '../../http/declare.ts'
import {
  described,
  flag,
  list,
  maybe,
  object,
  oneOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import {
  detachMonth,
  listMonths,
  type Month,
  monthTenants,
  type Verifying,
  verifyMonth,
} from '../../store/history/months.ts'
import type { Store } from '../../store/store.ts'

const operation = operationsOf<{ readonly store: Store }>()
const common = { tag: 'administration', access: { organization: 'internal admin' } } as const
const name = described(text, 'such as `audit_log_2026_01`')
const unknown = { not_found: 'There is no such month.' }
const pageToken = maybe(described(text, 'of the answer before'))

const month = object({
  name,
  kind: oneOf(['audit', 'usage']),
  starts: maybe(described(time, 'absent: it holds all that was there before')),
  ends: time,
  detached: maybe(
    object({
      at: time,
      by: object(actorMembers),
      rows: wholeNumber,
      sha256: described(text, 'of its rows, beginning with `previous_sha256`'),
      previous_sha256: maybe(described(text, 'of the month of its kind that was detached before')),
      dropped: described(flag, 'whether its table was dropped'),
    }),
  ),
})

function view({ detached, ...one }: Month) {
  return {
    ...one,
    detached: detached && {
      at: detached.at,
      by: actorView(detached.by),
      rows: detached.rows,
      sha256: detached.sha256,
      previous_sha256: detached.previousSha256,
      dropped: detached.isDropped,
    },
  }
}

async function existingMonth(store: Store, wanted: string): Promise<Month> {
  const found = (await listMonths(store)).find((one) => one.name === wanted)
  if (found === undefined) throw new Fault('not_found', unknown.not_found)
  return found
}

/** The position of a verification as a page token. @throws Fault `bad_request` where the token is not one */
function positionOf(token: string | undefined): Verifying | undefined {
  if (token === undefined) return undefined
  const [tenant = '', number = '', running = '', rows = '', ...more] = token.split('.')
  const isValid =
    more.length === 0 &&
    /^[0-9a-f-]{36}$/.test(tenant) &&
    [number, rows].every((one) => /^\d{1,15}$/.test(one))
  if (!isValid) throw new Fault('bad_request', 'The page token is not valid.')
  return { tenant, number, running, rows: Number(rows) }
}

export const monthOperations = [
  operation({
    ...common,
    name: 'list_months',
    summary: 'The months of the audit log and of usage records, also those that were detached',
    method: 'GET',
    path: '/admin/months',
    gives: { nothing: 'administration' },
    input: object({}),
    output: object({ items: list(month) }),
    run: async ({ parts }) => ({ items: (await listMonths(parts.store)).map(view) }),
  }),
  operation({
    ...common,
    name: 'list_month_tenants',
    summary: 'What each tenant has in an attached month, and what keeps it there; changes nothing',
    method: 'GET',
    path: '/admin/months/{name}/tenants',
    gives: { nothing: 'administration' },
    input: object({ name }),
    output: object({
      items: list(
        object({
          tenant: uuid,
          rows: wholeNumber,
          keep_days: maybe(described(wholeNumber, 'absent: for good')),
          expired: described(flag, 'whether the month is past that'),
          holds: described(wholeNumber, 'legal holds on what the tenant has in it'),
        }),
      ),
    }),
    faults: { ...unknown, conflict: 'The month is detached.' },
    run: async ({ parts }, input) => {
      const { detached } = await existingMonth(parts.store, input.name)
      if (detached !== undefined) throw new Fault('conflict', 'This month is detached already.')
      return {
        items: (await monthTenants(parts.store, input.name)).map((one) => ({
          tenant: one.tenant,
          rows: one.rows,
          keep_days: one.keepDays,
          expired: one.isExpired,
          holds: one.holds,
        })),
      }
    },
  }),
  operation({
    ...common,
    name: 'detach_month',
    summary: 'Detaches a month from its table, leaving its count and hash',
    description:
      'A call works for some seconds and says how far it is; while there is a `next_page_token`, call again. The month is kept where a setting or a legal hold of any tenant with rows in it says so. A month of the audit log takes its edges and snapshots in the graph along.',
    method: 'POST',
    path: '/admin/months/{name}/detach',
    gives: { nothing: 'administration' },
    input: object({ name, page_token: pageToken }),
    output: object({
      items: list(object({ step: oneOf(['hash', 'remove', 'detach', 'detached']), rows: wholeNumber })),
      next_page_token: maybe(text),
    }),
    faults: {
      ...unknown,
      conflict: 'A setting or hold keeps the month, it is not over, or an earlier one is attached.',
    },
    examples: [{ input: { name: 'audit_log_2026_01' } }],
    run: async ({ parts, caller }, input) => {
      await existingMonth(parts.store, input.name)
      const at = await detachMonth(parts.store, input.name, await caller.actor())
      return { items: [at], ...(at.step !== 'detached' && { next_page_token: at.step }) }
    },
  }),
  operation({
    ...common,
    name: 'verify_month',
    summary: 'Hashes a detached month again and compares it with its record',
    description: 'A call works for some seconds; while there is a `next_page_token`, call again.',
    method: 'POST',
    path: '/admin/months/{name}/verify',
    gives: { nothing: 'administration' },
    input: object({ name, page_token: pageToken }),
    output: object({
      items: list(object({ verified: flag, rows: wholeNumber })),
      next_page_token: maybe(text),
    }),
    faults: { ...unknown, conflict: 'The month differs from its record, is attached, or was dropped.' },
    examples: [{ input: { name: 'audit_log_2026_01' } }],
    run: async ({ parts }, input) => {
      const found = await existingMonth(parts.store, input.name)
      const at = await verifyMonth(parts.store, found, positionOf(input.page_token))
      if (at === undefined) return { items: [{ verified: true, rows: found.detached?.rows ?? 0 }] }
      return {
        items: [{ verified: false, rows: at.rows }],
        next_page_token: [at.tenant, at.number, at.running, at.rows].join('.'),
      }
    },
  }),
]
