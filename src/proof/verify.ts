/**
 * Verifies what the service gives as proof, without the service: signed checkpoints, proofs of entries, proofs that one
 * tree begins with another. It says what is wrong and where, and trusts the given keys alone.
 */

import { readCheckpoint } from './checkpoint.ts'
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

/** Verifies checkpoints, and that no two of one log and size differ. @returns nothing where all is well */
export function verifyCheckpoints(
  notes: readonly { readonly name: string; readonly note: string }[],
  keys: readonly Key[],
): readonly Finding[] {
  const findings: Finding[] = []
  const roots = new Map<string, { readonly name: string; readonly root: Uint8Array }>()
  for (const { name, note } of notes) {
    const signed = readSigned(note, keys, name)
    if (isFinding(signed)) {
      findings.push(signed)
      continue
    }
    const place = `${signed.origin} ${signed.size}`
    const other = roots.get(place)
    if (other === undefined) roots.set(place, { name, root: signed.root })
    else if (!sameBytes(other.root, signed.root))
      findings.push({
        kind: 'forked',
        text: `${name} and ${other.name} are of ${signed.size} leaves and differ`,
      })
  }
  return findings
}

/** The answer of `GET /api/v1/audit/consistency`. */
export interface ShownBeginning {
  readonly hashes: readonly string[]
  readonly from_checkpoint?: string | undefined
  readonly to_checkpoint?: string | undefined
}

/** Verifies that one checkpoint begins with another. @returns nothing where all is well */
export function verifyBeginning(answer: ShownBeginning, keys: readonly Key[]): readonly Finding[] {
  const { from_checkpoint: before, to_checkpoint: after, hashes } = answer
  if (before === undefined || after === undefined)
    return [{ kind: 'incomplete', text: 'no checkpoint has one of the two sizes' }]
  const [from, to] = [
    readSigned(before, keys, 'the earlier checkpoint'),
    readSigned(after, keys, 'the later one'),
  ]
  if (isFinding(from)) return [from]
  if (isFinding(to)) return [to]
  if (from.origin !== to.origin) return [{ kind: 'forked', text: 'the checkpoints are of two logs' }]
  if (verifyConsistency(from, to, hashes.map(fromBase64))) return []
  const text = `the tree of ${to.size} leaves does not begin with that of ${from.size}: something before was changed, left out or reordered`
  return [{ kind: 'forked', text }]
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

/** Verifies that an entry is in the tree of its checkpoint. @returns nothing where all is well */
export function verifyEntry(answer: ShownProof, keys: readonly Key[]): readonly Finding[] {
  const { index, hashes, checkpoint, entry, within } = answer
  const signed = readSigned(checkpoint, keys, 'the checkpoint')
  if (isFinding(signed)) return [signed]
  const leaf = fromBase64(answer.leaf_hash)
  const findings: Finding[] = []
  if (entry === undefined)
    findings.push({
      kind: 'incomplete',
      text: `the entry of leaf ${index} is not there, its hash alone is proven`,
    })
  else if (!sameBytes(leafHash(Buffer.from(entry)), leaf))
    findings.push({ kind: 'changed', text: `the entry is not the one of leaf ${index}` })
  const { size, root } = signed
  if (!verifyInclusion({ index, size, root }, leaf, hashes.map(fromBase64)))
    findings.push({
      kind: 'changed',
      text: `leaf ${index} is not in the tree of ${size} leaves that was signed`,
    })
  if (within !== undefined && !isWithin(within, entry))
    findings.push({ kind: 'changed', text: `record ${within.index} is not among those of its hour` })
  return findings
}

function isWithin(
  { index, size, hashes, entry }: NonNullable<ShownProof['within']>,
  outer: string | undefined,
): boolean {
  const root = /"root":"([0-9a-f]{64})"/.exec(outer ?? '')?.[1]
  if (root === undefined) return false
  const at = { index, size, root: new Uint8Array(Buffer.from(root, 'hex')) }
  return verifyInclusion(at, leafHash(Buffer.from(entry)), hashes.map(fromBase64))
}

const fromBase64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
