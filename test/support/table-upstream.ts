/** An upstream catalog with tables that a test names, each without snapshots, which vends its own keys for all of them. */

import { startUpstream, type TestUpstream } from '../catalog/upstream.ts'

export interface UpstreamTable {
  readonly location: string
  readonly properties?: Readonly<Record<string, string>> | undefined
  /** The upstream's own `read-restrictions`. */
  readonly restrictions?: object | undefined
}

export interface TableUpstream extends TestUpstream {
  /** By name; made ones do not come here. */
  readonly tables: Map<string, UpstreamTable>
  /** `METHOD path` with what was asked to be delegated. */
  readonly delegations: (string | null)[]
  /** The names in a list of tables, in pages of at most three. */
  listed: readonly string[]
  /** What happens before a table is answered. */
  meanwhile: () => Promise<void>
}

/** The access key, secret and token that the upstream vends. */
export const upstreamKeys = /"AK-up"|"SK-up"|"ST-up"/

function resultOf(
  name: string,
  { location, properties = {}, restrictions }: UpstreamTable,
): Record<string, unknown> {
  const keys = {
    's3.access-key-id': 'AK-up',
    's3.secret-access-key': 'SK-up',
    's3.session-token': 'ST-up',
  }
  const digest = new Bun.CryptoHasher('md5').update(name).digest('hex').slice(0, 12)
  return {
    'metadata-location': `${location}/metadata/1.json`,
    metadata: {
      'format-version': 2,
      'table-uuid': `9c12d441-03fe-4693-9a96-${digest}`,
      location,
      'last-sequence-number': 0,
      'last-updated-ms': 1,
      'last-column-id': 0,
      schemas: [{ 'schema-id': 0, type: 'struct', fields: [] }],
      'current-schema-id': 0,
      'partition-specs': [{ 'spec-id': 0, fields: [] }],
      'default-spec-id': 0,
      'last-partition-id': 999,
      'sort-orders': [{ 'order-id': 0, fields: [] }],
      'default-sort-order-id': 0,
      properties,
      snapshots: [],
    },
    config: { 'client.region': 'eu-1', ...keys },
    'read-restrictions': restrictions,
    'storage-credentials': [{ prefix: location, config: keys }],
  }
}

/** Whole where no page is asked for. */
function listOf(names: readonly string[], asked: URLSearchParams): Response {
  const from = Number(asked.get('pageToken') ?? 0)
  const end = asked.has('pageToken') ? from + Math.min(3, Number(asked.get('pageSize') ?? 3)) : names.length
  return Response.json({
    'next-page-token': end < names.length ? String(end) : null,
    identifiers: names.slice(from, end).map((name) => ({ namespace: ['n'], name })),
  })
}

/** Starts it. A creation without a location is placed below `s3://lake/secrets`. */
export function startTableUpstream(): TableUpstream {
  const tables = new Map<string, UpstreamTable>()
  const delegations: (string | null)[] = []
  const upstream = startUpstream(async (request, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
    const [, name = '', more] = /\/tables\/([^/]+)(\/credentials|\/plan)?$/.exec(path) ?? []
    if (request.method === 'POST' && path.endsWith('/tables')) {
      const body = (await request.json()) as { name: string } & Partial<UpstreamTable>
      const { location = `s3://lake/secrets/${body.name}`, properties } = body
      return Response.json(resultOf(body.name, { location, properties }))
    }
    if (request.method === 'GET' && path.endsWith('/tables'))
      return listOf(made.listed, new URL(request.url).searchParams)
    await made.meanwhile()
    const table = tables.get(name)
    if (table === undefined) return new Response('{}', { status: 404 })
    delegations.push(request.headers.get('x-iceberg-access-delegation'))
    const result = resultOf(name, table)
    if (more === undefined) return Response.json(result, { headers: { etag: '"e1"' } })
    const credentials = { 'storage-credentials': result['storage-credentials'] }
    return Response.json(more === '/plan' ? { status: 'completed', ...credentials } : credentials)
  })
  const made: TableUpstream = Object.assign(upstream, {
    tables,
    delegations,
    listed: [],
    meanwhile: async () => {},
  })
  return made
}
