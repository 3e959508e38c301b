/**
 * Compares multi-table transactions of two clients in step with those of one, by turns, over two tables of one catalog
 * that takes them as one (`atomic_transactions`). Both change both tables, so what each made must be told apart: by the
 * metadata files, where the catalog's storage roots make them readable, else by a load between two transactions.
 */

import { pathToFileURL } from 'node:url'
import { openDevelopment } from './catalogs.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { openPlace, type Place } from './gateway-tables.ts'
import { prefix } from './prepare-tenant.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { createTableBody, tableSizes } from './sample-table.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'

const ratioMax = 1.3
const tables = ['left', 'right'] as const
const warmRounds = 5

export const transactionsInStep: BenchEntry = {
  name: 'transactions-in-step',
  about: 'transactions over two tables by two clients in step, by turns with one client',
  options: {
    ...storeOptions,
    'upstream-ms': { type: 'string', value: 'MS', about: 'service time of a commit upstream (60)' },
    rounds: { type: 'string', value: 'N', about: 'transactions of each client (100)' },
  },
  run,
  conclude,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const upstreamMs = run.flags.number('upstream-ms', 0, 60_000) ?? (run.smoke ? 0 : 60)
  const rounds = run.flags.number('rounds', 1, 1_000_000) ?? (run.smoke ? 2 : 100)
  await using catalog = await openDevelopment()
  for (const { store, files } of casesOf(run)) {
    await using place = await openPlace(store, catalog)
    const send = await prepare(place, files)
    await catalog.development?.setServiceTimes({
      load: [upstreamMs / 2],
      conditionalLoad: [1],
      commit: [upstreamMs],
    })
    const [alone, inStep]: [number[], number[]] = [[], []]
    const [sooner, later]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds + (run.smoke ? 0 : warmRounds); round++) {
      const times = [await send('alice'), ...(await Promise.all([send('alice'), send('bob')]))]
      if (!run.smoke && round < warmRounds) continue
      alone.push(times[0] as number)
      const pair = times.slice(1)
      inStep.push(...pair)
      sooner.push(Math.min(...pair))
      later.push(Math.max(...pair))
    }
    const ratio = percentile(inStep, 0.5) / percentile(alone, 0.5)
    yield {
      bench: 'transactions-in-step',
      case: { store: place.engine, upstream_ms: upstreamMs, files },
      figures: {
        ...{ one_p50_ms: rounded(percentile(alone, 0.5)), one_p95_ms: rounded(percentile(alone, 0.95)) },
        ...{ two_p50_ms: rounded(percentile(inStep, 0.5)), two_p95_ms: rounded(percentile(inStep, 0.95)) },
        ...{ sooner_p50_ms: rounded(percentile(sooner, 0.5)), later_p50_ms: rounded(percentile(later, 0.5)) },
        ratio: rounded(ratio),
      },
      verdict: ratio <= ratioMax ? `within ${ratioMax}` : `above ${ratioMax}`,
    }
  }
}

/** Whether the gateway may read the catalog's files. */
type Files = 'readable' | 'unreadable'

function casesOf(run: BenchRun) {
  const files: readonly Files[] = ['readable', 'unreadable']
  return chosenStores(run).flatMap((store) => files.map((one) => ({ store, files: one })))
}

/** @returns what sends the next transaction of a client, and its milliseconds */
async function prepare(
  { catalog, gateway, url }: Place,
  files: Files,
): Promise<(client: string) => Promise<number>> {
  const namespace = `step_${crypto.randomUUID().slice(0, 8)}`
  const { upstream } = catalog
  await upstream.create('/namespaces', JSON.stringify({ namespace: [namespace] }))
  for (const table of tables)
    await upstream.create(`/namespaces/${namespace}/tables`, createTableBody(table, tableSizes.small))
  const folder = catalog.development?.folder
  if (folder === undefined) throw new Error('the catalog has no folder')
  const roots = files === 'readable' ? { storage_roots: [pathToFileURL(folder).href] } : {}
  const { secret } = await gateway.ask({
    kind: 'prepare',
    ...{ namespace, tables, policies: enforcedPolicies(2, 0) },
    config: { atomic_transactions: true, ...roots },
  })
  const address = new URL(`/v1/iceberg/${prefix}/v1/transactions/commit`, url)
  const headers = { 'content-type': 'application/json', 'x-svc-session': secret }
  let sent = 0
  return async (client) => {
    const updates = [{ action: 'set-properties', updates: { [`by-${client}`]: String(sent++) } }]
    const changes = tables.map((name) => ({
      identifier: { namespace: [namespace], name },
      ...{ requirements: [], updates },
    }))
    const body = JSON.stringify({ 'table-changes': changes })
    const startMs = performance.now()
    const response = await fetch(address, { method: 'POST', headers, body })
    const answer = await response.text()
    const takenMs = performance.now() - startMs
    if (!response.ok) throw new Error(`a transaction was answered ${response.status}: ${answer}`)
    return takenMs
  }
}

function conclude(results: readonly BenchResult[]) {
  const above = results.filter(({ verdict }) => verdict?.startsWith('above'))
  const ratios = results.map(({ figures }) => figures.ratio).join(', ')
  return {
    line: `Transactions in step: ${ratios} times of one client at the median; the goal is ${ratioMax}.`,
    failed: above.length > 0,
  }
}
