/** Declares the operations on the tenant's map from classifications in contract documents to tags. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { described, list, object, text } from '../http/schemas.ts'
import { limits } from '../limits.ts'
import {
  type ClassificationTag,
  classificationKey,
  readClassificationTags,
  saveClassificationTags,
} from '../store/contract/classification-tags.ts'
import type { Store } from '../store/store.ts'
import { checkName } from './change.ts'
import { contractsPath, operation, overseeing } from './parts.ts'

const path = `${contractsPath}/settings/classifications`
const tag = 'contracts'
const classification = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'of a property of a document; compared without regard to case, else exactly',
})
const shown = object({
  items: list(
    object({
      classification,
      tag: described(text, 'the tag that its column gets from the document in force'),
    }),
  ),
})

export const classificationOperations = [
  operation({
    name: 'get_classification_tags',
    tag,
    summary: 'Which tag each classification in contract documents gives',
    method: 'GET',
    path,
    access: overseeing,
    gives: { nothing: 'administration' },
    output: shown,
    run: async ({ parts, caller }) => ({ items: [...(await tagsOf(parts.store, caller.tenant))] }),
  }),
  operation({
    name: 'put_classification_tags',
    tag,
    summary: 'Saves which tag each classification gives, in place of all that were saved',
    description: 'No tag changes by it. Tags come and go with the next document that is put in force.',
    method: 'PUT',
    path,
    access: { scope: 'admin', roles: ['steward', 'administrator'] },
    gives: { nothing: 'own input' },
    input: shown,
    run: async ({ parts, caller }, { items }) => {
      checkTags(items)
      await saveClassificationTags(parts.store, caller.tenant, await caller.actor(), items)
    },
  }),
]

function tagsOf(store: Store, tenant: TenantId): Promise<readonly ClassificationTag[]> {
  return readClassificationTags((statement, params) => store.tenantQuery(tenant, statement, params), tenant)
}

/** @throws Fault `bad_request` for too many entries, a malformed tag, or a classification that is there twice */
function checkTags(items: readonly ClassificationTag[]): void {
  if (items.length > limits.classificationTagsMax)
    throw new Fault('bad_request', `At most ${limits.classificationTagsMax} classifications give a tag.`)
  const seen = new Set<string>()
  for (const one of items) {
    checkName(one.tag)
    const key = classificationKey(one.classification)
    if (seen.has(key))
      throw new Fault(
        'bad_request',
        `The classification ${one.classification} is there twice. Letters count alike in either case.`,
      )
    seen.add(key)
  }
}
