/**
 * Ranged, counted reads of admitted locations: local files and S3. S3 gets exactly the credentials that the
 * catalog credential holds; what the process finds in its environment is never used for a tenant.
 */

import { open, realpath, stat } from 'node:fs/promises'
import { admitLocation, type Location, parseRoots } from './locations.ts'
import { ScanFailure } from './scan-failure.ts'

/** Plain data: it crosses to the worker. */
export interface StorageAccess {
  readonly roots: readonly string[]
  readonly s3: S3Access | undefined
}

export interface S3Access {
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
  /** Whether the bucket stands in the host name rather than in the path. */
  readonly virtualHosted: boolean
}

export interface StoredFile {
  /** Bytes. */
  readonly size: number
  /** @throws ScanFailure where fewer bytes are there */
  read(start: number, end: number): Promise<Uint8Array>
}

export interface Storage {
  /** Bytes read so far. */
  readonly bytesRead: number
  /** @throws ScanFailure where the location may not be read or is not there */
  open(location: string): Promise<StoredFile>
  /** A whole file. @throws ScanFailure where it is larger than `bytesMax` */
  readAll(location: string, bytesMax: number): Promise<Uint8Array>
  /** Closes what is open. */
  close(): Promise<void>
}

/** Opens storage for one scan. */
export function openStorage(access: StorageAccess): Storage {
  const roots = parseRoots(access.roots)
  const closers: (() => Promise<void>)[] = []
  let bytesRead = 0
  const counted = (file: StoredFile): StoredFile => ({
    size: file.size,
    async read(start, end) {
      if (start < 0 || end > file.size || start > end)
        throw new ScanFailure('a file ends before what it should hold')
      if (start === end) return new Uint8Array(0)
      const bytes = await file.read(start, end)
      bytesRead += bytes.length
      if (bytes.length !== end - start) throw new ScanFailure('a file ends before what it should hold')
      return bytes
    },
  })
  const openFile = async (text: string): Promise<StoredFile> => {
    const location = admitLocation(text, roots)
    if (location.kind === 's3') return counted(await openS3(access.s3, location))
    const { file, close } = await openLocal(location.path, roots)
    closers.push(close)
    return counted(file)
  }
  return {
    get bytesRead() {
      return bytesRead
    },
    open: openFile,
    async readAll(location, bytesMax) {
      const file = await openFile(location)
      if (file.size > bytesMax) throw new ScanFailure(`a metadata file has more than ${bytesMax} bytes`)
      return file.read(0, file.size)
    },
    async close() {
      for (const close of closers.splice(0)) await close().catch(() => {})
    },
  }
}

/** Links are resolved before the roots are asked again, so that none leads out of them. */
async function openLocal(
  path: string,
  roots: readonly Location[],
): Promise<{ file: StoredFile; close: () => Promise<void> }> {
  try {
    const real = await realpath(path)
    const realRoots = await Promise.all(
      roots.flatMap((root) => (root.kind === 'file' ? [realpath(root.path).catch(() => root.path)] : [])),
    )
    admitLocation(real, parseRoots(realRoots))
    // Asked before it is opened: opening a pipe would wait for its writer.
    if (!(await stat(real)).isFile()) throw new ScanFailure('a location is not a file')
    const handle = await open(real, 'r')
    const { size } = await handle.stat()
    return {
      close: () => handle.close(),
      file: {
        size,
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
      },
    }
  } catch (thrown) {
    throw readFailure(thrown)
  }
}

async function openS3(
  access: S3Access | undefined,
  { bucket, key }: Extract<Location, { kind: 's3' }>,
): Promise<StoredFile> {
  if (access === undefined)
    throw new ScanFailure(
      'the catalog credential holds no storage credentials (s3.access-key-id, s3.secret-access-key)',
    )
  const client = new Bun.S3Client({
    bucket,
    endpoint: access.endpoint,
    region: access.region,
    accessKeyId: access.accessKeyId,
    secretAccessKey: access.secretAccessKey,
    // An empty token, since an absent one would be taken from the environment.
    sessionToken: access.sessionToken ?? '',
    virtualHostedStyle: access.virtualHosted,
  })
  try {
    const { size } = await client.stat(key)
    return {
      size,
      async read(start, end) {
        try {
          return await client.file(key).slice(start, end).bytes()
        } catch (thrown) {
          throw readFailure(thrown)
        }
      },
    }
  } catch (thrown) {
    throw readFailure(thrown)
  }
}

const missing = new Set(['ENOENT', 'ENOTDIR', 'NoSuchKey', 'NoSuchBucket', 'UnknownError404', '404'])
const refused = new Set([
  'EACCES',
  'EPERM',
  'AccessDenied',
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
])

function readFailure(thrown: unknown): ScanFailure {
  if (thrown instanceof ScanFailure) return thrown
  const code = String((thrown as { code?: unknown } | null)?.code ?? '')
  if (missing.has(code)) return new ScanFailure('a file is not there')
  if (refused.has(code)) return new ScanFailure(`storage refused access (${code})`)
  return new ScanFailure(`storage failed (${/^[A-Za-z0-9_]{1,40}$/.test(code) ? code : 'unknown'})`, true)
}
