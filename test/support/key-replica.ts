/** A replica for the test of the secrets key, in a process of its own: `covenant serve`. SIGUSR2 runs the job at once. */

import { startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import { licenseKeys } from '../../src/license/keys.ts'
import { openConfiguredStore } from '../../src/open-store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { licenseForAll, testLicenseKey } from './license.ts'

const config = parseConfig({ ...process.env, SVC_LICENSE: licenseForAll() })
const log = createLogger({ level: 'silent' })
const metrics = createMetrics()
const store = await openConfiguredStore(config, metrics, log)
const app = await startApp({ config, store, metrics, log, licenseKeys: [...licenseKeys, testLicenseKey] })
process.on('SIGUSR2', () => void app.jobs.run('turn-secrets-key'))
process.on('SIGTERM', () => {
  void (async () => {
    await app.stop()
    await store.close()
    process.exit(0)
  })()
})
console.log(app.url.href)
