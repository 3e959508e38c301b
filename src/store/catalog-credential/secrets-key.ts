/**
 * Checks the secrets key against the database. A text that the key has sealed is stored at the first start, and a key
 * that cannot open it is refused, because the service would otherwise run without its catalog credentials.
 */

import { Fault } from '../../base/fault.ts'
import { seal, unseal } from '../database/sealing.ts'
import type { Store } from '../store.ts'
import { canOpenStoredConfigs } from './catalog-credentials.ts'

const place = ['secrets_key_check']

/** Whether the store's key opens what was sealed at this place. */
function opens(store: Store, sealed: Uint8Array): boolean {
  try {
    unseal(store.secretsKey, place, sealed)
    return true
  } catch {
    return false
  }
}

/**
 * Asserts that the database was filled under the store's key. Of replicas that start at once on an empty database, the
 * first decides.
 * @throws Fault `misconfigured` where it was another key
 */
export async function assertSecretsKey(store: Store): Promise<void> {
  const find = () =>
    store.adminQuery<{ sealed: Uint8Array | null }>('select sealed from svc.secrets_key_check')
  const [first] = await find()
  // A row without a text is an operator's word that the former key is lost. No row: a database without the check.
  if (first === undefined ? await canOpenStoredConfigs(store) : first.sealed === null)
    await store.adminQuery(
      `insert into svc.secrets_key_check as c (sealed) values ($1)
       on conflict (only_row) do update set sealed = excluded.sealed where c.sealed is null`,
      [seal(store.secretsKey, place, 'covenant')],
    )
  const [row] = await find()
  if (row?.sealed && opens(store, row.sealed)) return
  throw new Fault(
    'misconfigured',
    'SVC_SECRETS_KEY (or secrets.key) is not the key under which this database was filled: start with that key.',
  )
}
