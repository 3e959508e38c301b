/**
 * Declares the removal of a tenant under /admin: one person asks, another confirms, and it waits. What removes it is the
 * job `remove-tenants`.
 */

import { Type } from '@sinclair/typebox'
import type { SessionPerson } from '../../core/same-person.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  maybe,
  object,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { removalWaitDays } from '../../limits.ts'
import type { Store } from '../../store/store.ts'
import {
  askTenantRemoval,
  confirmTenantRemoval,
  listTenantRemovals,
  type TenantRemoval,
  withdrawTenantRemoval,
} from '../../store/tenant/removals.ts'
import { tenantOf } from './tenants.ts'

const operation = operationsOf<{ readonly store: Store }>()
const common = { tag: 'administration', access: { organization: 'internal admin' } } as const
const removalPath = '/admin/tenants/{tenant}/removal' as const
const unknown = 'There is no such tenant, or its removal was not asked for.'

const person = object({ sub: text, session_created_by: maybe(text) })
const step = { at: time, by: person }
const removal = object({
  id: uuid,
  tenant: uuid,
  wait_days: wholeNumber,
  export_sha256: maybe(described(text, 'of the manifest of an export, as who asked named it')),
  asked: object(step),
  confirmed: maybe(object({ ...step, due_at: described(time, 'removed at this time or later') })),
  withdrawn: maybe(object(step)),
  started_at: maybe(described(time, 'from when on it cannot be withdrawn')),
  removed_at: maybe(time),
  counts: described(
    Type.Unsafe<Readonly<Record<string, number>>>({ type: 'object', additionalProperties: wholeNumber }),
    'rows that were removed, by table',
  ),
})

const personView = ({ sub, createdBy }: SessionPerson) => ({ sub, session_created_by: createdBy })

function view({ asked, confirmed, withdrawn, ...one }: TenantRemoval) {
  return {
    id: one.id,
    tenant: one.tenant,
    wait_days: one.waitDays,
    export_sha256: one.exportSha256,
    asked: { at: asked.at, by: personView(asked.by) },
    confirmed: confirmed && { at: confirmed.at, by: personView(confirmed.by), due_at: confirmed.due },
    withdrawn: withdrawn && { at: withdrawn.at, by: personView(withdrawn.by) },
    started_at: one.startedAt,
    removed_at: one.removedAt,
    counts: one.counts,
  }
}

export const removalOperations = [
  operation({
    ...common,
    name: 'list_tenant_removals',
    summary: 'Removals of tenants that were asked for, newest first; those of tenants that are gone, too',
    method: 'GET',
    path: '/admin/removals',
    gives: { nothing: 'administration' },
    input: object(pageInput),
    output: pageOf(removal),
    run: async ({ parts }, page) => pageView(await listTenantRemovals(parts.store, pageRequest(page)), view),
  }),
  operation({
    ...common,
    name: 'ask_tenant_removal',
    summary: 'Asks for the removal of a tenant, which another person confirms',
    description: 'The tenant goes on serving. Legal holds that stand refuse it.',
    method: 'POST',
    path: removalPath,
    gives: { nothing: 'administration' },
    input: object({
      tenant: text,
      wait_days: maybe(
        described(
          Type.Integer({ minimum: removalWaitDays.min, maximum: removalWaitDays.max, default: 30 }),
          'days from the confirmation to the removal',
        ),
      ),
      export_sha256: maybe(
        described(Type.String({ pattern: '^[0-9a-f]{64}$' }), 'of the manifest of an export, in hex'),
      ),
    }),
    output: removal,
    status: 201,
    faults: {
      not_found: 'There is no such tenant.',
      forbidden: 'The call names no person.',
      conflict: 'Legal holds or detached months keep the tenant, or its removal was asked for already.',
    },
    examples: [{ input: { tenant: '5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11', wait_days: 30 } }],
    run: async ({ parts, caller }, { tenant, wait_days: days, export_sha256: exportSha256 }) => {
      const wanted = { waitDays: days ?? removalWaitDays.usual, exportSha256 }
      return view(await askTenantRemoval(parts.store, tenantOf(tenant), wanted, await caller.actor()))
    },
  }),
  operation({
    ...common,
    name: 'confirm_tenant_removal',
    summary:
      'Confirms a removal that another person asked for: the tenant is suspended, and its waiting time begins',
    method: 'POST',
    path: `${removalPath}/confirm`,
    gives: { nothing: 'administration' },
    input: object({ tenant: text }),
    output: removal,
    faults: {
      not_found: unknown,
      forbidden: 'The call names no person, or the person who asked.',
      conflict: 'Legal holds or detached months keep the tenant, or its removal is confirmed already.',
    },
    run: async ({ parts, caller }, { tenant }) =>
      view(await confirmTenantRemoval(parts.store, tenantOf(tenant), await caller.actor())),
  }),
  operation({
    ...common,
    name: 'withdraw_tenant_removal',
    summary: 'Withdraws a removal that has not begun; the tenant stays suspended until it is resumed',
    method: 'POST',
    path: `${removalPath}/withdraw`,
    gives: { nothing: 'administration' },
    input: object({ tenant: text }),
    output: removal,
    faults: { not_found: unknown, conflict: 'The removal has begun.' },
    run: async ({ parts, caller }, { tenant }) =>
      view(await withdrawTenantRemoval(parts.store, tenantOf(tenant), await caller.actor())),
  }),
]
