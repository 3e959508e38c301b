/**
 * `covenant keys lost`: says what no secrets key opens any more, and gives it up where an operator says so. It works on
 * the database that the settings name, with no service on it.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Fault } from '../base/fault.ts'
import { type Config, parseConfig } from '../config.ts'
import { onDatabase, openConfiguredStore } from '../open-store.ts'
import { findLostKeys, isAnyLost, type LostKeys, loseKeys } from '../store/lost/lose-keys.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant keys lost [--yes WORD]

Says what the database holds that no secrets key opens, by kind, where a key was lost. SVC_SECRETS_KEY (or secrets.key)
is the new key; a former one that is still there is SVC_SECRETS_KEY_FORMER. Without --yes it changes nothing, shows a
word, and ends with 1 where anything is lost.

With --yes and that word it gives all of that up, so that the service starts with the new key. Stop every replica first.
The word counts for the same keys, the same database and the same counts alone: with a mistyped key it is another one.
  webhooks               are switched off (unreadable), with an event
  reconciliation sources lose their passwords; save them again
  transform keys         are removed: values under them cannot be read again; scopes begin a new version
  sessions               end, if what they are derived from was lost
  signing keys, ID tokens, storage events set aside   are removed
  catalogs               stay, and work again once their credentials are saved
The administration logs of the tenants have a row for each. A key that is only mislaid must not be given up so.
${exitStatusHelp}`

/** Runs the verb. It never throws. @returns the exit status */
export async function keysLost(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    return await run(readWord(words), terminal)
  } catch (error) {
    return reportFailure(error, 'covenant keys lost', terminal)
  }
}

/** The word of `--yes`. */
function readWord(words: readonly string[]): string | undefined {
  try {
    return parseArgs({ args: [...words], options: { yes: { type: 'string' } } }).values.yes
  } catch {
    throw new UsageError('`keys lost` takes `--yes WORD` only, with the word that it shows without.')
  }
}

async function run(word: string | undefined, { env, print, complain }: Terminal): Promise<number> {
  // A look at a database must not change it.
  const config = { ...parseConfig(env), migrate: false }
  assertData(config)
  if (word !== undefined) await assertAlone(config)
  const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
  const store = await openConfiguredStore(config, unmeasured, { warn: complain }, 'whatever the key')
  try {
    const lost = word === undefined ? await findLostKeys(store) : await loseKeys(store, word)
    const isLeft = word === undefined && isAnyLost(lost)
    print(JSON.stringify({ ...shown(lost), ...(isLeft && { word: lost.word }) }, undefined, 2))
    if (word !== undefined) complain('Given up. The service starts with the secrets keys that are set.')
    if (isLeft) complain(`Nothing was changed. To give all of this up for good: --yes ${lost.word}`)
    return isLeft ? exitStatus.failed : exitStatus.done
  } finally {
    await store.close()
  }
}

function shown({ isOtherKey, values }: LostKeys) {
  return {
    key: isOtherKey ? 'is not the one under which the database was filled' : 'is the one of the database',
    catalog_credentials: values.catalogCredential,
    webhooks: values.webhookSubscription,
    reconciliation_passwords: values.reconciliationSource,
    transform_keys: values.transformTenantKey,
    token_signing_keys: values.signingKey,
    roots_of_sessions_and_plans: values.derivationRoot,
    id_tokens: values.idToken,
    storage_events_set_aside: values.setAside,
  }
}

/** @throws Fault `misconfigured` where there is no embedded store, so that none is made */
function assertData({ store }: Config): void {
  if (store.kind !== 'embedded' || existsSync(join(store.dataDir, 'store', 'pg'))) return
  throw new Fault(
    'misconfigured',
    `${store.dataDir} holds no embedded data: set SVC_DATA_DIR to their directory, or SVC_DATABASE_URL to the database.`,
  )
}

/** @throws Fault `conflict` where another process of Covenant is connected: it may hold the key, and would go on with it */
async function assertAlone({ store }: Config): Promise<void> {
  if (store.kind !== 'postgres') return
  const others = await onDatabase(
    store.databaseUrl.reveal(),
    (sql) => sql`select from pg_stat_activity
      where datname = current_database() and application_name = 'covenant' and pid <> pg_backend_pid()`,
  )
  if (others.length > 0)
    throw new Fault(
      'conflict',
      'A process of Covenant is connected to the database: stop every replica first.',
    )
}
