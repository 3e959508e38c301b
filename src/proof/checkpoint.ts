/** Checkpoints (C2SP tlog-checkpoint): what a signed note says of a tree, and proofs of one entry (C2SP tlog-proof). */

import { hashBytes } from './hash.ts'

/** What a checkpoint says. */
interface Checkpoint {
  /** Names the log. */
  readonly origin: string
  /** Leaves. */
  readonly size: number
  readonly root: Uint8Array
}

/** The text that is signed. */
export function writeCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`
}

/** Reads the text of a checkpoint; lines after the third are extensions. @returns undefined where it is none */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const [origin, count, encoded, ...rest] = text.split('\n')
  if (origin === undefined || origin === '' || count === undefined || encoded === undefined) return undefined
  if (!/^(?:0|[1-9]\d{0,15})$/.test(count) || rest.at(-1) !== '') return undefined
  const root = hashFrom(encoded)
  const size = Number(count)
  return root === undefined || !Number.isSafeInteger(size) ? undefined : { origin, size, root }
}

/** That an entry is in a tree. */
interface EntryProof {
  readonly index: number
  readonly hashes: readonly Uint8Array[]
  /** The signed note. */
  readonly checkpoint: string
}

const proofVersion = 'c2sp.org/tlog-proof@v1'

/** The text of a proof, which a file of its own may hold. */
export function writeProof({ index, hashes, checkpoint }: EntryProof): string {
  const lines = hashes.map((hash) => `${Buffer.from(hash).toString('base64')}\n`)
  return `${proofVersion}\nindex ${index}\n${lines.join('')}\n${checkpoint}`
}

/** Reads the text of a proof. @returns undefined where it is none */
export function readProof(text: string): EntryProof | undefined {
  const end = text.indexOf('\n\n')
  const [version, at, ...lines] = text.slice(0, Math.max(end, 0)).split('\n')
  const [, index] = /^index (0|[1-9]\d{0,15})$/.exec(at ?? '') ?? []
  if (version !== proofVersion || index === undefined || end < 0) return undefined
  const hashes = lines.map(hashFrom)
  if (hashes.includes(undefined)) return undefined
  return { index: Number(index), hashes: hashes as Uint8Array[], checkpoint: text.slice(end + 2) }
}

function hashFrom(encoded: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(encoded)) return undefined
  const bytes = new Uint8Array(Buffer.from(encoded, 'base64'))
  return bytes.length === hashBytes ? bytes : undefined
}
