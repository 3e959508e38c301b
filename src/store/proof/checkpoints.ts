/** Makes and reads checkpoints of a tenant's tree. Holds no key: what signs is given. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { readCheckpoint, writeCheckpoint } from '../../proof/checkpoint.ts'
import { sameBytes } from '../../proof/hash.ts'
import { readNote } from '../../proof/signed-note.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { readEdge, rootOfStored } from './tree-rows.ts'

/** A day: a tree that does not grow has a checkpoint as often. */
const idleMs = 86_400_000

/** A checkpoint as it is stored. */
export interface StoredCheckpoint {
  readonly at: Date
  /** Leaves. */
  readonly size: number
  /** The signed note. */
  readonly note: string
  /** The verifier's text of the key that signed it. */
  readonly signedBy: string
}

/** What signs checkpoints. */
export interface CheckpointSigner {
  /**
   * Signs a text in the name of a log.
   * @param before the verifier's text of the key that signed the last checkpoint; undefined for the first one
   * @returns the note, with a signature of that key beside where the key has changed, and the text of the present key
   * @throws Fault `misconfigured` where the key has changed and the one before is not at hand
   */
  sign(
    origin: string,
    text: string,
    before: string | undefined,
  ): { readonly note: string; readonly signedBy: string }
}

/** What is due. */
interface Signing {
  readonly at: Date
  readonly signer: CheckpointSigner
  /** The name that a log has from its first checkpoint on. */
  readonly origin: string
}

/**
 * Signs the tree as it is, where it grew since the last checkpoint, or a day has passed. Before, it computes the root
 * that the last checkpoint has once more, so that nobody has a changed history signed.
 * @returns undefined where nothing was due
 * @throws Fault `unavailable` where the stored tree no longer begins with what was signed, `misconfigured` as the signer
 */
export async function makeCheckpoint(
  store: Store,
  tenant: TenantId,
  { at, signer, origin }: Signing,
): Promise<StoredCheckpoint | undefined> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const edge = await readEdge(tx, 'lock')
    const [last] = await checkpointsIn(tx, undefined)
    if (last === undefined && edge.size === 0) return undefined
    if (last?.size === edge.size && at.getTime() - last.at.getTime() < idleMs) return undefined
    const signed = last && checkpointOf(last)
    if (signed !== undefined && !(await isBegunBy(tx, edge, signed)))
      throw new Fault('unavailable', 'The audit tree no longer begins with what was signed.')
    const name = signed?.origin ?? origin
    const root = await rootOfStored(tx, edge, edge.size)
    const text = writeCheckpoint({ origin: name, size: edge.size, root })
    const { note, signedBy } = signer.sign(name, text, last?.signedBy)
    await tx.query(
      'insert into audit_checkpoint (at, size, note, verifier) values ($1::timestamptz, $2::int8, $3, $4)',
      [at, edge.size, note, signedBy],
    )
    return { at, size: edge.size, note, signedBy }
  })
}

type Signed = NonNullable<ReturnType<typeof readCheckpoint>>

async function isBegunBy(
  tx: Tx,
  edge: Awaited<ReturnType<typeof readEdge>>,
  { size, root }: Signed,
): Promise<boolean> {
  return size <= edge.size && sameBytes(await rootOfStored(tx, edge, size), root)
}

/** What a stored checkpoint says. @throws Fault `unavailable` where it cannot be read */
function checkpointOf({ note }: Pick<StoredCheckpoint, 'note'>): Signed {
  const checkpoint = readCheckpoint(readNote(note)?.text ?? '')
  if (checkpoint === undefined) throw new Fault('unavailable', 'A stored checkpoint could not be read.')
  return checkpoint
}

/** The last checkpoint, or the last one of a size. */
export async function checkpointsIn(tx: Tx, size: number | undefined): Promise<readonly StoredCheckpoint[]> {
  const rows = await tx.query<{ at: Date; size: string; note: string; verifier: string }>(
    `select at, size, note, verifier from audit_checkpoint where $1::int8 is null or size = $1::int8
     order by checkpoint_seq desc limit 1`,
    [size ?? null],
  )
  return rows.map(({ at, size: leaves, note, verifier }) => ({
    ...{ at, size: Number(leaves), note },
    signedBy: verifier,
  }))
}

/** A key and since when it signs. */
export interface SigningKey {
  /** The verifier's text. */
  readonly key: string
  readonly since: Date
}

/** The last checkpoint with every key that has signed, the present one first; undefined before the first checkpoint. */
export async function lastCheckpoint(
  store: Store,
  tenant: TenantId,
): Promise<{ readonly checkpoint: StoredCheckpoint; readonly keys: readonly SigningKey[] } | undefined> {
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const [checkpoint] = await checkpointsIn(tx, undefined)
      if (checkpoint === undefined) return undefined
      const keys = await tx.query<SigningKey>(
        `select verifier as key, min(at) as since from audit_checkpoint group by verifier order by min(checkpoint_seq) desc`,
      )
      return { checkpoint, keys }
    },
    { readOnly: true },
  )
}
