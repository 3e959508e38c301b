/** The store that the configuration names, for the service and the command line tools. */

import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { Fault } from './base/fault.ts'
import type { Config } from './config.ts'
import { openStore, type Store } from './store/store.ts'
import type { Metrics } from './telemetry/metrics.ts'

/**
 * Opens the store.
 * @throws Fault as `openStore`, and `misconfigured` where the data directory cannot be made
 */
export async function openConfiguredStore(config: Config, metrics: Metrics, log: Logger): Promise<Store> {
  const { store } = config
  const shared = {
    migrate: config.migrate,
    poolMax: config.poolMax,
    onNotice: (notice: string) => log.warn(notice),
    onCypher: (seconds: number) => metrics.cypherQueryDurationMs.observe(seconds * 1000),
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
    secretsKey: store.secretsKey?.reveal() ?? (await keptKey(join(store.dataDir, 'secrets.key'))),
  })
}

async function makeDataDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new Fault('misconfigured', 'SVC_DATA_DIR: no directory in which files can be made.', { cause })
  }
}

/** The key kept in the file; made, readable by its owner alone, where there is none yet. */
async function keptKey(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path, 'wx', 0o600)
    const key = crypto.getRandomValues(new Uint8Array(32))
    await file.write(key)
    await file.sync()
    await file.close()
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return await readFile(path)
    throw error
  }
}
