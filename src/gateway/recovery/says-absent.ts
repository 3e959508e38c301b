/** Whether something is surely not in the catalog: only the catalog itself can say so, but proxies answer 404, too. */

import { Fault } from '../../base/fault.ts'
import { CatalogError } from '../../catalog/catalog.ts'

/** What the Iceberg REST specification has a catalog say then. */
const absences: ReadonlySet<string | undefined> = new Set([
  'NoSuchTableException',
  'NoSuchViewException',
  'NoSuchNamespaceException',
])

/** Whether the catalog answered by this that what was asked for does not exist. */
export function saysAbsent(thrown: unknown): boolean {
  if (thrown instanceof CatalogError)
    return thrown.code === 'ErrTableNotFound' && absences.has(thrown.upstream?.type)
  return thrown instanceof Fault && thrown.kind === 'not_found' && absences.has(thrown.type)
}
