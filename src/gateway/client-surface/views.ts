/** Decides whether a caller may have a view's text: where every table that any of its versions reads has a contract. */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/json.ts'
import { type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import type { SurfaceRequest } from './surface-request.ts'

/** The upstream's LoadViewResult. @throws Fault as the upstream */
export async function loadedView(
  { upstream, request }: SurfaceRequest,
  { namespace, name }: TableRef,
): Promise<Uint8Array> {
  const { body } = await upstream.catalog.forward({
    method: 'GET',
    path: ['namespaces', namespace, 'views', name],
    mutates: false,
    whole: true,
    subject: tableName({ namespace, name }),
    signal: request.signal,
  })
  return body as Uint8Array
}

/**
 * Whether all tables that a loaded view reads may be read.
 * @param contracted gives the keys of those with an active contract
 */
export async function isViewOpen(
  surface: SurfaceRequest,
  loaded: Uint8Array,
  contracted: (surface: SurfaceRequest, refs: readonly TableRef[]) => Promise<ReadonlySet<string>>,
): Promise<boolean> {
  const tables = tablesOf(surface, parseJson(loaded))
  if (tables === undefined) return false
  const known = await contracted(surface, tables)
  return tables.every((table) => known.has(tableKey(table)))
}

/** The tables of all versions; undefined where one is not understood. */
function tablesOf({ parts, path }: SurfaceRequest, reply: JsonValue): readonly TableRef[] | undefined {
  const versions = listIn(memberOf(reply, 'metadata'), 'versions')
  if (versions.length === 0) return undefined
  const found: TableRef[] = []
  for (const version of versions) {
    const namespace = listIn(version, 'default-namespace').map(String)
    const catalog = memberOf(version, 'default-catalog')
    const catalogs = [path.prefix, ...(typeof catalog === 'string' ? [catalog] : [])]
    const representations = listIn(version, 'representations')
    if (representations.length === 0) return undefined
    for (const representation of representations) {
      const text = memberOf(representation, 'sql')
      const tables = typeof text === 'string' ? parts.tablesOfView(text, { namespace, catalogs }) : undefined
      if (tables === undefined) return undefined
      found.push(...tables)
    }
  }
  return found
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? (value as JsonObject).get(name) : undefined
}

function listIn(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const member = memberOf(value, name)
  return Array.isArray(member) ? member : []
}
