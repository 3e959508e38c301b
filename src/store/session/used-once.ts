/** Marks values that may be used once over all replicas, such as login states and webhook signatures. */

import { createHash } from 'node:crypto'
import type { Tx } from '../database/session.ts'

/**
 * Marks `value` as used, in the transaction that does what the value allows.
 * @param value of any length; only its SHA-256 is stored
 * @param keptMs milliseconds after which the value is refused for its age anyway
 * @returns false where it was used before
 */
export async function useOnce(
  tx: Tx,
  purpose: string,
  value: string | Uint8Array,
  keptMs: number,
): Promise<boolean> {
  await tx.query(
    `delete from svc.used_once where digest in
       (select digest from svc.used_once where expires_at < now() limit 100 for update skip locked)`,
  )
  const rows = await tx.query(
    `insert into svc.used_once (digest, expires_at) values ($1, now() + $2::float8 * interval '1 ms')
     on conflict do nothing returning 1`,
    [createHash('sha256').update(`${purpose}\0`).update(value).digest(), keptMs],
  )
  return rows.length === 1
}
