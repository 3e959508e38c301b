/**
 * Stores to which catalog the datasets of a namespace belong (docs/reference/lineage.md 4.4). Only svc_admin writes the
 * rows. Which datasets are names of which tables follows from them.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { LineageDataset, LineageName } from '../../core/lineage.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson, storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { datasetItem } from './events.ts'

interface NamespaceMapping {
  readonly namespace: string
  /** The first level of a name, where only such datasets are meant; else empty. */
  readonly firstLevel: string
  /** The nickname of a catalog credential. */
  readonly catalog: string
}

interface Row {
  readonly namespace: string
  readonly first_level: string
  readonly catalog: string
}

const separator = '\u001f'
const subjectOf = ({ namespace, firstLevel }: Omit<NamespaceMapping, 'catalog'>) => ({
  namespace,
  ...(firstLevel !== '' && { first_level: firstLevel }),
})

/** Adds a mapping, or replaces it. @throws Fault `bad_request` where the tenant has no such catalog */
export async function putNamespace(
  store: Store,
  tenant: TenantId,
  { namespace, firstLevel, catalog }: NamespaceMapping,
  by: Actor,
): Promise<void> {
  await store.adminTransaction(async (tx) => {
    const rows = await tx.query(
      `insert into svc.dataset_namespace (tenant_id, namespace, first_level, catalog)
       select c.tenant_id, $2, $3, c.nickname from svc.catalog_credential c where c.tenant_id = $1 and c.nickname = $4
       on conflict (tenant_id, namespace, first_level)
         do update set catalog = excluded.catalog, updated_at = clock_timestamp()
       returning 1`,
      [tenant, storableText(namespace), firstLevel, catalog],
    )
    if (rows.length === 0) throw new Fault('bad_request', 'The tenant has no catalog of this nickname.')
    const subject = subjectOf({ namespace, firstLevel })
    const change = { action: 'map-dataset-namespace', subject, value: { catalog } } as const
    await recordAdministration(tx, by, change, tenant)
  })
}

/** Removes a mapping. @throws Fault `not_found` */
export async function removeNamespace(
  store: Store,
  tenant: TenantId,
  mapping: Omit<NamespaceMapping, 'catalog'>,
  by: Actor,
): Promise<void> {
  const { namespace, firstLevel } = mapping
  await store.adminTransaction(async (tx) => {
    const rows = await tx.query(
      'delete from svc.dataset_namespace where tenant_id = $1 and namespace = $2 and first_level = $3 returning 1',
      [tenant, storableText(namespace), firstLevel],
    )
    if (rows.length === 0) throw new Fault('not_found', 'There is no such mapping.')
    await recordAdministration(
      tx,
      by,
      { action: 'unmap-dataset-namespace', subject: subjectOf(mapping) },
      tenant,
    )
  })
  await store.tenantQuery(tenant, 'select svc.unname_datasets($1)', [
    `${storableText(namespace)}${separator}${firstLevel}`,
  ])
}

/** A tenant's mappings, by namespace and first level. */
export async function listNamespaces(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<NamespaceMapping>> {
  const limit = pageLimit(page)
  const [namespace = '', firstLevel = ''] = (page.after ?? '').split(separator)
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select namespace, first_level, catalog from svc.dataset_namespace
     where tenant_id = $1 and (namespace collate "C", first_level collate "C") > ($2, $3)
     order by namespace collate "C", first_level collate "C" limit $4::int`,
    [tenant, namespace, firstLevel, limit + 1],
    { readOnly: true },
  )
  const listed = toPage(rows, limit, (row) => `${row.namespace}${separator}${row.first_level}`)
  return {
    ...listed,
    items: listed.items.map(({ first_level, ...row }) => ({ ...row, firstLevel: first_level })),
  }
}

const datasetsPerPage = 500

/**
 * Finds out again which tables the datasets of a namespace are, in pages. It reads all datasets, so it is for an
 * administrator's change only.
 */
export async function nameDatasets(
  store: Store,
  tenant: TenantId,
  namespace: string,
  describe: (name: LineageName) => LineageDataset,
): Promise<void> {
  let after: string | undefined
  do {
    const rows = await store.tenantQuery<{ readonly id: string; readonly properties: string }>(
      tenant,
      `select d.id::text as id, d.properties::text as properties from "Dataset" d
       where d.properties::text::jsonb ->> 'namespace' = $1 and d.id::text::int8 > $2::int8
       order by d.id::text::int8 limit $3::int`,
      [storableText(namespace), after ?? '0', datasetsPerPage],
    )
    const items = rows.map(({ properties }) => {
      const { namespace: own, name } = parseAgtype(properties) as LineageName & Record<string, unknown>
      return datasetItem(describe({ namespace: own, name }))
    })
    await store.tenantQuery(tenant, 'select svc.claim_tables($1::text::jsonb)', [storableJson(items)])
    after = rows.length < datasetsPerPage ? undefined : rows.at(-1)?.id
  } while (after !== undefined)
}
