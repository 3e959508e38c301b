/** What must not grow with lineage: an event into a hub, five hops, and the bytes of an event. */

import { timeOrderedId } from '../../src/base/time-ordered-id.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { parseLineageEvent } from '../../src/lineage/parse-event.ts'
import { traverse } from '../../src/store/graph/graph.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import type { Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { openBenchStore } from '../bench-store.ts'
import { datasetId, edgesOfNode, fillLineage } from '../graph-traverse.ts'
import { percentile, type Random } from '../statistics.ts'
import type { GrowthRow } from './row.ts'
import { bytesOf } from './service-bytes.ts'

const asked = 30
const eventsPerBatch = 100
/** Edges of one event that fills the graph. */
const edgesPerEvent = 500

interface Lineage {
  readonly store: Store
  readonly tenant: TenantId
  readonly random: Random
}

function overLineage(
  row: Omit<GrowthRow, 'open' | 'store'>,
  subject: (lineage: Lineage) => (size: number) => Promise<number>,
): GrowthRow {
  return {
    ...row,
    store: 'postgres',
    async open({ store: kind, random }) {
      if (kind === undefined) throw new Error('the row needs a store')
      const opened = await openBenchStore(kind)
      const { id: tenant } = await createTenant(opened.store, { name: 'bench' })
      return {
        costAt: subject({ store: opened.store, tenant, random }),
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      }
    },
  }
}

/** A run of a job of its own, as a client sends it. */
function event(inputs: readonly string[], outputs: readonly string[]) {
  const dataset = (name: string) => ({ namespace: 's3://bench', name })
  const body = {
    eventType: 'COMPLETE',
    eventTime: '2026-03-01T10:00:00Z',
    producer: 'https://github.com/example/etl/v1',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: timeOrderedId() },
    job: { namespace: 'bench', name: 'daily' },
    inputs: inputs.map(dataset),
    outputs: outputs.map(dataset),
  }
  return {
    event: parseLineageEvent(Buffer.from(JSON.stringify(body)), Date.now()),
    identified: { principal: { sub: 'spark', roles: [] }, source: 'session' },
  } as const
}

async function receive({ store, tenant }: Lineage, events: readonly ReturnType<typeof event>[]) {
  const outcomes = await receiveLineage(store, tenant, events, true)
  if (outcomes.some(({ kind }) => kind !== 'merged')) throw new Error('an event was not merged')
}

export const eventIntoHub = overLineage(
  {
    name: 'hub-event',
    of: 'datasets that a hub leads to',
    unit: 'ms of an event whose output is the hub',
    declared: 'flat',
    sizes: [1_000, 10_000, 100_000],
    smokeSizes: [10, 20, 40],
  },
  (lineage) => {
    let there = 0
    let added = 0
    return async (size) => {
      for (; there < size; there += edgesPerEvent) {
        const outputs = Array.from(
          { length: Math.min(edgesPerEvent, size - there) },
          (_, i) => `leaf ${there + i}`,
        )
        await receive(lineage, [event(['hub'], outputs)])
      }
      there = size
      const times: number[] = []
      for (let i = 0; i < asked; i++) {
        const one = event([`source ${added++}`], ['hub'])
        const startMs = performance.now()
        await receive(lineage, [one])
        times.push(performance.now() - startMs)
      }
      return percentile(times, 0.5)
    }
  },
)

export const fiveHops = overLineage(
  {
    name: 'five-hops',
    of: 'lineage edges',
    unit: 'ms of a page at 5 hops',
    declared: 'flat',
    sizes: [5_000, 50_000, 500_000],
    smokeSizes: [50, 100, 200],
  },
  ({ store, tenant, random }) => {
    let nodes = 0
    return async (size) => {
      const to = size / edgesOfNode
      await fillLineage(store, tenant, { from: nodes, to, random })
      nodes = to
      const times: number[] = []
      for (let i = 0; i < asked; i++) {
        const id = datasetId(Math.floor(random() * nodes))
        const startMs = performance.now()
        const walk = { label: 'Dataset', id, direction: 'out', edgeLabels: ['LINEAGE_OF'] } as const
        const { items } = await traverse(store, tenant, { ...walk, hops: 5, limit: 100 })
        times.push(performance.now() - startMs)
        if (items.length === 0) throw new Error('a traversal reached nothing')
      }
      return percentile(times, 0.5)
    }
  },
)

export const bytesByEvents = overLineage(
  {
    name: 'lineage-bytes',
    of: 'lineage events of two inputs and two outputs',
    unit: 'bytes that an event leaves',
    declared: 'flat',
    sizes: [300, 3_000, 30_000],
    smokeSizes: [20, 40, 80],
  },
  (lineage) => {
    let there = 0
    // A few tables that jobs write again and again, as they do.
    const names = (end: string, at: number) => [`${end} ${at % 200}`, `${end} ${(at + 1) % 200}`]
    return async (size) => {
      const before = await bytesOf(lineage.store, lineage.tenant)
      for (let at = there; at < size; at += eventsPerBatch) {
        const count = Math.min(eventsPerBatch, size - at)
        await receive(
          lineage,
          Array.from({ length: count }, (_, i) => event(names('input', at + i), names('output', at + i))),
        )
      }
      const each = ((await bytesOf(lineage.store, lineage.tenant)) - before) / (size - there)
      there = size
      return each
    }
  },
)
