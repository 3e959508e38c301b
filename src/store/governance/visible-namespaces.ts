/** Reads which namespaces hold a table that may be read, for callers who see nothing else. */

import { namespaceKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { readableFrom } from '../graph/readable.ts'
import type { Store } from '../store.ts'

const namespaceText = `
  select distinct agtype_access_operator(variadic array[t.properties, '"namespace"'::agtype])::text as namespace
  ${readableFrom} and agtype_access_operator(variadic array[t.properties, '"id"'::agtype]) <> '""'::agtype`

/** Keys of the namespaces that hold such a table, by themselves or by a namespace within. */
export async function visibleNamespaces(store: Store, tenant: TenantId): Promise<ReadonlySet<string>> {
  const rows = await store.tenantQuery<{ readonly namespace: string | null }>(tenant, namespaceText, [], {
    readOnly: true,
  })
  const found = new Set<string>()
  for (const { namespace } of rows) {
    const levels = JSON.parse(namespace ?? '[]') as readonly string[]
    for (let depth = 1; depth <= levels.length; depth++) found.add(namespaceKey(levels.slice(0, depth)))
  }
  return found
}
