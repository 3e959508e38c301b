/** Declares the operations on a tenant's settings for reading, and on the list of changes to contracts. */

import { contractActions } from '../core/administration.ts'
import { sampleAudiences } from '../core/detection.ts'
import { deciderMembers } from '../http/actor-view.ts'
import { pageRequest } from '../http/page-view.ts'
import {
  anyObject,
  described,
  flag,
  maybe,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
} from '../http/schemas.ts'
import { putReadSettings, readSettings } from '../store/contract/read-settings.ts'
import { listChanges } from './list-changes.ts'
import { auditing, contractsPath, operation, overseeing } from './parts.ts'

const tag = 'contracts'
const findingSamples = described(oneOf(sampleAudiences), 'who sees samples of findings')
const settings = object({ readable_without_contract: flag, finding_samples: findingSamples })

export const oversightOperations = [
  operation({
    name: 'get_read_settings',
    tag,
    summary: 'The tenant’s settings for reading',
    method: 'GET',
    path: `${contractsPath}/settings`,
    access: overseeing,
    gives: { nothing: 'administration' },
    output: settings,
    run: async ({ parts, caller }) => {
      const { readableWithoutContract, findingSamples } = await readSettings(parts.store, caller.tenant)
      return { readable_without_contract: readableWithoutContract, finding_samples: findingSamples }
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
    input: object({ readable_without_contract: flag, finding_samples: maybe(findingSamples) }),
    run: async ({ parts, caller }, { readable_without_contract, finding_samples }) =>
      await putReadSettings(parts.store, caller.tenant, await caller.actor(), {
        readableWithoutContract: readable_without_contract,
        findingSamples: finding_samples,
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
