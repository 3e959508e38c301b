/** Declares the operations on the mapping of dataset namespaces to catalogs (docs/reference/lineage.md 4.4). */

import { tenantOperationsOf } from '../auth/administration/tenant-operations.ts'
import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import { described, maybe, nonEmpty, object, pageInput, pageOf, text } from '../http/schemas.ts'
import { listNamespaces, nameDatasets, putNamespace, removeNamespace } from '../store/lineage/namespaces.ts'
import type { Store } from '../store/store.ts'
import { namesLocations } from './dataset-levels.ts'
import { describeDataset } from './table-claims.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const tag = 'lineage'
const administering = { scope: 'admin', roles: ['administrator', 'owner'] } as const
const nickname = { ...nonEmpty, pattern: '^[a-zA-Z0-9_-]+$', maxLength: 255 }
const key = {
  namespace: described({ ...nonEmpty, maxLength: 1_000 }, 'as producers write it'),
  first_level: maybe(
    described(nickname, 'the first level of a name: the catalog of Trino or Flink, the database of dbt'),
  ),
}

/** Looks at the datasets that are known again, because they may be names of other tables now. */
async function nameAgain(store: Store, tenant: TenantId, namespace: string): Promise<void> {
  await nameDatasets(store, tenant, namespace, (name) => describeDataset(name, undefined))
}

export const namespaceOperations = [
  pair({
    name: 'list_dataset_namespaces',
    tag,
    summary: 'Which catalogs the datasets of which namespaces belong to',
    method: 'GET',
    path: '/lineage/namespaces',
    access: { ...administering, scope: 'read', roles: ['steward', 'administrator', 'owner'] },
    gives: { nothing: 'administration' },
    input: pageInput,
    output: pageOf(object({ namespace: text, first_level: maybe(text), catalog: text })),
    run: async ({ parts, tenant }, page) =>
      pageView(
        await listNamespaces(parts.store, tenant, pageRequest(page)),
        ({ namespace, firstLevel, catalog }) => ({
          namespace,
          ...(firstLevel !== '' && { first_level: firstLevel }),
          catalog,
        }),
      ),
  }),
  pair({
    name: 'map_dataset_namespace',
    tag,
    summary: 'Says that the datasets of a namespace are tables of a catalog',
    description:
      'Names are read by the conventions of OpenLineage. Datasets that were received before are looked at again.',
    method: 'PUT',
    path: '/lineage/namespaces',
    access: administering,
    gives: { nothing: 'own input' },
    input: { ...key, catalog: described(nickname, 'nickname of a catalog of the tenant') },
    examples: [{ input: { namespace: 'trino://trino.example:8080', first_level: 'lake', catalog: 'main' } }],
    run: async ({ parts, tenant, actor }, { namespace, first_level: firstLevel = '', catalog }) => {
      if (namesLocations(namespace))
        throw new Fault('bad_request', 'Datasets of this namespace are named by the location of their files.')
      await putNamespace(parts.store, tenant, { namespace, firstLevel, catalog }, await actor())
      await nameAgain(parts.store, tenant, namespace)
    },
  }),
  pair({
    name: 'unmap_dataset_namespace',
    tag,
    summary: 'Ends a mapping; its datasets are no names of tables any more',
    method: 'DELETE',
    path: '/lineage/namespaces',
    access: administering,
    gives: { nothing: 'own input' },
    input: key,
    faults: { not_found: 'There is no such mapping.' },
    run: async ({ parts, tenant, actor }, { namespace, first_level: firstLevel = '' }) => {
      await removeNamespace(parts.store, tenant, { namespace, firstLevel }, await actor())
      // Another mapping of the namespace may hold for them.
      await nameAgain(parts.store, tenant, namespace)
    },
  }),
].flat()
