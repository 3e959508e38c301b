/** Recognizes the catalog's own statement that something does not exist. A proxy's 404 does not prove it. */

import { Fault } from '../../base/fault.ts'
import { CatalogError } from '../../catalog/catalog.ts'

/** The error types of the Iceberg REST specification for absence. */
const absences: ReadonlySet<string | undefined> = new Set([
  'NoSuchTableException',
  'NoSuchViewException',
  'NoSuchNamespaceException',
])

/** Whether this failure is the catalog's statement that the requested object does not exist. */
export function saysAbsent(thrown: unknown): boolean {
  if (thrown instanceof CatalogError)
    return thrown.code === 'ErrTableNotFound' && absences.has(thrown.upstream?.type)
  return thrown instanceof Fault && thrown.kind === 'not_found' && absences.has(thrown.type)
}
