/**
 * Signed notes (C2SP signed-note) with Ed25519: a text and signatures below it, each with the name and the id of its key.
 * Holds no key.
 */

import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { sameBytes, sha256 } from './hash.ts'

const ed25519 = 0x01
const publicKeyBytes = 32

/** A key that verifies. */
interface VerifierKey {
  readonly name: string
  /** Four bytes, by which a signature names its key. */
  readonly id: Uint8Array
  /** The 32 bytes of the Ed25519 key. */
  readonly publicKey: Uint8Array
}

/** One line below a note. */
interface NoteSignature {
  readonly name: string
  readonly keyId: Uint8Array
  readonly bytes: Uint8Array
}

/** A note that was read. Nothing of it is verified. */
interface SignedNote {
  /** What was signed, with the newline at its end. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** Names stand in a line between spaces, and in the text of a key before a plus. */
const namePattern = /^[^\s+]+$/u

/** The key that verifies what a private or public key signs under a name. @throws RangeError for a name or key that cannot */
export function verifierKey(name: string, key: KeyObject): VerifierKey {
  if (key.asymmetricKeyType !== 'ed25519') throw new RangeError('the key is not Ed25519')
  const { x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' })
  return keyOf(name, new Uint8Array(Buffer.from(x ?? '', 'base64url')))
}

function keyOf(name: string, publicKey: Uint8Array): VerifierKey {
  if (!namePattern.test(name)) throw new RangeError('a name that no key may have')
  if (publicKey.length !== publicKeyBytes) throw new RangeError('a key of another length')
  const id = sha256(name, '\n', Uint8Array.of(ed25519), publicKey).subarray(0, 4)
  return { name, id, publicKey }
}

/** The text of a key, for `note.NewVerifier` and others: `name+id+key`. */
export function verifierKeyText({ name, id, publicKey }: VerifierKey): string {
  const key = Buffer.concat([Uint8Array.of(ed25519), publicKey]).toString('base64')
  return `${name}+${Buffer.from(id).toString('hex')}+${key}`
}

/** Reads the text of a key. @returns undefined where it is none, or its id is not that of the key */
export function readVerifierKey(text: string): VerifierKey | undefined {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u.exec(text) ?? []
  if (name === undefined || id === undefined || encoded === undefined) return undefined
  const bytes = new Uint8Array(Buffer.from(encoded, 'base64'))
  if (bytes.length !== publicKeyBytes + 1 || bytes[0] !== ed25519) return undefined
  const key = keyOf(name, bytes.subarray(1))
  return sameBytes(key.id, Buffer.from(id, 'hex')) ? key : undefined
}

/**
 * Signs a text.
 * @param text whole lines, none of them empty
 * @param signers in the order of their signatures
 * @throws RangeError for another text
 */
export function signNote(
  text: string,
  signers: readonly { readonly name: string; readonly key: KeyObject }[],
): string {
  if (!text.endsWith('\n') || text.includes('\n\n')) throw new RangeError('a text that no note may have')
  const lines = signers.map(({ name, key }) => {
    const { id } = verifierKey(name, key)
    const signed = sign(undefined, Buffer.from(text), key)
    return `— ${name} ${Buffer.concat([id, signed]).toString('base64')}\n`
  })
  return `${text}\n${lines.join('')}`
}

/** Reads a note. @returns undefined where it is none */
export function readNote(note: string): SignedNote | undefined {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return undefined
  const signatures: NoteSignature[] = []
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const [, name, encoded] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u.exec(line) ?? []
    if (name === undefined || encoded === undefined) return undefined
    const bytes = new Uint8Array(Buffer.from(encoded, 'base64'))
    if (bytes.length < 5) return undefined
    signatures.push({ name, keyId: bytes.subarray(0, 4), bytes: bytes.subarray(4) })
  }
  return { text: note.slice(0, end + 1), signatures }
}

/** The keys, of those that are trusted, which signed a note. */
export function signersOf(note: SignedNote, trusted: readonly VerifierKey[]): readonly VerifierKey[] {
  return trusted.filter((key) => note.signatures.some((one) => isBy(one, key, note.text)))
}

function isBy({ name, keyId, bytes }: NoteSignature, key: VerifierKey, text: string): boolean {
  if (name !== key.name || !sameBytes(keyId, key.id)) return false
  const x = Buffer.from(key.publicKey).toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(undefined, Buffer.from(text), publicKey, bytes)
}
