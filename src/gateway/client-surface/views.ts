/** Loads views and finds the tables that any of their versions reads. It does not decide who may have them. */

import { turnTaker } from '../../base/in-turns.ts'
import { isJsonObject, type JsonObject, type JsonValue, parseJsonInTurns } from '../../base/json.ts'
import { threadTurn } from '../../base/thread-turns.ts'
import { namespaceKey, type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
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
 * Bounds of what is looked at in one view, because its texts are parsed on the thread that serves everybody. Texts that
 * are the same count once.
 */
export const viewBounds = {
  textsMax: 200,
  charsMax: 256 * 1024,
  tablesMax: 1_000,
  namespaceCharsMax: 1_024,
} as const

/**
 * The tables that the versions of a loaded view read, each once. It yields to the event loop before each text.
 * @returns undefined where a text is not understood or there is more than is looked at; nobody can say what such a view reads
 * @throws Fault for what is not JSON; the reason why the request was aborted
 */
export async function tablesRead(
  surface: SurfaceRequest,
  loaded: Uint8Array,
): Promise<readonly TableRef[] | undefined> {
  const { parts, request } = surface
  const texts = await textsOf(surface, await parseJsonInTurns(loaded))
  if (texts === undefined) return undefined
  const found = new Map<string, TableRef>()
  for (const { text, place } of texts) {
    await threadTurn()
    request.signal.throwIfAborted()
    const tables = parts.tablesOfView(text, place)
    if (tables === undefined) return undefined
    for (const table of tables) found.set(tableKey(table), table)
    if (found.size > viewBounds.tablesMax) return undefined
  }
  return [...found.values()]
}

interface ViewText {
  readonly text: string
  readonly place: { readonly namespace: readonly string[]; readonly catalogs: readonly string[] }
}

/** The different texts of all versions; undefined where a version has none, or there are more than are looked at. */
async function textsOf(
  { path, request }: SurfaceRequest,
  reply: JsonValue,
): Promise<readonly ViewText[] | undefined> {
  const versions = listIn(memberOf(reply, 'metadata'), 'versions')
  if (versions.length === 0) return undefined
  const found = new Map<string, ViewText>()
  const turn = turnTaker(request.signal)
  let chars = 0
  for (const version of versions) {
    const namespace = listIn(version, 'default-namespace').map(String)
    if (namespaceKey(namespace).length > viewBounds.namespaceCharsMax) return undefined
    const catalog = memberOf(version, 'default-catalog')
    const catalogs = [path.prefix, ...(typeof catalog === 'string' ? [catalog] : [])]
    const place = JSON.stringify([namespace, catalogs])
    const representations = listIn(version, 'representations')
    if (representations.length === 0) return undefined
    for (const representation of representations) {
      await turn()
      const text = memberOf(representation, 'sql')
      if (typeof text !== 'string' || text.length > viewBounds.charsMax) return undefined
      const key = place + text
      if (found.has(key)) continue
      found.set(key, { text, place: { namespace, catalogs } })
      chars += text.length
      if (chars > viewBounds.charsMax || found.size > viewBounds.textsMax) return undefined
    }
  }
  return [...found.values()]
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? (value as JsonObject).get(name) : undefined
}

function listIn(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const member = memberOf(value, name)
  return Array.isArray(member) ? member : []
}
