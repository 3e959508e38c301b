/** Builds lineage events for tests, as JSON and in the store's form. */

import type { TenantId } from '../../src/core/tenant.ts'
import { parseLineageEvent } from '../../src/lineage/parse-event.ts'
import type { ReceivedEvent } from '../../src/store/lineage/events.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import type { Store } from '../../src/store/store.ts'
import type { TestService } from './service.ts'

export const lake = 's3://lake'
export const producer = 'https://github.com/example/etl/v1'

export interface EventOptions {
  readonly inputs?: readonly (string | object)[]
  readonly outputs?: readonly (string | object)[]
  readonly runId?: string
  readonly job?: string
  readonly more?: Readonly<Record<string, unknown>>
}

/** A run event; datasets are named in `lake`, or given whole. */
export function lineageEvent({ inputs = [], outputs = [], runId, job = 'daily', more }: EventOptions) {
  const dataset = (one: string | object) => (typeof one === 'string' ? { namespace: lake, name: one } : one)
  return {
    eventType: 'COMPLETE',
    eventTime: '2026-03-01T10:00:00Z',
    producer,
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: runId ?? crypto.randomUUID() },
    job: { namespace: 'airflow', name: job },
    inputs: inputs.map(dataset),
    outputs: outputs.map(dataset),
    ...more,
  }
}

/** The same, as the store takes it. */
export function receivedEvent(options: EventOptions): ReceivedEvent {
  return {
    event: parseLineageEvent(Buffer.from(JSON.stringify(lineageEvent(options))), 1_000),
    identified: { principal: { sub: 'spark', roles: [] }, source: 'session' },
  }
}

/** A row in each table of what was taken back or renamed. */
export async function seedTakenBack(store: Store, tenant: TenantId): Promise<void> {
  for (const text of [
    `insert into lineage_past (label, id, start_id, end_id, properties, until)
     select 'CONSUMED_BY', id, start_id, end_id, properties, now() from "CONSUMED_BY" limit 1`,
    `insert into lineage_support (pair, job_id) values ('seed', 'seed')`,
    `insert into lineage_shelf (pair, job_id, said) values ('seed', 'seed', '{}')`,
    `insert into lineage_staleness (job_id, days) values ('seed', 30)`,
    `insert into lineage_retirement (subject, dataset_id, reason, retired_by) values ('{}', 'seed', 'seed', 'seed')`,
    `insert into lineage_renamed (old_key, new_key) values ('seed', 'planted')`,
  ])
    await store.tenantQuery(tenant, text)
}

export interface SendOptions {
  readonly secret?: string
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a body to the receiver; an object is sent as JSON. */
export async function sendLineage(
  service: TestService,
  body: string | Uint8Array<ArrayBuffer> | object,
  { secret = service.owner.secret, method = 'POST', path = '/v1/lineage', headers }: SendOptions = {},
): Promise<Response> {
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  return await fetch(new URL(path, service.app.url), {
    method,
    headers: { 'content-type': 'application/json', 'x-svc-session': secret, ...headers },
    ...(method !== 'GET' && method !== 'HEAD' && { body: raw }),
  })
}

const overseers = new WeakMap<TestService, Promise<string>>()

/** Secret of a steward of the owner's tenant who sees all that lineage holds. */
function overseer(service: TestService): Promise<string> {
  const known = overseers.get(service)
  if (known !== undefined) return known
  const made = createServiceSession(service.store, service.owner.tenant, {
    name: 'overseer',
    principal: { sub: 'olga', roles: ['steward'] },
    scopes: ['read', 'lineage:text'],
  }).then(({ secret }) => secret)
  overseers.set(service, made)
  return made
}

/** GET of a resource, as JSON; by a steward with the right to texts unless a secret is given. */
export async function getJson(
  service: TestService,
  path: string,
  secret?: string,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(new URL(path, service.app.url), {
    headers: { 'x-svc-session': secret ?? (await overseer(service)) },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

export interface GraphAnswer {
  readonly status: number
  /** `label from → to`, names of datasets in `lake` shortened, in the order of the answer. */
  readonly edges: readonly string[]
  readonly nodes: readonly string[]
  readonly next: string | undefined
}

/** The lineage around a node, in a form that is easy to compare. */
export async function graph(
  service: TestService,
  node: string,
  query: Readonly<Record<string, string>> = {},
  secret?: string,
): Promise<GraphAnswer> {
  const search = new URLSearchParams({ node, ...query })
  const { status, body } = await getJson(service, `/api/v1/lineage/graph?${search}`, secret)
  const short = (name: string) => name.replaceAll(`dataset/${encodeURIComponent(lake)}/`, '')
  const edges = (body.items ?? []) as { label: string; from: string; to: string }[]
  const nodes = (body.nodes ?? []) as { node: string }[]
  return {
    status,
    edges: edges.map(({ label, from, to }) => `${label} ${short(from)} → ${short(to)}`),
    nodes: nodes.map((one) => short(one.node)),
    next: body.next_page_token as string | undefined,
  }
}

/** The node name of a dataset in `lake`. */
export const datasetNode = (name: string) => `dataset/${encodeURIComponent(lake)}/${encodeURIComponent(name)}`
