/** `covenant serve`: reads the configuration, opens the store, starts the app, and drains it on a signal. */

import { join } from 'node:path'
import { startApp } from '../app.ts'
import { type Config, parseConfig } from '../config.ts'
import { openConfiguredStore } from '../open-store.ts'
import { createLogger } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { exitStatus, exitStatusHelp, reportFailure, UsageError } from './exit-status.ts'
import { removeServiceUrl, writeServiceUrl } from './near-service.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: covenant serve

Starts the service. It takes no words: every setting is an environment variable, see docs/configuration.md.
${exitStatusHelp}`

/** @returns undefined where the service listens, else the exit status */
export async function serve(words: readonly string[], terminal: Terminal): Promise<number | undefined> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    if (words.length > 0) throw new UsageError('`serve` takes no words.')
    await start(terminal.env)
    return undefined
  } catch (error) {
    return reportFailure(error, 'covenant serve', terminal)
  }
}

async function start(env: Terminal['env']): Promise<void> {
  const config = parseConfig(env)
  const log = createLogger({ level: config.logLevel })
  const metrics = createMetrics()
  const store = await openConfiguredStore(config, metrics, log)
  const dataDir = config.store.kind === 'embedded' ? config.store.dataDir : undefined
  // One that a service left names another process, or this one before it listens.
  if (dataDir !== undefined) await removeServiceUrl(dataDir)
  const catalogDirectory = catalogDirectoryOf(config)
  const { journalDir: journalDirectory } = config
  const app = await startApp({
    ...{ config, store, metrics, log },
    ...(catalogDirectory && { catalogDirectory }),
    ...(journalDirectory && { journalDirectory }),
  })
  if (dataDir !== undefined) await writeServiceUrl(dataDir, app.url)
  log.info(
    { url: app.url.href, metrics: app.metricsUrl.href, pgwirePort: app.pgwirePort, store: store.backend },
    'listening',
  )

  // A statement that needs it earlier retries, and reports the failure to its client.
  app
    .warm()
    .catch((error: unknown) =>
      log.warn(
        { err: error },
        'the database of pg_catalog is not ready; the first statement that needs it starts it',
      ),
    )

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'draining')
    if (dataDir !== undefined) await removeServiceUrl(dataDir)
    await app.stop()
    await store.close()
    log.info('stopped')
    process.exit(exitStatus.done)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}

/**
 * The directory for the catalog's initial contents, below one that the service already has. Without one, a replica
 * makes the contents again at each start.
 */
function catalogDirectoryOf({ readEngine, store }: Config): string | undefined {
  const parent = readEngine.directory ?? (store.kind === 'embedded' ? store.dataDir : undefined)
  return parent && join(parent, 'pg-catalog')
}
