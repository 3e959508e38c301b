/** Declares the operations on derived grants: a shallow clone shares its source's files, filters and masks. */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { described, list, nonEmpty, object, tableIdentifier, text, wholeNumber } from '../../http/schemas.ts'
import type { Store } from '../../store/store.ts'
import { deriveTerritory, revokeTerritory } from '../../store/territory/derive-territory.ts'
import { territoryTable } from './territory-table.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const tag = 'territory'
const granting = { scope: 'admin', roles: ['steward', 'administrator'] } as const
const catalog = described(nonEmpty, 'nickname of the catalog credential')
const tables = {
  catalog,
  table: described(tableIdentifier, 'the clone, which need not exist yet'),
  source: object({ catalog, table: tableIdentifier }),
}
const example = {
  catalog: 'main',
  table: { namespace: ['sales'], name: 'orders_trial' },
  source: { catalog: 'main', table: { namespace: ['sales'], name: 'orders' } },
}

export const derivedOperations = [
  pair({
    name: 'derive_territory',
    tag,
    summary: 'Lets a shallow clone name its source’s files',
    description:
      'Every row filter and column mask of the source applies to reading the clone, by field id, now and later. Where one cannot be matched, reading the clone is refused.',
    method: 'POST',
    path: '/territory/derived',
    access: granting,
    gives: { overseen: ['existence'] },
    input: tables,
    output: object({ prefixes: described(list(text), 'that the clone shares from now on') }),
    faults: {
      not_found: 'The tenant has no such catalog, or the source has no territory yet.',
      conflict: 'The source is the clone, or shares the clone’s territory.',
    },
    examples: [{ input: example }],
    run: async ({ parts, tenant, actor }, { catalog: nickname, table, source }) => {
      const clone = await territoryTable(parts.store, tenant, nickname, table)
      const from = await territoryTable(parts.store, tenant, source.catalog, source.table)
      return { prefixes: await deriveTerritory(parts.store, tenant, clone, from, await actor()) }
    },
  }),
  pair({
    name: 'revoke_territory',
    tag,
    summary: 'Ends what a shallow clone shares with its source',
    description: 'Queries of the clone that need the source’s files are refused from then on.',
    method: 'POST',
    path: '/territory/derived/revoke',
    access: granting,
    gives: { nothing: 'own input' },
    input: tables,
    output: object({ released: wholeNumber }),
    faults: { not_found: 'The tenant has no such catalog, or the table shares nothing with that source.' },
    examples: [{ input: example }],
    run: async ({ parts, tenant, actor }, { catalog: nickname, table, source }) => {
      const clone = await territoryTable(parts.store, tenant, nickname, table)
      const from = await territoryTable(parts.store, tenant, source.catalog, source.table)
      return { released: await revokeTerritory(parts.store, tenant, clone, from, await actor()) }
    },
  }),
].flat()
