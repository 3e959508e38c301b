/** Declares the operations on a tenant's settings for reading, and on the list of changes to contracts. */

import { Type } from '@sinclair/typebox'
import { contractActions } from '../core/administration.ts'
import { goneModes, sampleAudiences } from '../core/detection.ts'
import { uncontractedModes } from '../core/uncontracted.ts'
import { deciderMembers } from '../http/actor-view.ts'
import { pageRequest } from '../http/page-view.ts'
import { anyObject, described, maybe, object, oneOf, pageInput, pageOf, text, time } from '../http/schemas.ts'
import { putReadSettings, readSettings } from '../store/contract/read-settings.ts'
import { listChanges } from './list-changes.ts'
import { auditing, contractsPath, operation, overseeing } from './parts.ts'

const tag = 'contracts'
const findingSamples = described(oneOf(sampleAudiences), 'who sees samples of findings')
const withdrawGone = described(
  oneOf(goneModes),
  'whether a tag of detection falls whose values are gone: never, once no older snapshot is listed either, or once no branch and no tag of the table has them',
)
const withdrawDays = described(Type.Integer({ minimum: 0, maximum: 3650 }), 'after how many days it does')
const uncontracted = described(
  oneOf(uncontractedModes),
  'who reads tables without an active contract: nobody, sessions that may commit by the Iceberg surface, or all that may read',
)

export const oversightOperations = [
  operation({
    name: 'get_read_settings',
    tag,
    summary: 'The tenant’s settings for reading',
    method: 'GET',
    path: `${contractsPath}/settings`,
    access: overseeing,
    gives: { nothing: 'administration' },
    output: object({
      uncontracted,
      finding_samples: findingSamples,
      withdraw_gone: withdrawGone,
      withdraw_days: withdrawDays,
    }),
    run: async ({ parts, caller }) => {
      const settings = await readSettings(parts.store, caller.tenant)
      return {
        uncontracted: settings.uncontracted,
        finding_samples: settings.findingSamples,
        withdraw_gone: settings.withdrawGone,
        withdraw_days: settings.withdrawDays,
      }
    },
  }),
  operation({
    name: 'put_read_settings',
    tag,
    summary: 'Saves the tenant’s settings for reading',
    method: 'PUT',
    path: `${contractsPath}/settings`,
    access: { scope: 'admin', roles: ['steward', 'administrator'] },
    gives: { nothing: 'own input' },
    input: object({
      uncontracted: maybe(uncontracted),
      finding_samples: maybe(findingSamples),
      withdraw_gone: maybe(withdrawGone),
      withdraw_days: maybe(withdrawDays),
    }),
    run: async ({ parts, caller }, settings) =>
      await putReadSettings(parts.store, caller.tenant, await caller.actor(), {
        uncontracted: settings.uncontracted,
        findingSamples: settings.finding_samples,
        withdrawGone: settings.withdraw_gone,
        withdrawDays: settings.withdraw_days,
      }),
  }),
  operation({
    name: 'list_contract_changes',
    tag,
    summary: 'Who changed what governs reading, newest first',
    method: 'GET',
    path: `${contractsPath}/changes`,
    access: auditing,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object(pageInput),
    output: pageOf(
      object({
        number: described(text, 'by which a proof of it is asked for'),
        at: time,
        actor: described(text, 'subject'),
        ...deciderMembers,
        action: oneOf(contractActions),
        subject: described(anyObject, 'what was changed, by name'),
        value: maybe(described(anyObject, 'what was put there')),
      }),
    ),
    run: ({ parts, caller }, page) => listChanges(parts.store, caller.tenant, pageRequest(page)),
  }),
]
