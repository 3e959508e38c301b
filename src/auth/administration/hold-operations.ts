/** Declares legal holds of a tenant: while one stands, retention removes nothing of its table or tenant. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  maybe,
  object,
  pageInput,
  pageOf,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import { type LegalHold, listHolds, releaseHold, setHold } from '../../store/history/holds.ts'
import type { Store } from '../../store/store.ts'
import { tenantOperationsOf } from './tenant-operations.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const tag = 'administration'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner', 'auditor'] } as const
const holding = { scope: 'admin', roles: ['steward'] } as const
const unknown = { not_found: 'No such hold of the tenant stands.' }
const reason = Type.String({ minLength: 1, maxLength: limits.decisionReasonCharsMax })

const hold = object({
  id: uuid,
  table: maybe(described(tableIdentifier, 'absent: the whole tenant')),
  reason: text,
  set_at: time,
  set_by: object(actorMembers),
  release: maybe(object({ reason: text, released_at: time, released_by: object(actorMembers) })),
})

function view({ release, ...one }: LegalHold) {
  return {
    id: one.id,
    table: one.table,
    reason: one.reason,
    set_at: one.setAt,
    set_by: actorView(one.setBy),
    release: release && {
      reason: release.reason,
      released_at: release.at,
      released_by: actorView(release.by),
    },
  }
}

export const holdOperations = [
  pair({
    name: 'list_holds',
    tag,
    summary: 'Legal holds, also those that were released',
    method: 'GET',
    path: '/holds',
    access: reading,
    gives: { overseen: ['existence'] },
    input: pageInput,
    output: pageOf(hold),
    run: async ({ parts, tenant }, page) =>
      pageView(await listHolds(parts.store, tenant, pageRequest(page)), view),
  }),
  pair({
    name: 'set_hold',
    tag,
    summary: 'Sets a legal hold on a table, or on the whole tenant',
    description: 'Retention removes nothing of it while the hold stands. The table need not exist any more.',
    method: 'POST',
    path: '/holds',
    access: holding,
    gives: { nothing: 'own input' },
    status: 201,
    input: {
      table: maybe(described(tableIdentifier, 'absent: the whole tenant')),
      reason,
    },
    output: hold,
    examples: [
      { input: { table: { namespace: ['sales'], name: 'orders' }, reason: 'Case 4711 of the tax office' } },
    ],
    run: async ({ parts, tenant, actor }, input) => {
      if (input.reason.trim() === '') throw new Fault('bad_request', 'A hold needs a reason.')
      const { table, reason } = input
      return view(await setHold(parts.store, tenant, { table, reason }, await actor()))
    },
  }),
  pair({
    name: 'release_hold',
    tag,
    summary: 'Releases a legal hold',
    method: 'POST',
    path: '/holds/{id}/release',
    access: holding,
    gives: { overseen: ['existence'] },
    input: { id: uuid, reason },
    output: hold,
    faults: unknown,
    examples: [{ input: { id: '8a6e0804-2bd0-4672-b79d-d97027f9071a', reason: 'The case was closed.' } }],
    run: async ({ parts, tenant, actor }, input) => {
      if (input.reason.trim() === '') throw new Fault('bad_request', 'A release needs a reason.')
      const released = await releaseHold(parts.store, tenant, input.id, input.reason, await actor())
      if (released === undefined) throw new Fault('not_found', unknown.not_found)
      return view(released)
    },
  }),
].flat()
