/**
 * Reads byte ranges of admitted locations in local files and S3, and counts the bytes. S3 receives only credentials
 * that the catalog credential holds or its catalog vends. Credentials in the process's environment are never used for a
 * tenant.
 */

import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isIP } from 'node:net'
import { AwsClient } from 'aws4fetch'
import type { ByteBudget } from '../base/byte-budget.ts'
import { limits } from '../limits.ts'
import { admitLocation, type Location, parseRoots } from './locations.ts'
import { ReadFailure } from './read-failure.ts'

/** Plain data, because it is sent to the worker. */
export interface StorageAccess {
  readonly roots: readonly string[]
  /** Used for every location that no entry of `vended` covers. */
  readonly s3: S3Access | undefined
  /** Of the entries whose prefix matches an address, the longest is used. */
  readonly vended?: readonly VendedS3[]
}

export interface VendedS3 {
  /** `s3://bucket/…`, compared by characters, as in the Iceberg REST specification. */
  readonly prefix: string
  readonly s3: S3Access
}

export interface S3Access {
  readonly endpoint: string
  /**
   * Checked addresses by host name. Connections go only there, whatever the names resolve to later. Undefined: not
   * checked, which is the caller's responsibility.
   */
  readonly addresses?: Readonly<Record<string, readonly string[]>> | undefined
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
  /** Whether the bucket is part of the host name instead of the path. */
  readonly virtualHosted: boolean
}

type S3Location = Extract<Location, { kind: 's3' }>

export interface StoredFile {
  /** Bytes. */
  readonly size: number
  /** @throws ReadFailure where fewer bytes are there */
  read(start: number, end: number): Promise<Uint8Array>
  /** Closes it before its storage is closed. */
  close(): Promise<void>
}

interface StorageWork extends Disposable {
  run<T>(part: () => T): T
}

export interface Storage {
  /** Bytes read so far. */
  readonly bytesRead: number
  /** @throws ReadFailure where the location may not be read or is not there */
  open(location: string): Promise<StoredFile>
  /** A whole file. @throws ReadFailure where it is larger than `bytesMax` */
  readAll(location: string, bytesMax: number): Promise<Uint8Array>
  /** Runs work that needs what it read no longer once it has ended, so that its bytes are released then. */
  during<T>(work: () => Promise<T>): Promise<T>
  /** The same for work in several parts: the bytes of what is read in it are released once it is disposed. */
  work(): StorageWork
  /** Closes all open files. */
  close(): Promise<void>
}

/**
 * Opens storage for one scan.
 * @param budget where what is read is reserved, as what it is once parsed; a read then also throws a Fault `overloaded`.
 *   Absent: not counted
 */
export function openStorage(access: StorageAccess, budget?: ByteBudget): Storage {
  const roots = parseRoots(access.roots)
  const realRoots = realRootsOf(roots)
  const opened = new Set<StoredFile>()
  let bytesRead = 0
  let isClosed = false
  const counted = (file: StoredFile): StoredFile => ({
    size: file.size,
    async close() {
      if (opened.delete(file)) await file.close().catch(() => {})
    },
    async read(start, end) {
      if (start < 0 || end > file.size || start > end)
        throw new ReadFailure('a file ends before what it should hold')
      if (start === end) return new Uint8Array(0)
      const held = await budget?.reserveInTurn({ parse: (end - start) * (1 + limits.parsedBytesPerByte) })
      let bytes: Uint8Array
      try {
        bytes = await file.read(start, end)
      } catch (thrown) {
        held?.release()
        throw thrown
      }
      held?.leave()
      bytesRead += bytes.length
      if (bytes.length !== end - start) throw new ReadFailure('a file ends before what it should hold')
      return bytes
    },
  })
  const openFile = async (text: string): Promise<StoredFile> => {
    const location = admitLocation(text, roots)
    if (location.kind === 's3') return counted(await openS3(s3For(access, location), location))
    const file = await openLocal(location.path, realRoots)
    // close() did not wait for files that were still being opened.
    if (isClosed) {
      await file.close()
      throw new ReadFailure('storage was closed', true)
    }
    opened.add(file)
    return counted(file)
  }
  return {
    get bytesRead() {
      return bytesRead
    },
    open: openFile,
    async readAll(location, bytesMax) {
      const file = await openFile(location)
      if (file.size > bytesMax) throw new ReadFailure(`a metadata file has more than ${bytesMax} bytes`)
      return file.read(0, file.size)
    },
    during: (work) => (budget === undefined ? work() : budget.during(work)),
    work() {
      const work = budget?.open()
      return {
        run: (part) => (work === undefined ? part() : work.run(part)),
        [Symbol.dispose]: () => work?.release(),
      }
    },
    async close() {
      isClosed = true
      for (const file of opened) await file.close().catch(() => {})
      opened.clear()
    },
  }
}

/** The access with which an address in S3 is read; undefined where there is none. */
export function s3For({ s3, vended = [] }: StorageAccess, { bucket, key }: S3Location): S3Access | undefined {
  const address = `s3://${bucket}/${key}`
  let best: VendedS3 | undefined
  for (const one of vended)
    if (address.startsWith(one.prefix) && one.prefix.length >= (best?.prefix.length ?? 0)) best = one
  return best?.s3 ?? s3
}

/** The local roots without symbolic links; found once, when they are first asked for. */
function realRootsOf(roots: readonly Location[]): () => Promise<readonly Location[]> {
  let found: Promise<readonly Location[]> | undefined
  return () => {
    found ??= Promise.all(
      roots.flatMap((root) => (root.kind === 'file' ? [realpath(root.path).catch(() => root.path)] : [])),
    ).then(parseRoots)
    return found
  }
}

/** Resolves symbolic links before it checks the roots, so that no link leads out of them. */
async function openLocal(path: string, realRoots: () => Promise<readonly Location[]>): Promise<StoredFile> {
  try {
    const real = await realpath(path)
    admitLocation(real, await realRoots())
    // Opening a pipe would wait for its writer.
    const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK)
    const file = await handle.stat()
    if (!file.isFile()) {
      await handle.close()
      throw new ReadFailure('a location is not a file')
    }
    return {
      size: file.size,
      close: () => handle.close(),
      async read(start, end) {
        const bytes = new Uint8Array(end - start)
        let at = 0
        while (at < bytes.length) {
          const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at)
          if (bytesRead === 0) break
          at += bytesRead
        }
        return bytes.subarray(0, at)
      },
    }
  } catch (thrown) {
    throw readFailure(thrown)
  }
}

/**
 * Opens an S3 object. It does not use Bun.S3Client, which adds the session token of this process's environment to
 * requests with other credentials.
 */
async function openS3(access: S3Access | undefined, { bucket, key }: S3Location): Promise<StoredFile> {
  if (access === undefined)
    throw new ReadFailure(
      'the catalog credential holds no storage credentials (s3.access-key-id, s3.secret-access-key)',
    )
  const signer = signerOf(access)
  const url = objectUrl(access, bucket, key)
  const ask = (method: 'HEAD' | 'GET', range?: string) => send(signer, access.addresses, url, method, range)
  const head = await ask('HEAD')
  if (!head.ok) throw await refusal(head, ask)
  const size = Number(head.headers.get('content-length') ?? Number.NaN)
  if (!Number.isSafeInteger(size)) throw new ReadFailure('storage did not say how large a file is', true)
  return {
    size,
    close: async () => {},
    async read(start, end) {
      const response = await ask('GET', `bytes=${start}-${end - 1}`)
      if (!response.ok) throw await refusal(response, ask)
      const length = Number(response.headers.get('content-length') ?? Number.NaN)
      if (length !== end - start) {
        await response.body?.cancel()
        throw new ReadFailure('storage did not serve the requested range', true)
      }
      try {
        return await response.bytes()
      } catch {
        throw new ReadFailure('storage broke off its reply', true)
      }
    },
  }
}

/** Milliseconds for one request. */
const requestMs = 60_000

type Ask = (method: 'HEAD' | 'GET', range?: string) => Promise<Response>

/** What signs requests with keys. */
export function signerOf({ accessKeyId, secretAccessKey, sessionToken, region }: S3Access): AwsClient {
  return new AwsClient({
    ...{ accessKeyId, secretAccessKey, region },
    service: 's3',
    retries: 0,
    ...(sessionToken !== undefined && { sessionToken }),
  })
}

/** Sends one request to a checked address. @throws ReadFailure where none answers */
export async function send(
  signer: AwsClient,
  addresses: S3Access['addresses'],
  url: string,
  method: 'HEAD' | 'GET',
  range?: string,
): Promise<Response> {
  const signed = await signer.sign(url, { method, headers: range === undefined ? {} : { range } })
  const { host, hostname, protocol } = new URL(url)
  const init: BunFetchRequestInit = {
    method,
    headers: { ...Object.fromEntries(signed.headers), host },
    redirect: 'manual',
    decompress: false,
    signal: AbortSignal.timeout(requestMs),
  }
  if (protocol === 'https:' && isIP(bareHost(hostname)) === 0) init.tls = { serverName: hostname }
  for (const target of targets(url, addresses))
    try {
      return await fetch(target, init)
    } catch {
      // The next address may succeed.
    }
  throw new ReadFailure('storage could not be reached', true)
}

function targets(url: string, addresses: S3Access['addresses']): readonly string[] {
  if (addresses === undefined) return [url]
  const { protocol, port, hostname, pathname, search } = new URL(url)
  const checked = Object.hasOwn(addresses, hostname) ? (addresses[hostname] ?? []) : []
  return checked.map((address) => {
    const authority = isIP(address) === 6 ? `[${address}]` : address
    return `${protocol}//${authority}${port === '' ? '' : `:${port}`}${pathname}${search}`
  })
}

const bareHost = (hostname: string) => hostname.replace(/^\[(.*)\]$/, '$1')

/** The URL of a bucket. */
export function bucketUrl({ endpoint, virtualHosted }: S3Access, bucket: string): URL {
  const url = new URL(endpoint)
  if (virtualHosted) url.hostname = `${bucket}.${url.hostname}`
  return url
}

/** The URL of an object; of the bucket for an empty key. */
export function objectUrl(access: S3Access, bucket: string, key: string): string {
  const { virtualHosted } = access
  const url = bucketUrl(access, bucket)
  const path = key.split('/').map(encodeSegment).join('/')
  const base = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${base}/${virtualHosted ? '' : `${bucket}/`}${path}`
}

/** Encodes as SigV4 requires: all but the unreserved characters of RFC 3986. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const errorBytesMax = 16 * 1024

/** S3's codes for expired session credentials; a retry may have newer ones. */
const endedCodes: ReadonlySet<string> = new Set(['ExpiredToken', 'InvalidToken', 'TokenRefreshRequired'])

/**
 * The failure that a refused request means.
 * @param ask asks the same once more, for a HEAD, which has no body: a read of one byte fetches the reason
 */
export async function refusal(response: Response, ask: Ask): Promise<ReadFailure> {
  const { status } = response
  if (status === 404) return new ReadFailure('a file is not there')
  const explained = response.body === null ? await ask('GET', 'bytes=0-0') : response
  const code =
    /<Code>([A-Za-z0-9.]{1,60})<\/Code>/.exec(await bodyStart(explained))?.[1] ?? `status ${status}`
  if (status === 401 || status === 403 || status === 400)
    return new ReadFailure(`storage refused access (${code})`, endedCodes.has(code))
  return new ReadFailure(`storage failed (${code})`, true)
}

/** Reads the start of a body, which holds the reason. The rest is not read, because it may never end. */
async function bodyStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of body ?? []) {
      chunks.push(chunk)
      sizeBytes += chunk.length
      // Leaving the loop closes the connection.
      if (sizeBytes >= errorBytesMax) break
    }
  } catch {
    // The part that arrived is enough.
  }
  return Buffer.concat(chunks).toString('utf8', 0, errorBytesMax)
}

const missing = new Set(['ENOENT', 'ENOTDIR'])
const refused = new Set(['EACCES', 'EPERM'])

function readFailure(thrown: unknown): ReadFailure {
  if (thrown instanceof ReadFailure) return thrown
  const code = String((thrown as { code?: unknown } | null)?.code ?? '')
  if (missing.has(code)) return new ReadFailure('a file is not there')
  if (refused.has(code)) return new ReadFailure(`storage refused access (${code})`)
  return new ReadFailure(`storage failed (${/^[A-Za-z0-9_]{1,40}$/.test(code) ? code : 'unknown'})`, true)
}
