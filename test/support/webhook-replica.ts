/** A replica for tests of webhooks, in a process of its own, which sends by time until it is killed. */

import { parseCidr } from '../../src/base/cidr.ts'
import { systemClock } from '../../src/base/clock.ts'
import { addressRules } from '../../src/catalog/address.ts'
import { openStore } from '../../src/store/store.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Deliverer } from '../../src/webhook/deliverer.ts'
import { sender } from '../../src/webhook/receiver.ts'
import { testStoreOptions } from './store.ts'

const databaseUrl = process.argv[2]
if (databaseUrl === undefined) throw new Error('usage: webhook-replica DATABASE_URL')

const range = parseCidr('127.0.0.0/8')
const store = await openStore({ ...testStoreOptions, migrate: false, poolMax: 2, databaseUrl })
new Deliverer({
  store,
  metrics: createMetrics(),
  log: createLogger({ level: 'silent' }),
  send: sender({
    addressRules: addressRules({ cidrs: range === undefined ? [] : [range], hosts: [] }),
    clock: systemClock,
  }),
  publicUrl: () => new URL('https://covenant.example'),
})
// The timers of a deliverer keep no process alive.
setInterval(() => {}, 60_000)
