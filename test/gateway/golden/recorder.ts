/** Sends one case of the recorded responses, and writes its outcome as one line. */

import { UnsecuredJWT } from 'jose'
import { createTable } from '../../../demo/commits.ts'
import { RightOfWay } from '../../../src/base/right-of-way.ts'
import type { TableRef } from '../../../src/core/table-ref.ts'
import { intentsOnTable } from '../../../src/store/commit/commit-intents.ts'
import { listDecisions } from '../../../src/store/commit/decision-list.ts'
import { putPolicy } from '../../../src/store/policy/policies.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { failingStore } from '../../support/failing-store.ts'
import { startTestService, type TestService, upstreamHeaders } from '../../support/service.ts'
import type { GoldenOutcome } from './outcomes.ts'
import { createView, type GoldenRoute } from './routes.ts'

export interface Recorder extends AsyncDisposable {
  /** What came of one request, without what differs between two runs. */
  record(route: GoldenRoute, outcome: GoldenOutcome): Promise<string>
}

const names = ['t', 'first', 'v', 'made']
const tablesOf = ({ id }: GoldenRoute) => (/transaction/i.test(id) ? ['first', 't'] : ['t'])

/** Starts a service that writes down what is asked of its store and its upstream. */
export async function startRecorder(): Promise<Recorder> {
  const called: string[] = []
  let failOn = /^never$/
  const ended = Promise.withResolvers<void>()
  // Detection would load what was committed, at a time of its own: here it waits until the service stops.
  const standstill = { now: () => 0, sleep: () => ended.promise }
  const commits = new RightOfWay({ quietMs: 1, waitMsMax: 1 }, standstill)
  // An audit that failed is repeated once its case is recorded.
  let recorded = Promise.withResolvers<void>()
  const service = await startTestService({
    auditSleep: () => recorded.promise,
    wrapStore: (store) => listened(store, called, () => failOn),
    commits,
  })
  const upstream = `${service.catalog.url}/v1/dev`
  let headers = await upstreamHeaders(service.catalog)
  const secrets = {
    writer: await secretOf(service, ['commit', 'read', 'admin']),
    reader: await secretOf(service, ['read']),
    neither: await secretOf(service, ['lineage']),
    unknown: `svc_${'A'.repeat(43)}`,
    none: '',
  }
  let cases = 0

  async function make(path: string, body: string): Promise<void> {
    const made = await fetch(`${upstream}${path}`, { method: 'POST', headers, body })
    if (!made.ok) throw new Error(`the development catalog answered ${made.status}: ${await made.text()}`)
  }

  async function prepare(namespace: string, route: GoldenRoute, outcome: GoldenOutcome): Promise<void> {
    if (route.makesNamespace === undefined && outcome.absent === undefined) {
      await make('/namespaces', JSON.stringify({ namespace: [namespace], properties: {} }))
      if (route.id !== 'dropNamespace' || outcome.policy !== undefined)
        for (const table of tablesOf(route)) await make(`/namespaces/${namespace}/tables`, createTable(table))
      if (/view/i.test(route.id)) await make(`/namespaces/${namespace}/views`, createView('v'))
    }
    if (outcome.policy === undefined) return
    for (const name of outcome.policy.on ?? [...tablesOf(route), 'v', 'made']) {
      const table: TableRef = { namespace: [namespace], name }
      const policy = {
        id: `${namespace}-${name}`,
        name: 'golden rule',
        message: 'not today',
        mode: 'enforce',
      } as const
      await putPolicy(service.store, service.owner.tenant, table, {
        ...policy,
        kind: 'write_acl',
        definitionCel: outcome.policy.definitionCel,
        mode: outcome.policy.mode ?? 'enforce',
      })
    }
  }

  // The upstream's configuration is asked for once, and is no case's doing.
  await fetch(new URL('/v1/iceberg/main/v1/config', service.app.url), {
    headers: { 'x-svc-session': service.owner.secret },
  })

  return {
    async record(route, outcome) {
      const namespace = `golden${++cases}`
      recorded = Promise.withResolvers()
      await prepare(namespace, route, outcome)
      const { session = 'writer' } = outcome
      const send = () => ask(service, route, outcome, namespace, secrets[session])
      if (outcome.again) await (await send()).arrayBuffer()
      service.catalog.faults.reset()
      failOn = outcome.failOn ?? /^never$/
      if (outcome.failure?.operation === 'token') service.catalog.faults.expireTokens()
      if (outcome.failure)
        service.catalog.faults.add({
          operation: route.upstream === 'none' ? 'read' : route.upstream,
          ...outcome.failure,
        })
      const before = await booksOf(service)
      called.length = 0
      const response = await send()
      const text = await response.text()
      const asked = called.toSorted()
      const sent = upstreamCounts(service)
      failOn = /^never$/
      service.catalog.faults.reset()
      if (outcome.failure?.operation === 'token') headers = await upstreamHeaders(service.catalog)
      const after = await booksOf(service)
      const intents = await Promise.all(
        names.map((name) =>
          intentsOnTable(service.store, service.owner.tenant, { namespace: [namespace], name }),
        ),
      )
      const audited = after.audit.filter(
        ({ commitId }) => !before.audit.some((one) => one.commitId === commitId),
      )
      const beside = {
        store: asked.join(' '),
        upstream: sent,
        audit: audited.map(({ decision, reason }) => `${decision} ${reason}`.trim()).join(', '),
        intents: intents.flat().length || '',
        counted: countedSince(before.counts, after.counts),
      }
      recorded.resolve()
      await eventually(() => unauditedChanges(service).then((count) => count === 0))
      const effects = Object.entries(beside).filter(([, what]) => what !== '')
      return [
        `${outcome.name}: ${response.status}`,
        headersOf(response),
        bodyOf(text),
        ...effects.map(([name, what]) => `${name} ${what}`),
      ]
        .join(' | ')
        .replaceAll(namespace, 'NS')
        .replaceAll(service.owner.tenant, 'TENANT')
    },
    async [Symbol.asyncDispose]() {
      commits.end()
      ended.resolve()
      await service[Symbol.asyncDispose]()
    },
  }
}

let sessions = 0
async function secretOf(
  { store, owner }: TestService,
  scopes: Parameters<typeof createServiceSession>[2]['scopes'],
): Promise<string> {
  const name = `golden ${++sessions}`
  return (
    await createServiceSession(store, owner.tenant, { name, principal: { sub: 'g', roles: [] }, scopes })
  ).secret
}

async function ask(
  service: TestService,
  route: GoldenRoute,
  outcome: GoldenOutcome,
  namespace: string,
  secret: string,
): Promise<Response> {
  const method = outcome.method ?? route.method
  const given = outcome.body ?? route.body
  const body = typeof given === 'function' ? given(namespace) : given
  const path = `/v1/iceberg/${outcome.prefix ?? 'main'}${route.path(outcome.namespace ?? namespace)}`
  return await fetch(new URL(path, service.app.url), {
    method,
    ...(body !== undefined && method !== 'GET' && method !== 'HEAD' && { body }),
    headers: {
      'content-type': 'application/json',
      ...(secret !== '' && { 'x-svc-session': secret }),
      authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark', roles: [] }).encode()}`,
      ...outcome.headers,
    },
  })
}

/** Writes down the calls that are made for requests; what jobs ask beside them is left out. */
function listened(store: Store, called: string[], failOn: () => RegExp): Store {
  return {
    ...store,
    tenantQuery: (tenant, text, params, options) => {
      called.push('query')
      return failingStore(store, failOn()).tenantQuery(tenant, text, params, options)
    },
    tenantCall: (tenant, name, params) => {
      called.push(name)
      return failingStore(store, failOn()).tenantCall(tenant, name, params)
    },
    adminCall: (name, params) => {
      if (name === 'find_service_session') called.push(name)
      return failingStore(store, failOn()).adminCall(name, params)
    },
    sessionCall: (tenant, name, params) => {
      called.push(name)
      return failingStore(store, failOn()).sessionCall(tenant, name, params)
    },
  }
}

async function unauditedChanges({ metrics }: TestService): Promise<number | undefined> {
  return (await metrics.unauditedChanges.get()).values[0]?.value
}

function upstreamCounts({ catalog }: TestService): string {
  return Object.entries(catalog.faults.counts)
    .filter(([operation, count]) => count > 0 && operation !== 'token')
    .map(([operation, count]) => `${operation}×${count}`)
    .join(' ')
}

interface Books {
  /** The newest decisions, oldest first. */
  readonly audit: readonly { readonly commitId: string; readonly decision: string; readonly reason: string }[]
  readonly counts: ReadonlyMap<string, number>
}

async function booksOf({ store, owner, metrics }: TestService): Promise<Books> {
  const { items } = await listDecisions(store, owner.tenant, { limit: 10 })
  const [rejected, durations] = await Promise.all([
    metrics.commitRejected.get(),
    metrics.commitDurationMs.get(),
  ])
  const counts = [
    ...rejected.values.map(({ labels, value }) => [`${labels.reason}`, value] as const),
    ...durations.values
      .filter(({ metricName }) => metricName?.endsWith('_count'))
      .map(({ labels, value }) => [`outcome=${labels.outcome}`, value] as const),
  ]
  return {
    audit: items.toReversed(),
    counts: new Map(counts),
  }
}

function countedSince(before: Books['counts'], after: Books['counts']): string {
  return [...after]
    .filter(([name, value]) => value !== (before.get(name) ?? 0))
    .map(([name, value]) => `${name}+${value - (before.get(name) ?? 0)}`)
    .toSorted()
    .join(' ')
}

/** What differs between two runs, and what the listener gives to every answer. */
const unsaid = new Set([
  'date',
  'content-length',
  'x-request-id',
  'cache-control',
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
])

function headersOf({ headers }: Response): string {
  const said = [...headers].filter(([name]) => !unsaid.has(name)).toSorted()
  return said
    .map(([name, value]) => `${name}=${name === 'server-timing' ? stagesOf(value) : steady(value)}`)
    .join('; ')
}

/** The stages of a `Server-Timing` header, without their times. */
function stagesOf(value: string): string {
  return value
    .split(', ')
    .map((entry) => entry.split(';')[0])
    .toSorted()
    .join(',')
}

/** A body, with table metadata as the names of its members. */
function bodyOf(text: string): string {
  if (text === '') return '(empty)'
  const short = /^\{.*"metadata":/s.test(text) ? JSON.stringify(membersOf(JSON.parse(text))) : text
  return steady(short)
}

function membersOf(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { metadata } = answer
  return { ...answer, metadata: Object.keys(Object(metadata)).toSorted().join(' ') }
}

function steady(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'DIGEST')
    .replaceAll(/\b\d{13}\b/g, 'MS')
    .replaceAll(/file:\/\/[^"]*?covenant-test-[^/"]+/g, 'FOLDER')
}
