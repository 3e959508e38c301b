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
}

/** A checkpoint that was made. */
interface MadeCheckpoint extends StoredCheckpoint {
  /** The verifier's text of the key that signed it. */
  readonly signedBy: string
}

/** What signs checkpoints. It trusts its own keys, and nothing that is stored. */
export interface CheckpointSigner {
  /** Which of its keys signed a note in the name of a log; undefined where none did, so that the note says nothing. */
  signerOf(origin: string, note: string): 'present' | 'former' | undefined
  /**
   * Signs a text in the name of a log.
   * @param last the note of the last checkpoint; undefined for the first one
   * @returns the note, with a signature of the former key beside where that signed the last one, and the text of the
   * present key
   * @throws Fault `misconfigured` where none of its keys signed the last one
   */
  sign(
    origin: string,
    text: string,
    last: string | undefined,
  ): { readonly note: string; readonly signedBy: string }
}

/** What is due. */
interface Signing {
  readonly at: Date
  readonly signer: CheckpointSigner
  /** The name of the tenant's log. A last checkpoint of another name is refused. */
  readonly origin: string
}

/**
 * Signs the tree as it is, where it grew since the last checkpoint, a day has passed, or the key has changed. Before, it
 * verifies the last checkpoint and computes its root once more, so that nobody who writes to the database has a changed
 * history signed.
 * @returns undefined where nothing was due
 * @throws Fault `unavailable` where the last checkpoint is of another log, or the stored tree does not begin with it;
 * `misconfigured` where no key of the signer made it
 */
export async function makeCheckpoint(
  store: Store,
  tenant: TenantId,
  { at, signer, origin }: Signing,
): Promise<MadeCheckpoint | undefined> {
  if (!origin.endsWith(`/audit/${tenant}`)) throw new RangeError('the name of another log')
  const look = async (tx: Tx, lock: 'lock' | 'look') => {
    const edge = await readEdge(tx, lock)
    const [last] = await checkpointsIn(tx, undefined)
    if (last === undefined && edge.size === 0) return undefined
    const signed = last && trustedOf(last.note, signer, origin)
    // The size and the key that the row names may be forged: only the note counts.
    const isIdle = signed?.size === edge.size && at.getTime() - (last?.at.getTime() ?? 0) < idleMs
    return isIdle && signed?.by === 'present' ? undefined : { edge, last, signed }
  }
  // Most trees are at rest: these are not locked.
  if (!(await store.tenantTransaction(tenant, (tx) => look(tx, 'look'), { readOnly: true }))) return undefined
  return await store.tenantTransaction(tenant, async (tx) => {
    const due = await look(tx, 'lock')
    if (due === undefined) return undefined
    const { edge, last, signed } = due
    if (signed !== undefined && !(await isBegunBy(tx, edge, signed)))
      throw new Fault('unavailable', 'The audit tree no longer begins with what was signed.')
    const root = await rootOfStored(tx, edge, edge.size)
    const text = writeCheckpoint({ origin, size: edge.size, root })
    const { note, signedBy } = signer.sign(origin, text, last?.note)
    await tx.query(
      `insert into audit_checkpoint (at, size, note, verifier)
       select $1::timestamptz, $2::int8, $3, nullif($4, (select c.verifier from audit_checkpoint c
         where c.verifier is not null order by c.checkpoint_seq desc limit 1))`,
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

/** What the last checkpoint says, and which key says it. @throws Fault as {@link makeCheckpoint} */
function trustedOf(note: string, signer: CheckpointSigner, origin: string) {
  const checkpoint = readCheckpoint(readNote(note)?.text ?? '')
  if (checkpoint === undefined) throw new Fault('unavailable', 'A stored checkpoint could not be read.')
  if (checkpoint.origin !== origin)
    throw new Fault('unavailable', 'The last checkpoint of the audit has the name of another log.')
  const by = signer.signerOf(origin, note)
  if (by === undefined)
    throw new Fault(
      'misconfigured',
      'No key at hand signed the last checkpoint: name the one before in SVC_AUDIT_KEY_FORMER_FILE, or it was forged.',
    )
  return { ...checkpoint, by }
}

/** The last checkpoint; or that of a size, of several the one with most signatures, so that a key's turn is seen. */
export async function checkpointsIn(tx: Tx, size: number | undefined): Promise<readonly StoredCheckpoint[]> {
  const rows = await tx.query<{ at: Date; size: string; note: string }>(
    size === undefined
      ? 'select at, size, note from audit_checkpoint order by checkpoint_seq desc limit 1'
      : `select at, size, note from audit_checkpoint where size = $1::int8
         order by length(note) - length(replace(note, E'\\n— ', '')) desc, checkpoint_seq desc limit 1`,
    size === undefined ? [] : [size],
  )
  return rows.map(({ at, size: leaves, note }) => ({ at, size: Number(leaves), note }))
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
        `select verifier as key, min(at) as since from audit_checkpoint where verifier is not null
         group by verifier order by max(checkpoint_seq) desc`,
      )
      return { checkpoint, keys }
    },
    { readOnly: true },
  )
}
