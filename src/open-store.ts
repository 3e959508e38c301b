/** Opens the store that the configuration names, for the service and the command line tools. */

import { existsSync } from 'node:fs'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Fault } from './base/fault.ts'
import type { Config } from './config.ts'
import { assertSecretsKey } from './store/catalog-credential/secrets-key.ts'
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
 * @throws Fault as `openStore`, and `misconfigured` where the data directory cannot be made, its key file is missing or
 *   holds no key, or the database was filled under another key
 */
export async function openConfiguredStore(
  config: Config,
  metrics: StoreMetrics,
  log: StoreLog,
): Promise<Store> {
  const store = await openUnchecked(config, metrics, log)
  try {
    await assertSecretsKey(store)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openUnchecked(config: Config, metrics: StoreMetrics, log: StoreLog): Promise<Store> {
  const { store } = config
  const shared = {
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
    })
  await makeDataDirectory(store.dataDir)
  return await openStore({
    ...shared,
    dataDirectory: join(store.dataDir, 'store'),
    secretsKey: store.secretsKey?.reveal() ?? (await secretsKeyOf(store.dataDir)),
  })
}

/**
 * The key of a data directory without SVC_SECRETS_KEY. One is made only where there are no data yet, because a new key
 * could not open what the lost one has sealed.
 * @throws Fault `misconfigured` where the file is missing beside data, cannot be read or made, or holds no key
 */
export async function secretsKeyOf(dataDir: string): Promise<Uint8Array> {
  const path = join(dataDir, 'secrets.key')
  const hasData = existsSync(join(dataDir, 'store', 'pg'))
  if (hasData && !existsSync(path))
    throw new Fault(
      'misconfigured',
      `${path} is missing, and ${dataDir} holds data: restore the file from a backup, or set SVC_SECRETS_KEY to its key.`,
    )
  try {
    return await secretsKeyIn(path)
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('misconfigured', `${path} cannot be read or made.`, { cause })
  }
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
