/**
 * Verifies what the service gives as proof, without the service: signed checkpoints, proofs of entries, proofs that one
 * tree begins with another, and all of them beside each other. It says what is proven, what is wrong and where, and trusts
 * the given keys alone.
 */

import { parseJson } from '../base/json.ts'
import { readCheckpoint } from './checkpoint.ts'
import { type LeafKind, readEntry } from './entry.ts'
import { leafHash, sameBytes } from './hash.ts'
import { verifyConsistency, verifyInclusion } from './merkle.ts'
import { readNote, readVerifierKey, signersOf } from './signed-note.ts'

/** What is wrong: one word for the kind, one sentence that says where. */
export interface Finding {
  readonly kind: 'malformed' | 'wrong key' | 'changed' | 'forked' | 'incomplete'
  readonly text: string
}

type Key = NonNullable<ReturnType<typeof readVerifierKey>>
type Signed = NonNullable<ReturnType<typeof readCheckpoint>>

/** Reads the texts of keys. @returns undefined where one cannot be read */
export function readKeys(texts: readonly string[]): readonly Key[] | undefined {
  const keys = texts.map((text) => readVerifierKey(text.trim()))
  return keys.includes(undefined) ? undefined : (keys as Key[])
}

/** What a signed checkpoint says, or why it says nothing. */
function readSigned(note: string, keys: readonly Key[], what: string): Signed | Finding {
  const read = readNote(note)
  const checkpoint = read && readCheckpoint(read.text)
  if (read === undefined || checkpoint === undefined)
    return { kind: 'malformed', text: `${what} is no signed checkpoint` }
  const isSigned = signersOf(read, keys).some(({ name }) => name === checkpoint.origin)
  return isSigned ? checkpoint : { kind: 'wrong key', text: `${what} is not signed by a trusted key` }
}

const isFinding = (value: object): value is Finding => 'kind' in value

/** What one file shows. */
export interface Review {
  /** Nothing where all is well. */
  readonly findings: readonly Finding[]
  /** What it proves where all is well, for a person. */
  readonly proven: string
  /** Every checkpoint in it that a trusted key signed. */
  readonly checkpoints: readonly Signed[]
  /** The sizes of which it shows that the greater tree begins with the smaller one, or does not. */
  readonly link?: { readonly origin: string; readonly from: number; readonly to: number }
}

const wrong = (...findings: readonly Finding[]): Review => ({ findings, proven: '', checkpoints: [] })

/** Verifies a checkpoint. */
export function reviewCheckpoint(note: string, keys: readonly Key[]): Review {
  const signed = readSigned(note, keys, 'it')
  if (isFinding(signed)) return wrong(signed)
  const proven = `a checkpoint of ${signed.origin} with ${signed.size} leaves`
  return { findings: [], proven, checkpoints: [signed] }
}

/**
 * Compares the checkpoints of all files: no two of one log and size may differ, and of the sizes of a log each must be
 * proven to be what the greatest begins with.
 */
export function compareCheckpoints(
  files: readonly { readonly name: string; readonly review: Review }[],
): readonly Finding[] {
  const findings: Finding[] = []
  const logs = new Map<string, Map<number, { readonly name: string; readonly root: Uint8Array }>>()
  for (const { name, review } of files)
    for (const { origin, size, root } of review.checkpoints) {
      const sizes = logs.get(origin) ?? new Map()
      logs.set(origin, sizes)
      const other = sizes.get(size)
      if (other === undefined) sizes.set(size, { name, root })
      else if (!sameBytes(other.root, root))
        findings.push({ kind: 'forked', text: `${name} and ${other.name} are of ${size} leaves and differ` })
    }
  const links = files.flatMap(({ review }) => review.link ?? [])
  for (const [origin, sizes] of logs) {
    const greatest = Math.max(...sizes.keys())
    const linked = sizesBelow(
      greatest,
      links.filter((link) => link.origin === origin),
    )
    for (const [size, { name }] of sizes)
      if (!linked.has(size))
        findings.push({
          kind: 'incomplete',
          text: `no file shows that the tree of ${greatest} leaves of ${origin} begins with that of ${size} in ${name}`,
        })
  }
  return findings
}

/** The sizes from which links lead up to the greatest. That two trees begin with a third one links them not. */
function sizesBelow(
  greatest: number,
  links: readonly { readonly from: number; readonly to: number }[],
): ReadonlySet<number> {
  const found = new Set([greatest])
  // A set goes on with what is added while it is walked.
  for (const size of found) for (const { from, to } of links) if (to === size) found.add(from)
  return found
}

/** The answer of `GET /api/v1/audit/consistency`. */
export interface ShownBeginning {
  readonly hashes: readonly string[]
  readonly from_checkpoint?: string | undefined
  readonly to_checkpoint?: string | undefined
}

/** Verifies that one checkpoint begins with another. */
export function reviewBeginning(answer: ShownBeginning, keys: readonly Key[]): Review {
  const { from_checkpoint: before, to_checkpoint: after, hashes } = answer
  if (before === undefined || after === undefined)
    return wrong({ kind: 'incomplete', text: 'no checkpoint has one of the two sizes' })
  const [from, to] = [
    readSigned(before, keys, 'the earlier checkpoint'),
    readSigned(after, keys, 'the later one'),
  ]
  if (isFinding(from)) return wrong(from)
  if (isFinding(to)) return wrong(to)
  const { origin } = to
  const shown = { checkpoints: [from, to], link: { origin, from: from.size, to: to.size } }
  if (from.origin !== origin) return wrong({ kind: 'forked', text: 'the checkpoints are of two logs' })
  const proven = `the tree of ${to.size} leaves of ${origin} begins with that of ${from.size}`
  if (verifyConsistency(from, to, hashes.map(fromBase64))) return { findings: [], proven, ...shown }
  const text = `the tree of ${to.size} leaves does not begin with that of ${from.size}: something before was changed, left out or reordered`
  return { findings: [{ kind: 'forked', text }], proven: '', ...shown }
}

/** The answer of `GET /api/v1/audit/proof`. */
export interface ShownProof {
  readonly index: number
  readonly leaf_hash: string
  readonly hashes: readonly string[]
  readonly checkpoint: string
  readonly entry?: string | undefined
  readonly within?:
    | {
        readonly index: number
        readonly size: number
        readonly hashes: readonly string[]
        readonly entry: string
      }
    | undefined
}

type Entry = NonNullable<ReturnType<typeof readEntry>>

/** Kinds of which a leaf stands for many records, so that it says nothing of one of them. */
const batchKinds: readonly LeafKind[] = ['usage-hour', 'detection-hour']

/** Verifies that an entry is in the tree of its checkpoint. */
export function reviewEntry(answer: ShownProof, keys: readonly Key[]): Review {
  const { index, hashes, checkpoint, entry, within } = answer
  const signed = readSigned(checkpoint, keys, 'the checkpoint')
  if (isFinding(signed)) return wrong(signed)
  const leaf = fromBase64(answer.leaf_hash)
  const findings: Finding[] = []
  const found = (kind: Finding['kind'], text: string) => findings.push({ kind, text })
  const read = entry === undefined ? undefined : entryFrom(entry)
  if (entry === undefined)
    found('incomplete', `the entry of leaf ${index} is not there, its hash alone is proven`)
  else if (!sameBytes(leafHash(Buffer.from(entry)), leaf))
    found('changed', `the entry is not the one of leaf ${index}`)
  else if (read === undefined) found('incomplete', `the entry of leaf ${index} is of another version`)
  const { origin, size, root } = signed
  if (!verifyInclusion({ index, size, root }, leaf, hashes.map(fromBase64)))
    found('changed', `leaf ${index} is not in the tree of ${size} leaves that was signed`)
  const inner = within === undefined ? undefined : entryFrom(within.entry)
  if (within !== undefined && !(read && inner && isWithin(within, read, inner)))
    found('changed', `record ${within.index} is not among those of its hour`)
  else if (within === undefined && read !== undefined && batchKinds.includes(read.kind))
    found('incomplete', `leaf ${index} stands for the records of an hour, and none of them is proven`)
  const record = inner === undefined ? '' : `${wordsOf(inner)} in `
  const proven =
    read === undefined ? '' : `${record}${wordsOf(read)} is leaf ${index} of ${size} of ${origin}`
  return { findings, proven, checkpoints: [signed] }
}

function entryFrom(text: string): Entry | undefined {
  try {
    return readEntry(Buffer.from(text), parseJson)
  } catch {
    return undefined
  }
}

function isWithin(
  { index, size, hashes, entry }: NonNullable<ShownProof['within']>,
  { kind, members }: Entry,
  inner: Entry,
): boolean {
  const root = members.get('root')
  if (!batchKinds.includes(kind) || inner.kind !== kind) return false
  if (typeof root !== 'string' || !/^[0-9a-f]{64}$/.test(root)) return false
  if (members.get('rows') !== BigInt(size)) return false
  const at = { index, size, root: new Uint8Array(Buffer.from(root, 'hex')) }
  return verifyInclusion(at, leafHash(Buffer.from(entry)), hashes.map(fromBase64))
}

/** Members that say to a person which row it is, with the words before them. */
const telling = {
  commit: 'commit',
  query: 'query',
  run: 'run',
  at: 'at',
  started_at: 'at',
  finished_at: 'at',
}

/** Kind, number, id and time of an entry. A text with other signs than an id has is left out: it goes to a terminal. */
function wordsOf({ kind, members }: Entry): string {
  const words = Object.entries(telling).flatMap(([name, word]) => {
    const value = members.get(name)
    return typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? [`${word} ${value}`] : []
  })
  return [`${kind} ${members.get('ref') ?? ''}`, ...words].join(', ')
}

const fromBase64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
