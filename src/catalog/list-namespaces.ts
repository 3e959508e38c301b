/** Lists the namespaces of a catalog below a parent, a page at a time. It records nothing and goes no level deeper. */

import { Fault } from '../base/fault.ts'
import { isJsonObject, type JsonValue, parseJson } from '../base/json.ts'
import type { Catalog } from './catalog.ts'

/**
 * The pages of namespaces below `parent`, each namespace with all of its levels.
 * @throws CatalogError, Fault of the upstream, also where its list cannot be read; the signal's reason
 */
export async function* listNamespaces(
  catalog: Catalog,
  parent: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<readonly (readonly string[])[]> {
  let pageToken: string | undefined
  do {
    const page = await namespacePage(catalog, parent, { pageToken, signal })
    yield page.namespaces
    pageToken = page.nextPageToken
  } while (pageToken !== undefined)
}

/** Namespaces below a parent, each with all of its levels, and where they go on. */
interface NamespacePage {
  readonly namespaces: readonly (readonly string[])[]
  readonly nextPageToken: string | undefined
}

/** One page of namespaces. @throws as {@link listNamespaces} */
export async function namespacePage(
  catalog: Catalog,
  parent: readonly string[],
  {
    pageToken,
    pageSize,
    signal,
  }: {
    readonly pageToken?: string | undefined
    readonly pageSize?: number
    readonly signal?: AbortSignal | undefined
  },
): Promise<NamespacePage> {
  const { body } = await catalog.forward({
    method: 'GET',
    path: ['namespaces'],
    query: {
      ...(parent.length > 0 && { parent: parent.join('\u001f') }),
      // As in listTables, a client asks for pages by sending a token, even an empty one.
      ...(pageSize !== undefined && { pageToken: '', pageSize: String(pageSize) }),
      ...(pageToken !== undefined && { pageToken }),
    },
    mutates: false,
    whole: true,
    subject: 'the catalog',
    signal,
  })
  const reply = parsed(body as Uint8Array)
  const listed = isJsonObject(reply) ? reply.get('namespaces') : undefined
  if (!isJsonObject(reply) || !Array.isArray(listed)) throw unreadable()
  const namespaces = (listed as readonly JsonValue[]).map((levels) => {
    if (!Array.isArray(levels)) throw unreadable()
    return (levels as readonly JsonValue[]).map(String)
  })
  const next = reply.get('next-page-token')
  return { namespaces, nextPageToken: typeof next === 'string' && next !== '' ? next : undefined }
}

function parsed(body: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(body)
  } catch {
    return undefined
  }
}

function unreadable(): Fault {
  return new Fault('upstream_failed', 'The upstream catalog’s list of namespaces cannot be read.')
}
