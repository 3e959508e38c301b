/** Sends the commit of one step over HTTP, and collects its response, audit rows, metrics and forwarded requests. */

import type { AuditEntry } from '../src/core/audit-entry.ts'
import { listDecisions } from '../src/store/commit/decision-list.ts'
import { commitRejectedReasons } from '../src/telemetry/metrics.ts'
import type { Observation } from './check-step.ts'
import type { Step } from './steps.ts'
import { commitHeaders, type World } from './world.ts'

interface Counts {
  readonly own: readonly AuditEntry[]
  readonly foreign: readonly AuditEntry[]
  readonly rejected: Readonly<Record<string, number>>
  readonly forwarded: number
}

/** Runs a step, with its preparation and clean-up. */
export async function runStep(world: World, step: Step): Promise<Observation> {
  await step.before?.(world)
  try {
    const before = await count(world, step)
    const response = await fetch(new URL(step.path, world.app.url), {
      method: 'POST',
      headers: commitHeaders(world[step.tenant], step.writer),
      body: step.body,
    })
    const body = await response.text()
    const after = await count(world, step)
    return {
      status: response.status,
      body,
      decisionId: response.headers.get('x-svc-decision-id') ?? undefined,
      audit: after.own.slice(0, after.own.length - before.own.length),
      foreignAudit: after.foreign.length - before.foreign.length,
      rejected: Object.fromEntries(
        Object.entries(after.rejected).map(([reason, total]) => [
          reason,
          total - (before.rejected[reason] ?? 0),
        ]),
      ),
      forwarded: after.forwarded - before.forwarded,
    }
  } finally {
    await step.after?.(world)
  }
}

async function count(world: World, step: Step): Promise<Counts> {
  const other = step.tenant === 'acme' ? 'globex' : 'acme'
  const rows = async (name: 'acme' | 'globex') =>
    (await listDecisions(world.store, world[name].id, { limit: 1000 })).items
  const scrape = await (await fetch(new URL('/metrics', world.app.metricsUrl))).text()
  return {
    own: await rows(step.tenant),
    foreign: await rows(other),
    rejected: Object.fromEntries(
      commitRejectedReasons.map((reason) => [
        reason,
        series(scrape, `commit_rejected_total{reason="${reason}"}`),
      ]),
    ),
    forwarded: world.acme.catalog.faults.counts.commit + world.globex.catalog.faults.counts.commit,
  }
}

function series(scrape: string, name: string): number {
  const line = scrape.split('\n').find((one) => one.startsWith(`${name} `))
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1))
}
