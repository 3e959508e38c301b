/** Lists the objects below a folder in S3, a bounded part at a time, with the same roots and keys as storage.ts. */

import { textOf } from './location-syntax.ts'
import { admitLocation, parseRoots } from './locations.ts'
import { ReadFailure } from './read-failure.ts'
import { objectUrl, refusal, type StorageAccess, s3For, send, signerOf } from './storage.ts'

export interface ListedObject {
  /** As a canonical location is written. It may hold what no canonical location holds. */
  readonly location: string
  readonly key: string
  readonly bytes: number
  readonly modifiedAt: Date
}

interface ListedPart {
  /** In the order of their keys. */
  readonly objects: readonly ListedObject[]
  /** Whether there are more after the last. */
  readonly isMore: boolean
}

/** Objects of one part, the most that S3 gives. */
const listedObjectsMax = 1_000
const replyBytesMax = 4 * 1024 * 1024

/**
 * One part of a folder's objects, at every depth.
 * @param folder canonical, with one trailing slash
 * @param after the key after which the part begins; '' for the first
 * @throws ReadFailure where the folder may not be read or the storage fails
 */
export async function listFolder(access: StorageAccess, folder: string, after: string): Promise<ListedPart> {
  const location = admitLocation(folder.slice(0, -1), parseRoots(access.roots))
  if (location.kind !== 's3') throw new ReadFailure('only folders in S3 are listed')
  const { bucket } = location
  const s3 = s3For(access, location)
  if (s3 === undefined)
    throw new ReadFailure(
      'the catalog credential holds no storage credentials (s3.access-key-id, s3.secret-access-key)',
    )
  const url = new URL(objectUrl(s3, bucket, ''))
  const asked = {
    'list-type': '2',
    'encoding-type': 'url',
    'max-keys': String(listedObjectsMax),
    prefix: `${location.key}/`,
    ...(after !== '' && { 'start-after': after }),
  }
  // As a signature writes a query: a plus would be a space to some servers and a plus to others.
  url.search = Object.entries(asked)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  const signer = signerOf(s3)
  const ask = () => send(signer, s3.addresses, url.href, 'GET')
  const response = await ask()
  if (!response.ok) throw await refusal(response, ask)
  const text = await bodyOf(response)
  const objects = [...text.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].map(([, part = '']) =>
    objectOf(part, bucket),
  )
  const isMore = elementOf(text, 'IsTruncated') === 'true'
  if (isMore && objects.length === 0) throw unreadable()
  return { objects, isMore }
}

function objectOf(part: string, bucket: string): ListedObject {
  const written = elementOf(part, 'Key')
  const bytes = Number(elementOf(part, 'Size') ?? Number.NaN)
  const modifiedAt = new Date(elementOf(part, 'LastModified') ?? Number.NaN)
  if (written === undefined || !Number.isSafeInteger(bytes) || Number.isNaN(modifiedAt.getTime()))
    throw unreadable()
  try {
    const key = decodeURIComponent(written.replaceAll('+', '%20'))
    return { location: textOf({ kind: 's3', bucket, key }), key, bytes, modifiedAt }
  } catch {
    throw unreadable()
  }
}

const unreadable = () => new ReadFailure('storage listed a folder in a form that cannot be read', true)

/** Keys are encoded, so no element that is read holds markup. */
function elementOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk)
      sizeBytes += chunk.length
      if (sizeBytes > replyBytesMax) break
    }
  } catch {
    throw new ReadFailure('storage broke off its reply', true)
  }
  if (sizeBytes > replyBytesMax) throw unreadable()
  return Buffer.concat(chunks).toString()
}
