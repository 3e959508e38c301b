/** Starts a development catalog in a folder of its own, and sends the requests of its tests. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevCatalog, type DevCatalogOptions, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'

export interface TestCatalog extends DevCatalog {
  readonly folder: string
  /** Requests with a token of its own, below `/v1/{prefix}`, or from the root where the path begins with '//'. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
  /** Creates the namespace where it is missing, and the table. */
  createTable(namespace: string, name: string): Promise<void>
  /** Ends the server and removes its folder. */
  remove(): Promise<void>
}

export async function startTestCatalog(options: Partial<DevCatalogOptions> = {}): Promise<TestCatalog> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'dev-catalog-')))
  const catalog = await startDevCatalog({ ...options, folder })
  const prefix = options.dialect === 'beta' ? 'main%7Cdev' : 'dev'
  const authorization = async (): Promise<Record<string, string>> => {
    if (options.credential === undefined) return {}
    const [id = '', secret = ''] = options.credential.split(':')
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
    })
    const answer = await fetch(catalog.tokenUrl, { method: 'POST', body: form })
    const { access_token } = (await answer.json()) as { access_token: string }
    return { authorization: `Bearer ${access_token}` }
  }
  const request: TestCatalog['request'] = async (method, path, body, more = {}) =>
    fetch(`${catalog.url}${path.startsWith('//') ? path.slice(1) : `/v1/${prefix}${path}`}`, {
      method,
      headers: { ...(await authorization()), ...more },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return {
    ...catalog,
    folder,
    request,
    async createTable(namespace, name) {
      await request('POST', '/namespaces', { namespace: namespace.split('\u001f') })
      const response = await request(
        'POST',
        `/namespaces/${encodeURIComponent(namespace)}/tables`,
        createTableBody(name),
      )
      if (response.status !== 200) throw new Error(`create: ${response.status} ${await response.text()}`)
    },
    async remove() {
      await catalog.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function createTableBody(name: string): Record<string, unknown> {
  return {
    name,
    schema: {
      type: 'struct',
      fields: [
        { id: 0, name: 'id', type: 'long', required: true },
        { id: 1, name: 'at', type: 'timestamptz', required: false },
      ],
    },
    'partition-spec': { fields: [{ 'source-id': 1, name: 'at_day', transform: 'day' }] },
  }
}

/** A commit that appends a snapshot to `main`, as JSON text; ids are int64 and so come as text or bigint. */
export function appendBody(options: {
  readonly snapshotId: bigint
  readonly parentId?: bigint
  readonly sequenceNumber?: number
}): string {
  const { snapshotId, parentId, sequenceNumber = 1 } = options
  return `{"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":${parentId ?? null}}],
"updates":[{"action":"add-snapshot","snapshot":{"snapshot-id":${snapshotId},${parentId === undefined ? '' : `"parent-snapshot-id":${parentId},`}
"sequence-number":${sequenceNumber},"timestamp-ms":${1_700_000_000_000 + sequenceNumber},"manifest-list":"file:///m.avro",
"summary":{"operation":"append"},"schema-id":0}},
{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":${snapshotId}}]}`
}
