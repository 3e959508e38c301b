/** A replica for tests of subscriptions, in a process of its own: `covenant serve` that takes licenses of tests. */

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
const keys = [...licenseKeys, testLicenseKey]
const app = await startApp({ config, store, metrics, log, licenseKeys: keys, jobsByTime: false })
console.log(app.url.href)
