/** `covenant compare`: says where the catalogs differ from the audit, as after a restore of the database. */

import { addressRules } from '../catalog/address.ts'
import { OpenCatalogs } from '../catalog/open-catalog.ts'
import { parseConfig } from '../config.ts'
import { tableName } from '../core/table-ref.ts'
import { parseTenantId } from '../core/tenant.ts'
import { compareTables, type TableStanding, tableStandings } from '../gateway/recovery/compare-tables.ts'
import { openConfiguredStore } from '../open-store.ts'
import { countIntents } from '../store/commit/commit-intents.ts'
import type { Store } from '../store/store.ts'
import { eachTenant } from '../store/tenant/tenants.ts'
import { exitStatus, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant compare [--tenant ID]

Asks every catalog for every table that the audit knows, and prints a line for each that is not where the audit ends:
  ahead       the catalog has changes that the audit does not have, as after a restore of the database
  behind      the catalog is at an earlier audited state, as after a restore of the catalog
  absent      the catalog has no such table
  unreadable  the catalog could not be asked
It changes nothing. The settings are those of the service.

  --tenant ID  of this tenant only
Exit status: 0 all tables are the same, 1 some are not or it failed, 64 wrong usage, 69 database not reachable, 78 wrong configuration.`

/** @returns the exit status */
export async function compare(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    const [flag, id = '', ...more] = words
    const tenant = parseTenantId(id)
    if (words.length > 0 && (flag !== '--tenant' || more.length > 0 || tenant === undefined))
      throw new UsageError('`compare` takes `--tenant` and the id of a tenant only.')
    return await run(tenant === undefined ? undefined : [tenant], terminal)
  } catch (error) {
    return reportFailure(error, 'covenant compare', terminal)
  }
}

async function run(
  only: readonly NonNullable<ReturnType<typeof parseTenantId>>[] | undefined,
  { env, print, complain, interrupted }: Terminal,
): Promise<number> {
  // A look at a database must not change it.
  const config = { ...parseConfig(env), migrate: false }
  const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
  const store = await openConfiguredStore(config, unmeasured, { warn: complain }, 'look')
  const catalogs = new OpenCatalogs({ addressRules: addressRules(config.upstreamAllow) })
  const signal = interrupted?.() ?? new AbortController().signal
  const counts = Object.fromEntries(tableStandings.map((standing) => [standing, 0])) as Record<
    TableStanding,
    number
  >
  try {
    for await (const tenant of only ?? eachTenant(store, signal))
      for await (const { table, standing, audited, found, unaudited } of compareTables(
        { store, catalogs },
        tenant,
        signal,
      )) {
        counts[standing] += 1
        if (standing === 'same') continue
        const ahead = standing === 'ahead' ? `  ${unaudited} unaudited` : ''
        print(`${standing}  ${tenant}  ${tableName(table)}${ahead}`)
        print(`  audit    ${audited.metadataLocation}  ${audited.at.toISOString()}`)
        if (found !== undefined) print(`  catalog  ${found}`)
      }
    print(await summary(store, counts))
    return tableStandings.every((standing) => standing === 'same' || counts[standing] === 0)
      ? exitStatus.done
      : exitStatus.failed
  } finally {
    catalogs.close()
    await store.close()
  }
}

async function summary(store: Store, counts: Readonly<Record<TableStanding, number>>): Promise<string> {
  const { open } = await countIntents(store)
  const told = tableStandings.map((standing) => `${counts[standing]} ${standing}`).join(', ')
  return `${told}; ${open} intents without a decision`
}
