/** Declares the operations on a tenant's territory: its mode, prefixes, conflicts, grants, releases and hand-overs. */

import { readerOf, tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { manifestModes, territoryKinds, territoryModes } from '../../core/territory-owner.ts'
import { howToRename } from '../../core/unusable-names.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  time,
  wholeNumber,
} from '../../http/schemas.ts'
import { ancestorsOf, canonicalPrefix } from '../../storage/canonical-path.ts'
import { isOutOfBounds } from '../../storage/roots.ts'
import { forWhom, givesWritten, showsWritten } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'
import {
  grantTerritory,
  handOverTerritory,
  putTerritoryMode,
  releaseTerritory,
} from '../../store/territory/administer-territory.ts'
import { listConflicts, listTerritory, territoryState } from '../../store/territory/list-territory.ts'
import { conflictReasons, conflictSources } from '../../store/territory/territory-rows.ts'
import { derivedOperations } from './derived-operations.ts'
import { quarantineOperations } from './quarantine-operations.ts'
import { territoryTable } from './territory-table.ts'

interface Parts {
  readonly store: Store
}

const pair = tenantOperationsOf<Parts>()
const tag = 'territory'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const
const granting = { scope: 'admin', roles: ['steward', 'administrator'] } as const
const administering = { scope: 'admin', roles: ['administrator', 'owner'] } as const

const catalog = described(nonEmpty, 'nickname of the catalog credential')
const prefixText = described(nonEmpty, 'a folder, such as `s3://lake/imported/orders/`')
const released = object({ released: wholeNumber })
const unknown = 'The tenant has no such catalog, or the table has no such territory.'

export const territoryOperations = [
  pair({
    name: 'get_territory',
    tag,
    summary: 'The mode of the tenant’s territory, its conflicts counted, and the sweep of each catalog',
    method: 'GET',
    path: '/territory',
    access: reading,
    gives: { nothing: 'administration' },
    input: {},
    output: object({
      mode: oneOf(territoryModes),
      version: text,
      manifests: described(oneOf(manifestModes), 'when the manifests that commits bring are checked'),
      conflicts: wholeNumber,
      quarantined: described(wholeNumber, 'snapshots that may not be read'),
      checks: described(wholeNumber, 'commits whose manifests are still to be checked'),
      check_problem: maybe(described(text, 'why the last try of one of these failed')),
      sweeps: list(
        object({
          catalog,
          started_at: maybe(time),
          finished_at: maybe(described(time, 'absent until the first sweep has finished')),
          tables: wholeNumber,
          failed: described(wholeNumber, 'tables that could not be read'),
          problem: maybe(text),
          unusable: maybe(
            described(
              object({
                count: wholeNumber,
                names: described(list(text), 'the first, with their namespaces'),
                advice: text,
              }),
              'names in the catalog that the service cannot address; absent where there are none',
            ),
          ),
        }),
      ),
    }),
    run: async ({ parts, tenant }) => {
      const { sweeps, checkProblem, ...state } = await territoryState(parts.store, tenant)
      return {
        ...state,
        check_problem: checkProblem,
        sweeps: sweeps.map(({ startedAt, finishedAt, unusable, ...sweep }) => ({
          ...sweep,
          unusable: unusable && { ...unusable, advice: howToRename },
          started_at: startedAt,
          finished_at: finishedAt,
        })),
      }
    },
  }),
  pair({
    name: 'put_territory_mode',
    tag,
    summary: 'Switches between observing and enforcing',
    method: 'PUT',
    path: '/territory/mode',
    access: administering,
    gives: { nothing: 'own input' },
    input: { mode: oneOf(territoryModes) },
    faults: { conflict: 'The first sweep of a catalog has not finished, so nothing is enforced yet.' },
    examples: [{ input: { mode: 'enforce' } }],
    run: async ({ parts, tenant, actor }, { mode }) =>
      await putTerritoryMode(parts.store, tenant, mode, await actor()),
  }),
  pair({
    name: 'list_territory',
    tag,
    summary: 'The prefixes that belong to tables',
    method: 'GET',
    path: '/territory/prefixes',
    access: reading,
    gives: { overseen: ['existence'] },
    input: { ...tableFilter, ...pageInput },
    output: pageOf(
      object({
        prefix: text,
        kind: oneOf(territoryKinds),
        table: tableIdentifier,
        table_uuid: maybe(text),
        catalog: maybe(described(text, 'absent where its credential was removed')),
        source: maybe(described(tableIdentifier, 'whose files a clone shares; for the kind `derived`')),
        since: time,
        dropped_at: maybe(described(time, 'since when the table is known to be gone')),
      }),
    ),
    run: async ({ parts, tenant }, page) =>
      pageView(
        await listTerritory(parts.store, tenant, tablePageRequest(page)),
        ({ tableUuid, droppedAt, ...held }) => ({ ...held, table_uuid: tableUuid, dropped_at: droppedAt }),
      ),
  }),
  pair({
    name: 'list_territory_conflicts',
    tag,
    summary: 'Locations that tables name outside of their territory',
    method: 'GET',
    path: '/territory/conflicts',
    access: reading,
    gives: givesWritten,
    input: { ...tableFilter, ...pageInput },
    output: pageOf(
      object({
        table: tableIdentifier,
        catalog: maybe(text),
        prefix: maybe(described(text, `the folder of the location; ${forWhom}`)),
        reason: oneOf(conflictReasons),
        source: oneOf(conflictSources),
        owner: maybe(described(tableIdentifier, 'whose territory it is; absent where it is nobody’s')),
        found_at: time,
        last_seen_at: time,
        seen: wholeNumber,
      }),
    ),
    run: async (context, page) => {
      const { store } = context.parts
      const found = await listConflicts(store, context.tenant, tablePageRequest(page))
      const tables = found.items.map(({ table }) => table)
      const shown = await showsWritten(store, context.tenant, await readerOf(context), tables)
      return pageView(found, ({ foundAt, lastSeenAt, prefix, ...conflict }) => ({
        ...conflict,
        ...(shown(conflict.table) && { prefix }),
        found_at: foundAt,
        last_seen_at: lastSeenAt,
      }))
    },
  }),
  pair({
    name: 'grant_territory',
    tag,
    summary: 'Grants a table a prefix that is nobody’s territory',
    description: 'For files that were written elsewhere, as `add_files` takes them.',
    method: 'POST',
    path: '/territory/grants',
    access: granting,
    gives: { nothing: 'own input' },
    input: { catalog, table: tableIdentifier, prefix: prefixText },
    output: object({ prefix: described(text, 'in canonical form') }),
    faults: {
      not_found: 'The tenant has no such catalog.',
      conflict: 'The prefix overlaps the territory of another table.',
    },
    examples: [
      {
        input: {
          catalog: 'main',
          table: { namespace: ['sales'], name: 'orders' },
          prefix: 's3://lake/imported/orders/',
        },
      },
    ],
    run: async ({ parts, tenant, actor }, { catalog: nickname, table, prefix }) => {
      const granted = folder(prefix)
      const to = await territoryTable(parts.store, tenant, nickname, table)
      if (isOutOfBounds(granted.prefix, to.roots))
        throw new Fault('bad_request', 'The prefix lies outside of the storage roots of the catalog.')
      await grantTerritory(parts.store, tenant, to, granted, await actor())
      return { prefix: granted.prefix }
    },
  }),
  pair({
    name: 'release_territory',
    tag,
    summary: 'Releases the territory of a dropped table, or a prefix that was granted',
    description:
      'Another table may take what is released. Files that are still there become readable through it.',
    method: 'POST',
    path: '/territory/releases',
    access: administering,
    gives: { nothing: 'own input' },
    input: {
      catalog,
      table: tableIdentifier,
      prefix: maybe(described(nonEmpty, 'a granted prefix; absent for all that a dropped table has')),
    },
    output: released,
    faults: { not_found: unknown, conflict: 'The table is not known to be dropped.' },
    examples: [{ input: { catalog: 'main', table: { namespace: ['sales'], name: 'gone' } } }],
    run: async ({ parts, tenant, actor }, { catalog: nickname, table, prefix }) => {
      const of = await territoryTable(parts.store, tenant, nickname, table)
      const granted = prefix === undefined ? undefined : folder(prefix).prefix
      return { released: await releaseTerritory(parts.store, tenant, of, granted, await actor()) }
    },
  }),
  pair({
    name: 'hand_territory_over',
    tag,
    summary: 'Hands the territory of a dropped table over to the name or catalog to which it moves',
    description:
      'Refused while the old name is there. Hand over before the table is registered under the new one.',
    method: 'POST',
    path: '/territory/hand-overs',
    access: administering,
    gives: { nothing: 'own input' },
    input: {
      from: object({ catalog, table: tableIdentifier }),
      to: object({ catalog, table: tableIdentifier }),
      table_uuid: described(nonEmpty, 'of the table that moves'),
    },
    output: object({ handed_over: wholeNumber }),
    faults: { not_found: unknown, conflict: 'The old name is there, or the table has another uuid.' },
    run: async ({ parts, tenant, actor }, { from, to, table_uuid: tableUuid }) => {
      const old = await territoryTable(parts.store, tenant, from.catalog, from.table)
      const next = await territoryTable(parts.store, tenant, to.catalog, to.table)
      const moved = await handOverTerritory(parts.store, tenant, old, next, tableUuid, await actor())
      return { handed_over: moved }
    },
  }),
  ...derivedOperations,
  ...quarantineOperations,
].flat()

/** @throws Fault `bad_request` for a text that is no folder in canonical form, or a whole bucket */
function folder(given: string): { readonly prefix: string; readonly ancestors: readonly string[] } {
  const canonical = canonicalPrefix(given)
  if (!canonical.isClear) throw new Fault('bad_request', `The location of the prefix ${canonical.reason}.`)
  const ancestors = ancestorsOf(canonical.path)
  if (ancestors.length < 2) throw new Fault('bad_request', 'A whole bucket or root folder cannot be granted.')
  return { prefix: canonical.path, ancestors }
}
