/**
 * Writes and reads the record of the keys that no tenant owns: what became of each, when, and who did it. What becomes of
 * a tenant's own keys is in its administration log.
 */

import type { Actor } from '../../core/administration.ts'
import { installationKeyKinds, keyChanges } from '../../core/key.ts'
import { about, choice, maybe, type Static, text, time } from '../../core/record.ts'
import { storableJson } from '../database/names.ts'
import { rowsOf } from '../database/rows.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

interface KeyChange {
  readonly kind: (typeof installationKeyKinds)[number]
  readonly action: (typeof keyChanges)[number]
  /** Who did it; absent: a start with other settings, or a job. */
  readonly by?: Actor
}

/** One change of a key, as it is listed. */
export const keyRecord = {
  at: time,
  kind: choice(installationKeyKinds),
  action: choice(keyChanges),
  by: maybe(about(text, 'subject of who did it; absent where a start with other settings, or a job, did')),
}

const rows = rowsOf(keyRecord)
/** Records that one look shows. */
const shownMax = 100

/** Records a change in the transaction that makes it. */
export async function recordKey(tx: Tx, { kind, action, by }: KeyChange): Promise<void> {
  await tx.query(
    'insert into svc.key_record (kind, action, by, actor) values ($1, $2, $3, $4::text::jsonb)',
    [kind, action, by?.sub ?? null, by === undefined ? null : storableJson(by)],
  )
}

/** The last hundred changes, newest first. */
export async function listKeyRecords(store: Store): Promise<readonly Static<typeof keyRecord>[]> {
  const found = await store.adminQuery(
    `select ${rows.columns} from svc.key_record order by seq desc limit ${shownMax}`,
  )
  return found.map(rows.read)
}
