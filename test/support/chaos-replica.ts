/**
 * A replica of the chaos test, in a process of its own: `covenant serve` with the intent times of the variable
 * CHAOS_INTENT_TIMES, and a clock that is ahead by the milliseconds in the file CHAOS_CLOCK_FILE. SIGUSR2 runs recovery
 * at once.
 */

import { readFileSync } from 'node:fs'
import { startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import { openConfiguredStore } from '../../src/open-store.ts'
import type { IntentTimes } from '../../src/store/commit/commit-intents.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'

const { CHAOS_INTENT_TIMES = '{}', CHAOS_CLOCK_FILE = '', ...env } = process.env
const config = parseConfig(env)
const log = createLogger({ level: config.logLevel })
const metrics = createMetrics()
const store = await openConfiguredStore(config, metrics, log)
const { journalDir: journalDirectory = '' } = config
const intentTimes = JSON.parse(CHAOS_INTENT_TIMES) as IntentTimes
const clock = { now: () => Date.now() + Number(readFileSync(CHAOS_CLOCK_FILE, 'utf8')) }
const app = await startApp({ config, store, metrics, log, clock, journalDirectory, intentTimes })
log.info({ url: app.url.href }, 'listening')

process.on('SIGUSR2', () => void app.jobs.run('recover-intents'))
process.on('SIGTERM', () => {
  void (async () => {
    await app.stop()
    await store.close()
    process.exit(0)
  })()
})
