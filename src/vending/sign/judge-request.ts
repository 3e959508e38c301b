/**
 * Judges a request to S3 that a client wants signed: which object it concerns, and whether the session may do that. An
 * operation, parameter or header that is not listed here is refused. Pure.
 */

import { canonicalPath, canonicalPrefix, isWithin } from '../../storage/canonical-path.ts'
import type { CredentialAccess } from '../issuer.ts'
import { encodeComponent, encodePath } from './s3-encoding.ts'

export interface SignableRequest {
  readonly method: string
  readonly uri: string
  /** By name, in any case. */
  readonly headers: Readonly<Record<string, readonly string[]>>
}

/** Where the storage is, as clients are told. */
interface SignedStorage {
  readonly endpoint: URL
  /** Whether the bucket is in the path; otherwise it is in the host name. */
  readonly isPathStyle: boolean
}

export interface SignScope {
  readonly access: CredentialAccess
  readonly deletes: boolean
  /** The table's territory: canonical prefixes. */
  readonly prefixes: readonly string[]
  /** Whether a reader may read a file, by its canonical path. */
  readonly mayRead: (path: string) => boolean
}

type SignJudgement =
  | {
      readonly isAllowed: true
      /** As S3 canonicalizes it: path and sorted query. */
      readonly canonicalPath: string
      readonly canonicalQuery: string
      /** Whether the client may use the signature again for the same object. */
      readonly isRepeatable: boolean
    }
  /** Completes "the request …". Names no object. */
  | { readonly isAllowed: false; readonly refusal: string }

/** Headers that S3 acts upon and that change nothing but the object's own bytes. */
const allowedHeaders: ReadonlySet<string> = new Set([
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-user-agent',
  'x-amz-te',
  'x-amz-trailer',
  'x-amz-decoded-content-length',
  'x-amz-sdk-checksum-algorithm',
  'x-amz-checksum-algorithm',
  'x-amz-checksum-mode',
  'x-amz-checksum-type',
  'x-amz-checksum-crc32',
  'x-amz-checksum-crc32c',
  'x-amz-checksum-crc64nvme',
  'x-amz-checksum-sha1',
  'x-amz-checksum-sha256',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-bucket-key-enabled',
])

/** What may be asked of an object. Each parameter must be listed, and each of `with` must be there. */
interface ObjectOperation {
  readonly method: string
  readonly parameters: readonly string[]
  readonly with: readonly string[]
  readonly needs: 'read' | 'write' | 'delete'
}
const objectOperations: readonly ObjectOperation[] = [
  { method: 'GET', parameters: ['x-id'], with: [], needs: 'read' },
  { method: 'HEAD', parameters: ['x-id'], with: [], needs: 'read' },
  { method: 'PUT', parameters: ['x-id'], with: [], needs: 'write' },
  { method: 'PUT', parameters: ['x-id', 'partNumber', 'uploadId'], with: ['uploadId'], needs: 'write' },
  { method: 'POST', parameters: ['x-id', 'uploads'], with: ['uploads'], needs: 'write' },
  { method: 'POST', parameters: ['x-id', 'uploadId'], with: ['uploadId'], needs: 'write' },
  { method: 'DELETE', parameters: ['x-id', 'uploadId'], with: ['uploadId'], needs: 'write' },
  { method: 'DELETE', parameters: ['x-id'], with: [], needs: 'delete' },
]
const listParameters: ReadonlySet<string> = new Set([
  ...['list-type', 'prefix', 'delimiter', 'max-keys', 'continuation-token', 'start-after'],
  ...['encoding-type', 'fetch-owner', 'x-id'],
])
/** Payloads whose bytes no chunk signature of a key that the client lacks must prove. */
const payloadPattern = /^(?:UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER|[0-9a-f]{64})$/
const uriCharactersMax = 8192

const refuse = (refusal: string): SignJudgement => ({ isAllowed: false, refusal })

/** Whether the session may do what the request asks. */
export function judgeRequest(
  request: SignableRequest,
  storage: SignedStorage,
  scope: SignScope,
): SignJudgement {
  const target = targetOf(request.uri, storage)
  if (typeof target === 'string') return refuse(target)
  for (const [name, values] of Object.entries(request.headers)) {
    const lower = name.toLowerCase()
    if (lower.startsWith('x-amz-') && !allowedHeaders.has(lower))
      return refuse(`has the header ${lower.slice(0, 64)}, which is not signed`)
    if (lower === 'x-amz-content-sha256' && !(values.length === 1 && payloadPattern.test(values[0] ?? '')))
      return refuse('has a payload that only the holder of the keys can sign')
  }
  const { bucket, key, query } = target
  const allowed = (isRepeatable: boolean): SignJudgement => ({
    isAllowed: true,
    canonicalPath: target.canonicalPath,
    canonicalQuery: canonicalQueryOf(query),
    isRepeatable,
  })
  const names = query.map(([name]) => name)
  if (new Set(names).size !== names.length) return refuse('repeats a parameter')
  if (key === '') {
    if (request.method !== 'GET' || names.some((name) => !listParameters.has(name)))
      return refuse('is an operation on a bucket that is not signed')
    const prefix = query.find(([name]) => name === 'prefix')?.[1] ?? ''
    // Without its slash, a prefix lists siblings whose names begin alike.
    const folder = canonicalPrefix(`s3://${bucket}/${prefix}`)
    const isOwn =
      folder.isClear &&
      folder.path === `s3://${bucket}/${prefix}` &&
      scope.prefixes.some((own) => folder.path.startsWith(own))
    return isOwn ? allowed(false) : refuse('lists what is not a folder of the table')
  }
  const operation = objectOperations.find(
    (one) =>
      one.method === request.method &&
      names.every((name) => one.parameters.includes(name)) &&
      one.with.every((name) => names.includes(name)),
  )
  if (operation === undefined) return refuse('is an operation on an object that is not signed')
  const canonical = canonicalPath(`s3://${bucket}/${key}`)
  if (!canonical.isClear) return refuse('names an object that readers may take for another')
  const isWriter = scope.access === 'write'
  if (operation.needs !== 'read' && !isWriter) return refuse('writes, and the session may only read')
  if (operation.needs === 'delete' && !scope.deletes)
    return refuse('deletes, which the catalog does not allow')
  const isOwn = scope.prefixes.some((prefix) => isWithin(prefix, canonical.path))
  if (!isOwn) return refuse('names an object outside of the table')
  if (!isWriter && !scope.mayRead(canonical.path))
    return refuse('names an object that is no file of the snapshot that is read')
  return allowed(operation.needs === 'read')
}

interface Target {
  readonly bucket: string
  readonly key: string
  readonly canonicalPath: string
  readonly query: readonly (readonly [name: string, value: string])[]
}

/** The object of a URI, or why there is none. */
function targetOf(uri: string, { endpoint, isPathStyle }: SignedStorage): Target | string {
  const parts = /^(https?:\/\/[^/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(uri)
  if (parts === null || uri.length > uriCharactersMax) return 'has no address of an object'
  const [, origin = '', rawPath = '/', rawQuery = ''] = parts
  try {
    // Not by URL, which would resolve dot segments that the storage takes literally.
    const path = decodeURIComponent(rawPath)
    const base = endpoint.pathname.replace(/\/+$/, '')
    const { protocol, host } = endpoint
    const wanted = new URL(origin)
    if (wanted.protocol !== protocol || wanted.username !== '') return 'goes to another storage'
    const within = path.startsWith(`${base}/`) ? path.slice(base.length + 1) : undefined
    if (within === undefined) return 'goes to another storage'
    const query = rawQuery === '' ? [] : rawQuery.split('&').map(parameterOf)
    const canonical = encodePath(path)
    if (!isPathStyle) {
      const bucket = wanted.host.endsWith(`.${host}`) ? wanted.host.slice(0, -host.length - 1) : ''
      if (bucket === '') return 'goes to another storage'
      return { bucket, key: within, canonicalPath: canonical, query }
    }
    if (wanted.host !== host) return 'goes to another storage'
    const slash = within.indexOf('/')
    const [bucket, key] = slash < 0 ? [within, ''] : [within.slice(0, slash), within.slice(slash + 1)]
    return { bucket, key, canonicalPath: canonical, query }
  } catch {
    return 'has an address that is malformed'
  }
}

function parameterOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  const [name, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
  // In a query, a plus may be a space.
  return [decodeURIComponent(name.replaceAll('+', '%20')), decodeURIComponent(value.replaceAll('+', '%20'))]
}

function canonicalQueryOf(query: Target['query']): string {
  return query
    .map(([name, value]) => `${encodeComponent(name)}=${encodeComponent(value)}`)
    .sort()
    .join('&')
}
