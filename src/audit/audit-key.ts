/** The key that signs checkpoints: read from a file, apart from the secrets key, and held in memory alone. */

import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import { Fault } from '../base/fault.ts'
import { readNote, signersOf, signNote, verifierKey, verifierKeyText } from '../proof/signed-note.ts'
import type { CheckpointSigner } from '../store/proof/checkpoints.ts'

/** Where the keys are. */
export interface AuditKeyFiles {
  /** PEM of a private Ed25519 key. */
  readonly keyFile: string
  /** The one that signed before. */
  readonly formerKeyFile: string | undefined
}

/**
 * Reads the keys, or says in the log that there are none.
 * @returns undefined where none is set
 * @throws Fault `misconfigured` where a file cannot be read or holds no private Ed25519 key
 */
export async function openAuditKey(
  files: AuditKeyFiles | undefined,
  log: Pick<Logger, 'warn'>,
): Promise<CheckpointSigner | undefined> {
  if (files === undefined) {
    log.warn('SVC_AUDIT_KEY_FILE is not set: the audit is not proven')
    return undefined
  }
  const { keyFile, formerKeyFile } = files
  const key = await readKey('SVC_AUDIT_KEY_FILE', keyFile)
  const former =
    formerKeyFile === undefined ? undefined : await readKey('SVC_AUDIT_KEY_FORMER_FILE', formerKeyFile)
  return checkpointSigner(key, former)
}

async function readKey(variable: string, path: string): Promise<KeyObject> {
  const unusable = (cause: unknown, what: string) =>
    new Fault('misconfigured', `${variable}: ${what}.`, { cause })
  const pem = await Bun.file(path)
    .text()
    .catch((cause: unknown) => {
      throw unusable(cause, 'the file cannot be read')
    })
  const expected = 'the file holds no private Ed25519 key in PEM (`openssl genpkey -algorithm ed25519`)'
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // The error of the parser may quote the file.
    throw unusable(undefined, expected)
  }
  throw unusable(undefined, expected)
}

/**
 * Signs with a key, and beside with the one before where that signed the last checkpoint. It trusts these two keys alone,
 * and nothing that the database says of keys.
 */
export function checkpointSigner(key: KeyObject, former: KeyObject | undefined): CheckpointSigner {
  const isBy = (note: string, origin: string, by: KeyObject) => {
    const read = readNote(note)
    return read !== undefined && signersOf(read, [verifierKey(origin, by)]).length > 0
  }
  const signerOf: CheckpointSigner['signerOf'] = (origin, note) => {
    if (isBy(note, origin, key)) return 'present'
    return former !== undefined && isBy(note, origin, former) ? 'former' : undefined
  }
  return {
    signerOf,
    sign(origin, text, last) {
      const signers = [{ name: origin, key }]
      const before = last === undefined ? 'present' : signerOf(origin, last)
      if (before === undefined)
        throw new Fault(
          'misconfigured',
          'The last checkpoint is signed by no key at hand: SVC_AUDIT_KEY_FORMER_FILE names no key that signed it, or it was forged.',
        )
      if (before === 'former' && former !== undefined) signers.push({ name: origin, key: former })
      return { note: signNote(text, signers), signedBy: verifierKeyText(verifierKey(origin, key)) }
    },
  }
}
