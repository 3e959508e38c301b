/** config → store → app → listen → drain. */

import { startApp } from './app.ts'
import { ConfigError, parseConfig } from './config.ts'
import { openConfiguredStore } from './open-store.ts'
import { createLogger } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'

/** sysexits.h: the configuration is wrong, and a restart will not help. */
const exitConfig = 78

async function main(): Promise<void> {
  const config = parseConfig(process.env)
  const log = createLogger({ level: config.logLevel })
  const metrics = createMetrics()
  const store = await openConfiguredStore(config, metrics, log)
  const app = await startApp({ config, store, metrics, log })
  log.info(
    { url: app.url.href, metrics: app.metricsUrl.href, pgwirePort: app.pgwirePort, store: store.engine },
    'listening',
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

await main().catch((error: unknown) => {
  if (error instanceof ConfigError) {
    console.error(`The configuration has ${error.problems.length} problem(s):\n${error.message}`)
    process.exit(exitConfig)
  }
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
