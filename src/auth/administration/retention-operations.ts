/** Declares how long history is kept: the settings of a tenant, and those of the installation. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../base/fault.ts'
import { historyKinds, keepDaysMax, keepDaysMin } from '../../core/retention.ts'
import { actorMembers, actorView } from '../../http/actor-view.ts'
import { operationsOf } from '../../http/declare.ts'
import { described, list, maybe, object, oneOf, time, wholeNumber } from '../../http/schemas.ts'
import {
  deleteRetention,
  listRetention,
  listRetentionDefaults,
  putRetention,
  putRetentionDefault,
  retentionSources,
} from '../../store/history/retention.ts'
import type { Store } from '../../store/store.ts'
import { tenantOperationsOf } from './tenant-operations.ts'

type Parts = { readonly store: Store }

const pair = tenantOperationsOf<Parts>()
const operation = operationsOf<Parts>()
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner', 'auditor'] } as const
const administering = { scope: 'admin', roles: ['administrator', 'owner'] } as const
const common = { tag: 'administration' } as const
const internal = { ...common, access: { organization: 'internal admin' } } as const

const kind = oneOf(historyKinds)
const keepDays = maybe(
  described(
    Type.Integer({ minimum: keepDaysMin, maximum: keepDaysMax }),
    'days since it was received; absent: for good',
  ),
)
const example = { kind: 'commit-bodies', keep_days: 400 } as const

export const retentionOperations = [
  ...pair({
    ...common,
    name: 'list_retention',
    summary: 'How long each kind of history is kept',
    method: 'GET',
    path: '/retention',
    access: reading,
    gives: { nothing: 'administration' },
    input: {},
    output: object({
      items: list(
        object({
          kind,
          keep_days: maybe(described(wholeNumber, 'absent: for good')),
          source: oneOf(retentionSources),
        }),
      ),
    }),
    run: async ({ parts, tenant }) => ({
      items: (await listRetention(parts.store, tenant)).map((one) => ({
        kind: one.kind,
        keep_days: one.keepDays,
        source: one.source,
      })),
    }),
  }),
  ...pair({
    ...common,
    name: 'put_retention',
    summary: 'Says how long a kind of the tenant’s history is kept',
    description: 'Nothing is removed while a legal hold stands on its table or on the tenant.',
    method: 'PUT',
    path: '/retention/{kind}',
    access: administering,
    gives: { nothing: 'own input' },
    input: { kind, keep_days: keepDays },
    examples: [{ input: example }],
    run: async ({ parts, tenant, actor }, input) =>
      await putRetention(parts.store, tenant, input.kind, input.keep_days, await actor()),
  }),
  ...pair({
    ...common,
    name: 'delete_retention',
    summary: 'Leaves a kind of the tenant’s history to the setting of the installation',
    method: 'DELETE',
    path: '/retention/{kind}',
    access: administering,
    gives: { nothing: 'own input' },
    input: { kind },
    faults: { not_found: 'The tenant has no setting of its own for this kind.' },
    run: async ({ parts, tenant, actor }, input) => {
      if (!(await deleteRetention(parts.store, tenant, input.kind, await actor())))
        throw new Fault('not_found', 'The tenant has no setting of its own for this kind.')
    },
  }),
  operation({
    ...internal,
    name: 'list_installation_retention',
    summary: 'The settings of the installation, for tenants without their own',
    method: 'GET',
    path: '/admin/retention',
    gives: { nothing: 'administration' },
    input: object({}),
    output: object({
      items: list(
        object({
          kind,
          keep_days: maybe(described(wholeNumber, 'absent: for good')),
          set_at: time,
          set_by: object(actorMembers),
        }),
      ),
    }),
    run: async ({ parts }) => ({
      items: (await listRetentionDefaults(parts.store)).map((one) => ({
        kind: one.kind,
        keep_days: one.keepDays,
        set_at: one.at,
        set_by: actorView(one.by),
      })),
    }),
  }),
  operation({
    ...internal,
    name: 'put_installation_retention',
    summary: 'Says how long a kind of history is kept of tenants without a setting of their own',
    method: 'PUT',
    path: '/admin/retention/{kind}',
    gives: { nothing: 'own input' },
    input: object({ kind, keep_days: keepDays }),
    examples: [{ input: example }],
    run: async ({ parts, caller }, input) =>
      await putRetentionDefault(parts.store, input.kind, input.keep_days, await caller.actor()),
  }),
]
