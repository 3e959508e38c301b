/**
 * Keeps what no contract opens from callers to whom the tenant's setting denies it (docs/reference/contracts.md): tables
 * without an active contract, views over them, functions, and the namespaces that hold nothing else. What does not exist
 * has no contract either, so both get one answer.
 */

import { Fault } from '../../base/fault.ts'
import { inParallel } from '../../base/in-parallel.ts'
import { isJsonObject, type JsonValue } from '../../base/json.ts'
import { namespaceKey, type TableRef, tableKey } from '../../core/table-ref.ts'
import { opensUncontracted } from '../../core/uncontracted.ts'
import { readSettings } from '../../store/contract/read-settings.ts'
import { loadGoverned } from '../../store/governance/load-governed.ts'
import { visibleNamespaces } from '../../store/governance/visible-namespaces.ts'
import { sightOf } from '../stages/masked.ts'
import { ownNamespace, ownTable } from '../stages/own-names.ts'
import { answerListed, listedMax, pages } from './listed.ts'
import { passThrough } from './pass-through.ts'
import {
  isDenied,
  jsonResponse,
  type SurfaceRequest,
  tableRefOf,
  withoutContract,
} from './surface-request.ts'
import { loadedView, tablesRead } from './views.ts'

/** Views that one request for a list looks at, and how many of them it loads at once. */
const viewsMax = 200
const viewLoadsMax = 4

/** Before an operation that tells something of the table in the path. @throws Fault `policy_denied`, `unavailable` */
export async function assertOpen(surface: SurfaceRequest): Promise<void> {
  const { parts, tenant, identified, mayCommit } = surface
  const table = tableRefOf(surface)
  if (isDenied(await sightOf(parts, tenant, table, identified), mayCommit)) throw withoutContract(table)
}

/** Whether the caller may have what no contract opens. */
async function opensAll({ parts, tenant, mayCommit }: SurfaceRequest): Promise<boolean> {
  return opensUncontracted((await readSettings(parts.store, tenant)).uncontracted, mayCommit)
}

/** Whether the caller knows of every namespace: who may commit makes tables in any. */
async function knowsNamespaces(surface: SurfaceRequest): Promise<boolean> {
  return surface.mayCommit || (await opensAll(surface))
}

/** Before an operation on the namespace in the path. @throws Fault `not_found` for one that holds nothing to read */
async function assertNamespaceShown(surface: SurfaceRequest): Promise<void> {
  const { parts, tenant, path } = surface
  if (await knowsNamespaces(surface)) return
  if (!(await visibleNamespaces(parts.store, tenant)).has(namespaceKey(path.namespace))) throw noNamespace()
}

function noNamespace(): Fault {
  return new Fault('not_found', 'There is no such namespace.', { type: 'NoSuchNamespaceException' })
}

/** loadNamespaceMetadata and namespaceExists. */
export async function readNamespace(surface: SurfaceRequest): Promise<Response> {
  await assertNamespaceShown(surface)
  return await passThrough(surface)
}

/** listNamespaces */
export async function listNamespaces(surface: SurfaceRequest): Promise<Response> {
  const { parts, tenant, upstream } = surface
  if (await knowsNamespaces(surface)) return await passThrough(surface, [...pages, 'parent'])
  const visible = await visibleNamespaces(parts.store, tenant)
  const parent = surface.query.get('parent')
  if (parent !== null && parent !== '' && !visible.has(parent)) throw noNamespace()
  return await answerListed(surface, {
    member: 'namespaces',
    narrows: ['parent'],
    shows: async (entries) =>
      entries.map(
        (entry) =>
          Array.isArray(entry) && visible.has(namespaceKey(ownNamespace(upstream, entry.map(String)))),
      ),
  })
}

/** listTables */
export async function listTables(surface: SurfaceRequest): Promise<Response> {
  await assertNamespaceShown(surface)
  if (await opensAll(surface)) return await passThrough(surface, pages)
  return await answerListed(surface, {
    member: 'identifiers',
    shows: async (entries) => {
      const refs = entries.map(refOf)
      const contracted = await contractedAmong(
        surface,
        refs.flatMap((ref) => ref ?? []),
      )
      return refs.map((ref) => ref !== undefined && contracted.has(tableKey(ref)))
    },
  })
}

/** listViews: each is loaded, because only its text says which tables it reads. */
export async function listViews(surface: SurfaceRequest): Promise<Response> {
  await assertNamespaceShown(surface)
  if (await opensAll(surface)) return await passThrough(surface, pages)
  return await answerListed(surface, {
    member: 'identifiers',
    looks: { max: viewsMax, atOnce: viewLoadsMax },
    shows: async (entries) => {
      // One that cannot be loaded or read is not shown.
      const hidden = () => surface.request.signal.throwIfAborted()
      const loads = await inParallel(entries, viewLoadsMax, async (entry) => {
        const view = refOf(entry)
        return view && (await loadedView(surface, view).catch(hidden))
      })
      const read: (readonly TableRef[] | undefined)[] = []
      // One after the other, so that a turn of the event loop parses one text.
      for (const loaded of loads)
        read.push((loaded && (await tablesRead(surface, loaded).catch(hidden))) || undefined)
      const contracted = await contractedAmong(
        surface,
        read.flatMap((tables) => tables ?? []),
      )
      return read.map((tables) => isReadable(tables, contracted))
    },
  })
}

/** loadFunction: its text says what tables hold, and no contract is one of a function. */
export async function loadFunction(surface: SurfaceRequest): Promise<Response> {
  if (!(await opensAll(surface))) throw withoutContract(tableRefOf(surface))
  return await passThrough(surface)
}

/** listFunctions */
export async function listFunctions(surface: SurfaceRequest): Promise<Response> {
  await assertNamespaceShown(surface)
  if (await opensAll(surface)) return await passThrough(surface, pages)
  return jsonResponse(200, JSON.stringify({ 'next-page-token': null, identifiers: [] }))
}

/**
 * Before an operation that tells something of the view in the path.
 * @param reply the upstream's, where it was loaded already
 * @throws Fault `policy_denied` where the caller may not read a table that it reads, or there is no such view
 */
export async function assertViewOpen(surface: SurfaceRequest, reply?: Uint8Array): Promise<void> {
  if (await opensAll(surface)) return
  const view = tableRefOf(surface)
  const loaded =
    reply ??
    (await loadedView(surface, view).catch((thrown: unknown) => {
      if (thrown instanceof Fault && thrown.kind === 'not_found') throw withoutContract(view)
      throw thrown
    }))
  const tables = await tablesRead(surface, loaded)
  if (!isReadable(tables, await contractedAmong(surface, tables ?? []))) throw withoutContract(view)
}

/** Whether all tables of a view are among those with an active contract. */
function isReadable(tables: readonly TableRef[] | undefined, contracted: ReadonlySet<string>): boolean {
  return tables?.every((table) => contracted.has(tableKey(table))) ?? false
}

/** Keys of the tables with an active contract, as they were given. */
async function contractedAmong(
  { parts, tenant, upstream }: SurfaceRequest,
  refs: readonly TableRef[],
): Promise<ReadonlySet<string>> {
  const different = new Map(refs.map((ref) => [tableKey(ref), ref]))
  const own = [...different].map(([key, ref]) => ({ key, ref: ownTable(upstream, ref) }))
  const contracted = new Set<string>()
  for (let from = 0; from < own.length; from += listedMax) {
    const asked = own.slice(from, from + listedMax).map(({ ref }) => ref)
    for (const [key, { contract }] of (await loadGoverned(parts.store, tenant, asked)).governances)
      if (contract !== undefined) contracted.add(key)
  }
  return new Set(own.filter(({ ref }) => contracted.has(tableKey(ref))).map(({ key }) => key))
}

function refOf(identifier: JsonValue): TableRef | undefined {
  if (!isJsonObject(identifier)) return undefined
  const [levels, name] = [identifier.get('namespace'), identifier.get('name')]
  return Array.isArray(levels) && typeof name === 'string'
    ? { namespace: levels.map(String), name }
    : undefined
}
