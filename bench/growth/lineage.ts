/** What must not grow with lineage: an event into a hub, five hops, and the bytes of an event. */

import { timeOrderedId } from '../../src/base/time-ordered-id.ts'
import { traverse } from '../../src/store/graph/graph.ts'
import { type ReceivedEvent, receiveLineage } from '../../src/store/lineage/events.ts'
import { receivedEvent } from '../../test/support/lineage.ts'
import { datasetId, edgesOfNode, fillLineage } from '../graph-traverse.ts'
import { medianMs, type OneTenant, overTenant } from './over-tenant.ts'
import { bytesOf } from './service-bytes.ts'

const asked = 30
const eventsPerBatch = 100
/** Edges of one event that fills the graph. */
const edgesPerEvent = 500

/** A run of its own, as a client sends it. */
const event = (inputs: readonly string[], outputs: readonly string[]) =>
  receivedEvent({ inputs, outputs, runId: timeOrderedId() })

async function receive(
  { store, tenant }: Pick<OneTenant, 'store' | 'tenant'>,
  events: readonly ReceivedEvent[],
): Promise<void> {
  const outcomes = await receiveLineage(store, tenant, events, true)
  if (outcomes.some(({ kind }) => kind !== 'merged')) throw new Error('an event was not merged')
}

export const eventIntoHub = overTenant(
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
      return medianMs(asked, () => receive(lineage, [event([`source ${added++}`], ['hub'])]))
    }
  },
)

export const fiveHops = overTenant(
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
      return medianMs(asked, async () => {
        const id = datasetId(Math.floor(random() * nodes))
        const walk = { label: 'Dataset', id, direction: 'out', edgeLabels: ['LINEAGE_OF'] } as const
        const { items } = await traverse(store, tenant, { ...walk, hops: 5, limit: 100 })
        if (items.length === 0) throw new Error('a traversal reached nothing')
      })
    }
  },
)

export const bytesByEvents = overTenant(
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
