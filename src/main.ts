/** Starts the service process: reads the configuration, opens the store, starts the app, and drains it on a signal. */

import { join } from 'node:path'
import { startApp } from './app.ts'
import { tellOperator } from './base/fault.ts'
import { type Config, ConfigError, parseConfig } from './config.ts'
import { openConfiguredStore } from './open-store.ts'
import { createLogger } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'

/** From sysexits.h: a restart will not help, because the arguments or the configuration are wrong. */
const exitUsage = 64
const exitConfig = 78

const help = `Usage: npm start

Starts the service. It takes no arguments: every setting is an environment variable, see docs/configuration.md.
Exit status: 0 stopped, 1 failed to start, 64 wrong usage, 78 wrong configuration.`

async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.includes('--help')) {
    console.log(help)
    process.exit(0)
  }
  if (words.length > 0) {
    console.error(help)
    process.exit(exitUsage)
  }
  const config = parseConfig(process.env)
  const log = createLogger({ level: config.logLevel })
  const metrics = createMetrics()
  const store = await openConfiguredStore(config, metrics, log)
  const catalogDirectory = catalogDirectoryOf(config)
  const app = await startApp({ config, store, metrics, log, ...(catalogDirectory && { catalogDirectory }) })
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
    await app.stop()
    await store.close()
    log.info('stopped')
    process.exit(0)
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

await main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    console.error(`The configuration has ${error.problems.length} problem(s):\n${error.message}`)
    process.exit(exitConfig)
  }
  console.error(tellOperator(error))
  process.exit(1)
})
