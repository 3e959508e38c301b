/**
 * A graph of lineage of many clusters that are alike, events into it, and the receiver's route that takes them without
 * sockets. It measures nothing.
 */

import { admitter } from '../src/auth/admit.ts'
import { systemClock } from '../src/base/clock.ts'
import type { TenantId } from '../src/core/tenant.ts'
import { bind } from '../src/http/declare.ts'
import { lineageOperations } from '../src/lineage/operations.ts'
import { LineageReceiver } from '../src/lineage/receiver.ts'
import { operationRoutes } from '../src/server/rest/mount.ts'
import { datasetId } from '../src/store/lineage/events.ts'
import { createServiceSession, findServiceSession } from '../src/store/session/sessions.ts'
import type { Store } from '../src/store/store.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import type { Random } from './statistics.ts'

/** A cluster has layers of datasets. Every dataset leads to all of the next layer. */
const layers = 8
const width = 5
export const edgesPerCluster = (layers - 1) * width * width
const namespace = 's3://bench'

const nameOf = (cluster: number, layer: number, place: number) => `c${cluster}.${layer}.${place}`

/** Leads two datasets of a layer into two of the next. Some of these edges exist, and none closes a cycle. */
export function eventBody(random: Random, clusters: number): string {
  const below = (count: number) => Math.floor(random() * count)
  const cluster = below(clusters)
  const layer = below(layers - 1)
  const two = (of: number) => {
    const first = below(width)
    return [first, (first + 1) % width].map((place) => ({ namespace, name: nameOf(cluster, of, place) }))
  }
  return JSON.stringify({
    eventType: 'COMPLETE',
    eventTime: '2026-03-01T10:00:00Z',
    producer: 'https://github.com/example/etl/v1',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: crypto.randomUUID() },
    job: { namespace: 'bench', name: `job.${cluster}` },
    inputs: two(layer),
    outputs: two(layer + 1),
  })
}

/** @returns a function that sends a body to the route, or to that of batches, and throws unless all of it is accepted */
export async function eventSender(
  store: Store,
  tenant: TenantId,
): Promise<(body: string, path?: string) => Promise<void>> {
  const log = createLogger({ level: 'fatal', destination: { write: () => {} } })
  const principal = { sub: 'bench', roles: [] }
  const session = { name: 'bench', principal, scopes: ['lineage'] } as const
  const { secret } = await createServiceSession(store, tenant, session)
  const receiver = new LineageReceiver({ store, metrics: createMetrics(), log })
  const admit = admitter({
    findSession: (given) => findServiceSession(store, given),
    identify: async () => ({ principal, source: 'session', verified: true }),
    licensed: { require: () => {} },
    internalAdminOrgId: undefined,
    findCreator: async () => undefined,
  })
  const operations = bind(lineageOperations, { receiver, clock: systemClock, store })
  const routes = operationRoutes(operations, admit, log, async () => false)
  return async (body, path = '/v1/lineage') => {
    const request = new Request(`http://bench${path}`, {
      method: 'POST',
      headers: { 'x-svc-session': secret },
      body,
    })
    const response = await routes.handle(request)
    const text = await response.text()
    const isAccepted = response.status === 202 || (response.status === 200 && !/"status":(?!202)/.test(text))
    if (!isAccepted) throw new Error(`the receiver answered ${response.status}: ${text.slice(0, 500)}`)
  }
}

const clustersPerChunk = 20

/** Draws the edges of so many clusters. */
export async function fillClusters(store: Store, tenant: TenantId, clusters: number): Promise<void> {
  const places = [...Array(width).keys()]
  for (let from = 0; from < clusters; from += clustersPerChunk) {
    const chunk = Array.from(
      { length: Math.min(clustersPerChunk, clusters - from) },
      (_, index) => from + index,
    )
    const name = (cluster: number, layer: number, place: number) => {
      const dataset = { namespace, name: nameOf(cluster, layer, place) }
      return { ...dataset, id: datasetId(dataset), tenant_id: tenant }
    }
    const datasets = chunk.flatMap((cluster) =>
      [...Array(layers).keys()].flatMap((layer) => places.map((place) => name(cluster, layer, place))),
    )
    const edges = chunk.flatMap((cluster) =>
      [...Array(layers - 1).keys()].flatMap((layer) =>
        places.flatMap((a) =>
          places.map((b) => [name(cluster, layer, a).id, name(cluster, layer + 1, b).id] as const),
        ),
      ),
    )
    await store.tenantTransaction(
      tenant,
      async (tx) => {
        await tx.query(
          'insert into "Dataset" (properties) select item::text::agtype from jsonb_array_elements($1::text::jsonb) item',
          [JSON.stringify(datasets)],
        )
        const node = (end: number) =>
          `(select d.id from "Dataset" d where agtype_access_operator(variadic array[d.properties, '"id"'::agtype]) = (item -> ${end})::text::agtype)`
        await tx.query(
          `insert into "LINEAGE_OF" (start_id, end_id, properties)
           select ${node(0)}, ${node(1)}, jsonb_build_object('tenant_id', '${tenant}',
             'id', svc.pair_id(item ->> 0, item ->> 1))::text::agtype
           from jsonb_array_elements($1::text::jsonb) item`,
          [JSON.stringify(edges)],
        )
      },
      { statementMs: 60_000 },
    )
  }
}
