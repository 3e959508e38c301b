/** Declares the operation that tries a catalog credential, stored or not yet. */

import { tenantOf } from '../../auth/administration/tenants.ts'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { AddressRules } from '../../catalog/address.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { isLiveCatalogKind, liveCatalogKinds } from '../../core/catalog-kinds.ts'
import type { TenantId } from '../../core/tenant.ts'
import { operationsOf } from '../../http/declare.ts'
import { anyObject, described, flag, list, maybe, nonEmpty, object, oneOf, text } from '../../http/schemas.ts'
import { findCatalogCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import type { Store } from '../../store/store.ts'
import { trialSteps, tryCatalog } from '../../vending/try-catalog.ts'

interface TrialParts {
  readonly store: Store
  readonly clock: Clock
  readonly addressRules: AddressRules
}

const operation = operationsOf<TrialParts>()

export const catalogTrialOperations = [
  operation({
    name: 'try_catalog',
    tag: 'administration',
    summary: 'Tries a catalog: settings, address, log-in, a list, storage roots, credentials for storage',
    description:
      'Changes nothing. With `catalog_kind`, `endpoint` and `config_json` it tries these, which need not be stored; without them, the stored catalog.',
    method: 'POST',
    path: '/admin/tenants/{tenant}/catalogs/{nickname}/try',
    access: { organization: 'internal admin' },
    gives: { nothing: 'administration' },
    input: object({
      tenant: text,
      nickname: nonEmpty,
      catalog_kind: maybe(oneOf(liveCatalogKinds)),
      endpoint: maybe(nonEmpty),
      config_json: maybe(described(anyObject, 'as `put_catalog` takes it')),
    }),
    output: object({
      works: described(flag, 'whether no step failed'),
      steps: list(
        object({
          step: oneOf(trialSteps),
          outcome: described(
            oneOf(['passed', 'noted', 'failed', 'skipped']),
            '`noted`: it can be used, and somebody should read the text',
          ),
          text,
        }),
      ),
    }),
    faults: {
      bad_request: 'Of the three members that describe a catalog, some are missing.',
      not_found: 'There is no such tenant, or it has no such catalog.',
    },
    examples: [{ input: { tenant: '5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11', nickname: 'lake' } }],
    run: async (
      { parts, signal },
      { tenant, nickname, catalog_kind: kind, endpoint, config_json: config },
    ) => {
      const members = [kind, endpoint, config]
      const given = members.filter((one) => one !== undefined).length
      if (given !== 0 && given !== members.length)
        throw new Fault('bad_request', 'Give `catalog_kind`, `endpoint` and `config_json` together, or none.')
      const credential =
        kind !== undefined && endpoint !== undefined && config !== undefined
          ? { id: crypto.randomUUID(), version: 0, kind, nickname, endpoint, config }
          : await storedCredential(parts.store, tenantOf(tenant), nickname)
      const steps = await tryCatalog(parts, credential, signal)
      return { works: steps.every(({ outcome }) => outcome !== 'failed'), steps }
    },
  }),
]

async function storedCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
): Promise<CatalogCredential> {
  const found = await findCatalogCredential(store, tenant, nickname)
  if (found === undefined || !isLiveCatalogKind(found.kind))
    throw new Fault('not_found', 'There is no such tenant, or it has no such catalog.')
  return found
}
