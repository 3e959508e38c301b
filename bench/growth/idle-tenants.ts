/** What tenants cost that do nothing: the processor time of the service and its database server, with every job running. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { startApp } from '../../src/app.ts'
import { parseConfig } from '../../src/config.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { openBenchStore } from '../bench-store.ts'
import type { GrowthRow } from './row.ts'

/** Every job that runs often has looked at each tenant by then. */
const settleMs = 65_000
/** A whole minute, because many jobs run once in one. */
const measuredMs = 60_000
const ticksPerSecond = 100

export const idleTenants: GrowthRow = {
  name: 'idle',
  of: 'idle tenants',
  unit: '% of a core, service and server',
  declared: 'linear',
  sizes: [10, 100, 1_000],
  smokeSizes: [1, 2, 3],
  store: 'postgres',
  async open({ store: kind, smoke }) {
    if (kind === undefined) throw new Error('the row needs a store')
    const opened = await openBenchStore(kind)
    const { store } = opened
    const app = await startApp({
      config: parseConfig({
        SVC_LISTEN_ADDR: '127.0.0.1:0',
        SVC_METRICS_ADDR: '127.0.0.1:0',
        SVC_PGWIRE_ADDR: '127.0.0.1:0',
        SVC_XMLA_ADDR: '127.0.0.1:0',
        UV_THREADPOOL_SIZE: '16',
      }),
      store,
      metrics: createMetrics(),
      log: createLogger({ level: 'info', destination: { write: () => {} } }),
    })
    const checkpointer = async () => {
      const [row] = await store.adminQuery<{ readonly pid: number }>(
        `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
      )
      return row?.pid
    }
    let made = 0
    return {
      async costAt(size) {
        for (; made < size; made++) await createTenant(store, { name: `idle ${made}` })
        await Bun.sleep(smoke ? 1 : settleMs)
        const pid = await checkpointer()
        const before = secondsOf(pid)
        const startedMs = performance.now()
        await Bun.sleep(smoke ? 100 : measuredMs)
        const seconds = (performance.now() - startedMs) / 1_000
        return (100 * (secondsOf(pid) - before)) / seconds
      },
      async [Symbol.asyncDispose]() {
        await app.stop()
        await opened[Symbol.asyncDispose]()
      },
    }
  },
}

/**
 * Seconds that this process and the server have used of processors so far, ended connections included.
 * @param checkpointer a process of the server on this machine; undefined, or elsewhere: this process alone
 */
function secondsOf(checkpointer: number | undefined): number {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1_000_000
  const postmaster = checkpointer === undefined ? undefined : statOf(checkpointer)?.parent
  if (postmaster === undefined) return own
  let ticks = statOf(postmaster)?.withEnded ?? 0
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    if (stat?.parent === postmaster) ticks += stat.own
  }
  return own + ticks / ticksPerSecond
}

/** Of a process, from /proc: its parent, and ticks of its own, and with those of its children that have ended. */
function statOf(pid: number) {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return undefined
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    // It has ended.
    return undefined
  }
  // The name of the program is in parentheses and may hold spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (index: number) => Number(fields[index - 3])
  const own = number(14) + number(15)
  return { parent: number(4), own, withEnded: own + number(16) + number(17) }
}
