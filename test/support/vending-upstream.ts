/**
 * An upstream catalog that vends storage credentials for one table to every client with a token. Its S3, a ranged
 * store in memory, accepts only these. Each token gets its own keys.
 */

import { IcebergWriter, type WriterOptions } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'email', type: 'string' },
]

export interface VendingUpstream extends AsyncDisposable {
  readonly url: string
  readonly s3Url: string
  readonly metadataLocation: string
  readonly writer: IcebergWriter
  /** The bearer token of each time the table was loaded, with what was asked to be delegated. */
  readonly loads: { readonly token: string; readonly delegation: string | null }[]
  /** Access key id and session token of every request to storage. */
  readonly keysSeen: { readonly key: string; readonly token: string | null }[]
  /** What the storage holds, by key in its one bucket, and when that was written; by default, now. */
  readonly objects: Map<string, Uint8Array>
  readonly writtenAt: Map<string, Date>
  /** Objects of one part of a listing. */
  listedMax: number
  /** `config` and `storage-credentials` of the answer; by default keys in `config`. */
  answer: (token: string) => object
}

/** The settings that are vended to a token, without an end. */
export function vendedTo(token: string, s3Url: string): Readonly<Record<string, string>> {
  return {
    's3.access-key-id': `KEY-${token}`,
    's3.secret-access-key': `secret-${token}`,
    's3.session-token': `session-${token}`,
    's3.endpoint': s3Url,
    's3.region': 'eu-central-1',
  }
}

export interface VendingUpstreamOptions extends Partial<Omit<WriterOptions, 'location' | 'put'>> {
  /** Whether the catalog answers for every spelling of the table's name. */
  readonly foldsNames?: boolean
  /** Writes the table in `s3://lake/sales/people`. */
  readonly write?: (writer: IcebergWriter) => Promise<unknown>
}

/** Starts both, by default with one snapshot of twenty addresses. */
export async function startVendingUpstream({
  foldsNames = false,
  write = (writer) =>
    writer.append([{ rows: Array.from({ length: 20 }, (_, id) => ({ id, email: `p${id}@example.com` })) }]),
  ...table
}: VendingUpstreamOptions = {}): Promise<VendingUpstream> {
  const objects = new Map<string, Uint8Array>()
  const writer = new IcebergWriter({
    fields,
    ...table,
    location: 's3://lake/sales/people',
    put: (location, bytes) => void objects.set(new URL(location).pathname.slice(1), bytes),
  })
  await write(writer)
  const loads: VendingUpstream['loads'] = []
  const keysSeen: VendingUpstream['keysSeen'] = []

  const writtenAt = new Map<string, Date>()
  const listing = (asked: URLSearchParams) => {
    const [prefix = '', after = ''] = ['prefix', 'start-after'].map((name) => asked.get(name) ?? undefined)
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const shown = keys.slice(0, made.listedMax).map((key) => {
      const at = (writtenAt.get(key) ?? new Date()).toISOString()
      const written = encodeURIComponent(key).replaceAll('%2F', '/')
      return `<Contents><Key>${written}</Key><LastModified>${at}</LastModified><Size>${objects.get(key)?.length}</Size></Contents>`
    })
    const isMore = keys.length > shown.length
    return new Response(
      `<ListBucketResult><IsTruncated>${isMore}</IsTruncated>${shown.join('')}</ListBucketResult>`,
    )
  }

  const s3 = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url, headers }) {
      const { pathname, searchParams } = new URL(url)
      const signed = headers.get('authorization') ?? `Credential=${searchParams.get('X-Amz-Credential')}`
      const key = /Credential=([^/]+)\//.exec(signed)?.[1] ?? ''
      const token = headers.get('x-amz-security-token') ?? searchParams.get('X-Amz-Security-Token')
      keysSeen.push({ key, token })
      if (!key.startsWith('KEY-') || token !== key.replace('KEY-', 'session-'))
        return new Response('<Error><Code>AccessDenied</Code></Error>', { status: 403 })
      if (searchParams.has('list-type')) return listing(searchParams)
      const bytes = objects.get(decodeURIComponent(pathname).replace('/lake/', ''))
      if (bytes === undefined) return new Response(null, { status: 404 })
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(headers.get('range') ?? '') ?? []
      return from === undefined
        ? new Response(bytes as Uint8Array<ArrayBuffer>)
        : new Response(bytes.slice(Number(from), Number(to) + 1), { status: 206 })
    },
  })
  const upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url, headers }) {
      const { pathname } = new URL(url)
      const token = (headers.get('authorization') ?? '').replace('Bearer ', '')
      if (pathname === '/v1/config') return Response.json({ defaults: {}, overrides: {} })
      const path = foldsNames ? pathname.toLowerCase() : pathname
      if (!path.endsWith('/namespaces/sales/tables/people')) return new Response(null, { status: 404 })
      loads.push({ token, delegation: headers.get('x-iceberg-access-delegation') })
      const { metadataLocation } = made
      const key = metadataLocation.replace('s3://lake/', '')
      // As text, because ids of snapshots do not fit a double.
      const metadata = new TextDecoder().decode(objects.get(key))
      const rest = JSON.stringify({ 'metadata-location': metadataLocation, ...made.answer(token) })
      return new Response(`${rest.slice(0, -1)},"metadata":${metadata}}`, {
        headers: { 'content-type': 'application/json' },
      })
    },
  })
  const made: VendingUpstream = {
    url: upstream.url.origin,
    s3Url: s3.url.origin,
    get metadataLocation() {
      return writer.metadataLocation ?? ''
    },
    writer,
    ...{ objects, writtenAt, listedMax: 1_000 },
    loads,
    keysSeen,
    answer: (token) => ({ config: vendedTo(token, s3.url.origin) }),
    async [Symbol.asyncDispose]() {
      await Promise.all([s3.stop(true), upstream.stop(true)])
    },
  }
  return made
}
