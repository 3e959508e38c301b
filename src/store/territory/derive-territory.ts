/**
 * Derived grants for shallow clones: a table may name files in another's territory, and inherits that table's row filters
 * and column masks. A grant and its revocation leave a row in the administration log.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import type { TerritoryTable } from './administer-territory.ts'
import { territoryTableId } from './territory-rows.ts'

const subjectOf = ({ nickname, table }: TerritoryTable) => ({ catalog: nickname, table })

/**
 * Lets a clone name the files in the territory that its source has now.
 * @returns the prefixes that it shares
 * @throws Fault `not_found` where the source has no territory, `conflict` for a table and itself, or where the source
 *   shares the clone's
 */
export async function deriveTerritory(
  store: Store,
  tenant: TenantId,
  clone: TerritoryTable,
  source: TerritoryTable,
  by: Actor,
): Promise<readonly string[]> {
  const cloneId = territoryTableId(clone.table)
  const sourceId = territoryTableId(source.table)
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('territory ' || $1::text, 0))`, [tenant])
    if (cloneId === sourceId || (await shares(tx, sourceId, cloneId)))
      throw new Fault('conflict', 'A table cannot share its own territory, directly or through another.')
    const rows = await tx.query<{ readonly prefix: string }>(
      `select distinct prefix from svc.territory
       where tenant_id = $1 and table_id = $2 and catalog = $3 and released_at is null and kind <> 'derived' order by 1`,
      [tenant, sourceId, source.catalog],
    )
    if (rows.length === 0)
      throw new Fault(
        'not_found',
        'The source has no territory yet. Load it once, or wait for the next sweep.',
      )
    const prefixes = rows.map(({ prefix }) => prefix)
    await tx.query(
      `insert into svc.territory (tenant_id, prefix, kind, catalog, credential_id, table_id, namespace, table_name, source)
       select $1, p, 'derived', $3, $4, $5, $6::text::jsonb, $7, $8::text::jsonb
       from jsonb_array_elements_text($2::text::jsonb) p
       on conflict (tenant_id, table_id, md5(catalog), md5(prefix), kind) where released_at is null do nothing`,
      [
        tenant,
        JSON.stringify(prefixes),
        clone.catalog,
        clone.credentialId,
        cloneId,
        JSON.stringify(clone.table.namespace),
        clone.table.name,
        JSON.stringify({ catalog: source.catalog, table_id: sourceId, ...source.table }),
      ],
    )
    await recordAdministration(tx, by, {
      action: 'derive-territory',
      subject: subjectOf(clone),
      value: { source: subjectOf(source), prefixes },
    })
    return prefixes
  })
}

async function shares(tx: Tx, tableId: string, sourceId: string): Promise<boolean> {
  const [row] = await tx.query<{ readonly found: boolean }>(
    `select exists (select from jsonb_array_elements(svc.sources(array[$1::text])) s where s ->> 'source' = $2) as found`,
    [tableId, sourceId],
  )
  return row?.found === true
}

/**
 * Ends what a clone shares with one source. Its queries of the source's files are refused then.
 * @returns how many prefixes it shared
 * @throws Fault `not_found` where it shares nothing with it
 */
export async function revokeTerritory(
  store: Store,
  tenant: TenantId,
  clone: TerritoryTable,
  source: TerritoryTable,
  by: Actor,
): Promise<number> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const revoked = await tx.query(
      `update svc.territory set released_at = clock_timestamp()
       where tenant_id = $1 and table_id = $2 and catalog = $3 and released_at is null and kind = 'derived'
         and source ->> 'table_id' = $4 and source ->> 'catalog' = $5 returning 1`,
      [tenant, territoryTableId(clone.table), clone.catalog, territoryTableId(source.table), source.catalog],
    )
    if (revoked.length === 0) throw new Fault('not_found', 'The table shares no territory with that source.')
    await recordAdministration(tx, by, {
      action: 'revoke-territory',
      subject: subjectOf(clone),
      value: { source: subjectOf(source) },
    })
    return revoked.length
  })
}
