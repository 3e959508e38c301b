/** GET /api/v1/xmla/{catalog}/connection.odc: the file with which Excel opens a catalog or one of its cubes. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { operationsOf } from '../http/declare.ts'
import { pathPattern } from '../http/operation-path.ts'
import { described, maybe, nonEmpty, object } from '../http/schemas.ts'
import { hasCatalogCredential } from '../store/catalog-credential/catalog-credentials.ts'
import type { Store } from '../store/store.ts'
import { buildCubes } from './cube/build-cubes.ts'
import { writeConnectionFile } from './cube/connection-file.ts'

interface Parts {
  readonly store: Store
  readonly clock: Clock
  /** Of the XMLA listener; undefined where it is not served. */
  readonly xmlaUrl: () => URL | undefined
}

const operation = operationsOf<Parts>()

const path = '/api/v1/xmla/{catalog}/connection.odc'
const input = object({
  catalog: described(nonEmpty, 'nickname of a catalog credential'),
  cube: maybe(described(nonEmpty, 'default: Excel asks which')),
})

export const connectionFileOperations = [
  operation({
    name: 'download_connection_file',
    tag: 'metrics',
    summary: 'The file with which Excel opens a catalog, or one of its cubes, over XMLA',
    method: 'GET',
    path,
    access: { scope: 'read', capability: 'xmla' },
    gives: { visible: ['existence'] },
    input,
    media: { response: ['text/x-ms-odc'] },
    status: 200,
    faults: { not_found: 'There is no such catalog or cube, or XMLA is not served.' },
    respond: async ({ parts: { store, clock, xmlaUrl }, caller: { tenant, principal }, request, signal }) => {
      const { catalog, cube } = read(request)
      const server = xmlaUrl()
      if (server === undefined) throw new Fault('not_found', 'XMLA is not served.')
      if (!(await hasCatalogCredential(store, tenant, catalog)))
        throw new Fault('not_found', 'There is no such catalog.')
      const cubes = await buildCubes({ store, clock, tenant, principal, catalog, signal })
      if (cube !== undefined && !cubes.some(({ name }) => name === cube))
        throw new Fault('not_found', 'There is no such cube.')
      return new Response(writeConnectionFile({ server, catalog, cube }), {
        headers: {
          'content-type': 'text/x-ms-odc; charset=utf-8',
          'content-disposition': 'attachment; filename="connection.odc"',
        },
      })
    },
  }),
]

function read(request: Request): { readonly catalog: string; readonly cube: string | undefined } {
  const { pathname, searchParams } = new URL(request.url)
  const { catalog = '' } = pathPattern(path).exec(pathname)?.groups ?? {}
  try {
    return { catalog: decodeURIComponent(catalog), cube: searchParams.get('cube') ?? undefined }
  } catch {
    throw new Fault('bad_request', 'The path is not percent-encoded UTF-8.')
  }
}
