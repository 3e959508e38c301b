/** Opens the store that the configuration names, for the service and the command line tools. */

import { existsSync } from 'node:fs'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { Fault } from './base/fault.ts'
import type { Config } from './config.ts'
import { connectionOptions } from './store/database/link.ts'
import { toStoreFault } from './store/database/store-fault.ts'
import { loadDerivationRoots } from './store/keys/derivation-roots.ts'
import { assertKeysOpen, assertSecretsKey } from './store/keys/secrets-key.ts'
import { openStore, type Store } from './store/store.ts'
import type { Metrics } from './telemetry/metrics.ts'

/** What the store is measured by. */
type StoreMetrics = {
  readonly cypherQuerySeconds: Pick<Metrics['cypherQuerySeconds'], 'observe'>
}
/** Receives what an operator should know when the store opens. */
type StoreLog = { readonly warn: (notice: string) => void }

/**
 * Opens the store, under the secrets key with which it was filled.
 * @param as `service`: the keys may begin what they are the word of an operator for, as a turn; `command`: they fill an
 *   empty database alone; `look`: they begin nothing; `whatever the key`: they are not asked for
 * @throws Fault as `openStore`, and `misconfigured` where the data directory cannot be made, its key file is missing or
 *   holds no key, or the database was filled under another key
 */
export async function openConfiguredStore(
  config: Config,
  metrics: StoreMetrics,
  log: StoreLog,
  as: 'service' | 'command' | 'look' | 'whatever the key' = 'service',
): Promise<Store> {
  // Only what may fill a database makes a key for it.
  const makesKey = as === 'service' || as === 'command'
  const store = await openUnchecked(config, metrics, log, makesKey)
  if (as === 'whatever the key') return store
  try {
    if (as === 'look') {
      await assertKeysOpen(store)
      return store
    }
    const filledBy = await assertSecretsKey(store, as === 'service')
    return { ...store, roots: await loadDerivationRoots(store, filledBy) }
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openUnchecked(
  config: Config,
  metrics: StoreMetrics,
  log: StoreLog,
  makesKey: boolean,
): Promise<Store> {
  const { store } = config
  const shared = {
    nextKey: store.nextKey?.reveal(),
    migrate: config.migrate,
    poolMax: config.poolMax,
    onNotice: (notice: string) => log.warn(notice),
    onCypher: (seconds: number) => metrics.cypherQuerySeconds.observe(seconds),
  }
  if (store.kind === 'postgres')
    return await openStore({
      ...shared,
      databaseUrl: store.databaseUrl.reveal(),
      secretsKey: store.secretsKey.reveal(),
      formerKey: store.formerKey?.reveal(),
    }).catch((thrown) => {
      throw databaseAway(thrown)
    })
  await makeDataDirectory(store.dataDir)
  return await openStore({
    ...shared,
    dataDirectory: join(store.dataDir, 'store'),
    secretsKey: store.secretsKey?.reveal() ?? (await secretsKeyOf(store.dataDir, makesKey)),
    formerKey: store.formerKey?.reveal() ?? (await formerKeyOf(store.dataDir)),
  })
}

/**
 * Looks at the database with a connection of the connecting user, outside of any store.
 * @param connectSeconds after which one that does not answer is away; absent: the driver's time
 * @throws Fault of the store, naming the setting of a database that is away; what `work` throws
 */
export async function onDatabase<T>(
  url: string,
  work: (sql: postgres.Sql) => Promise<T>,
  connectSeconds?: number,
): Promise<T> {
  const timeout = connectSeconds === undefined ? {} : { connect_timeout: connectSeconds }
  const sql = postgres(url, { ...connectionOptions, ...timeout })
  try {
    return await work(sql)
  } catch (thrown) {
    throw databaseAway(toStoreFault(thrown))
  } finally {
    await sql.end({ timeout: 5 }).catch(() => {})
  }
}

/** A database that does not answer, by the name of its setting; any other failure unchanged. */
function databaseAway(thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.kind !== 'unavailable') return thrown
  return new Fault('unavailable', 'SVC_DATABASE_URL: the database is not available.', {
    ...(thrown.detail !== undefined && { detail: thrown.detail }),
    cause: thrown.cause,
  })
}

/**
 * The key of a data directory without SVC_SECRETS_KEY. One is made only where there are no data yet, because a new key
 * could not open what the lost one has sealed.
 * @param makesKey whether one may be made at all
 * @throws Fault `misconfigured` where the file is missing and none may be made, cannot be read or made, or holds no key
 */
export async function secretsKeyOf(dataDir: string, makesKey = true): Promise<Uint8Array> {
  const path = join(dataDir, 'secrets.key')
  const hasData = existsSync(join(dataDir, 'store', 'pg'))
  // A former key beside the data is an operator's word that the key is to turn.
  const mayMake = makesKey && (!hasData || existsSync(formerKeyFile(dataDir)))
  if (!existsSync(path) && !mayMake)
    throw new Fault(
      'misconfigured',
      hasData
        ? `${path} is missing, and ${dataDir} holds data: restore the file from a backup, or set SVC_SECRETS_KEY to its key.`
        : `${dataDir} holds no data and no secrets key: start the service on it first, or set SVC_DATA_DIR to the directory of the data.`,
    )
  try {
    return await secretsKeyIn(path)
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('misconfigured', `${path} cannot be read or made.`, { cause })
  }
}

/** Where the key is from which that of a data directory turns. */
export const formerKeyFile = (dataDir: string) => join(dataDir, 'secrets.key.former')

/** The key from which that of a data directory turned, where there is one. @throws as `secretsKeyOf` */
async function formerKeyOf(dataDir: string): Promise<Uint8Array | undefined> {
  const path = formerKeyFile(dataDir)
  return existsSync(path) ? await secretsKeyIn(path) : undefined
}

async function makeDataDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new Fault('misconfigured', 'SVC_DATA_DIR: no directory in which files can be made.', { cause })
  }
}

const keyBytes = 32

/**
 * Reads the key in the file, or makes it, readable by its owner only. The file is complete or absent, whenever the
 * process dies. Processes that make it at the same time all get the same key.
 * @throws Fault `misconfigured` where the file holds anything else
 */
export async function secretsKeyIn(path: string): Promise<Uint8Array> {
  const stored = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (stored === undefined) {
    await makeKey(path)
    return await secretsKeyIn(path)
  }
  if (stored.length !== keyBytes)
    throw new Fault(
      'misconfigured',
      `${path} holds no secrets key of ${keyBytes} bytes. Restore it from a backup; if nothing was ever stored, remove it.`,
    )
  return stored
}

async function makeKey(path: string): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(crypto.getRandomValues(new Uint8Array(keyBytes)))
      await file.sync()
    } finally {
      await file.close()
    }
    // Linked, not renamed, because a rename would replace a key that another process made and uses.
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    const directory = await open(dirname(path))
    await directory.sync().finally(() => directory.close())
  } finally {
    await rm(draft, { force: true })
  }
}
