/**
 * What a document in force tells a reader in words: what the data is for, whom to ask, what is promised, and until when a
 * deprecated version is read. Whether the reader may see the table is the caller's to decide.
 */

import type { TenantId } from '../core/tenant.ts'
import { whomToAsk } from '../core/whom-to-ask.ts'
import { described, list, maybe, object, text, time, whomToAskSchema } from '../http/schemas.ts'
import { deprecatedAt, readLifeCycleSettings } from '../store/contract/life-cycle.ts'
import type { ContractVersion, RunQuery } from '../store/contract/versions.ts'
import type { Store } from '../store/store.ts'

const aboutSchema = object({ purpose: maybe(text), usage: maybe(text), limitations: maybe(text) })
const serviceLevelSchema = object({ property: text, value: text, unit: maybe(text), element: maybe(text) })
const deprecationSchema = object({
  since: time,
  until: described(time, 'it may be retired from then on'),
})

/** The members of an answer, as {@link contractWords} gives them. */
export const contractWordsMembers = {
  about: maybe(described(aboutSchema, 'the description of the document in force')),
  whom_to_ask: maybe(whomToAskSchema),
  service_levels: maybe(described(list(serviceLevelSchema), 'what its document promises, as it says')),
  deprecated: maybe(deprecationSchema),
}

/** Service levels that an answer lists. */
const levelsMax = 50

/** The words of a version in force; each member is absent where the document says nothing. */
export async function contractWords(store: Store, tenant: TenantId, version: ContractVersion, nowMs: number) {
  const { description, contacts } = version.model
  const whom = whomToAsk(contacts, nowMs)
  const levels = serviceLevelsOf(version)
  const deprecated = await deprecationOf(store, tenant, version)
  return {
    ...(description && { about: description }),
    ...(whom && { whom_to_ask: whom }),
    ...(levels.length > 0 && { service_levels: levels }),
    ...(deprecated && { deprecated }),
  }
}

/** The service levels of a version, each value as text. */
export function serviceLevelsOf({ model }: ContractVersion) {
  return model.sla.slice(0, levelsMax).map(({ property, value, unit, element }) => ({
    property,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    ...(unit !== undefined && { unit }),
    ...(element !== undefined && { element }),
  }))
}

/** Since when a version is deprecated, and until when it is read at least; undefined where it is not deprecated. */
export async function deprecationOf(store: Store, tenant: TenantId, version: ContractVersion) {
  if (version.state !== 'deprecated') return undefined
  const run: RunQuery = (query, params) => store.tenantQuery(tenant, query, params)
  const since = await deprecatedAt(run, tenant, version)
  if (since === undefined) return undefined
  const { noticeDays } = await readLifeCycleSettings(run, tenant)
  return { since, until: new Date(since.getTime() + noticeDays * 86_400_000) }
}
