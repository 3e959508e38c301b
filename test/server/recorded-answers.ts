/** Sends a fixed set of requests to every route and records status, important headers and the form of the body. */

import { createHmac } from 'node:crypto'
import { appendSnapshot, firstSnapshotId } from '../../demo/commits.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { limits } from '../../src/limits.ts'
import type { DescribedRoute } from '../../src/server/open-api.ts'
import { recordUsage } from '../../src/store/query/usage.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { recordFinding } from '../support/detection-rows.ts'
import { type CallOptions, call, type IdentityService, session } from '../support/identity.ts'
import { datasetNode, lineageEvent, sendLineage } from '../support/lineage.ts'
import { commit } from '../support/service.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { usageRecord } from '../support/usage.ts'

/** By `METHOD path`, then by who or what asks. */
export type RecordedAnswers = Readonly<Record<string, Readonly<Record<string, string>>>>

const headersKept = ['content-type', 'allow', 'www-authenticate', 'retry-after', 'location'] as const

/** A body without its values: objects by their members, arrays by what all of their items are. */
function formOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(formOf))].sort().join(' | ')}]`
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${name}: ${formOf(member)}`).join(', ')}}`
}

/** One answer as a line. */
export async function lineOf(response: Response): Promise<string> {
  // A stream does not end by itself.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const text = isStream ? '' : await response.text()
  if (isStream) await response.body?.cancel()
  const kept = headersKept.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [`${name}=${value.split('?')[0]}`]
  })
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const value = isJson ? JSON.parse(text) : undefined
  const body = !isJson
    ? `text of ${text === '' ? 'nothing' : 'something'}`
    : (value.error?.type ?? formOf(value))
  return [response.status, ...kept, body].join(' ')
}

/** What every route answers to strangers, to callers without a right, and to what is malformed. */
export async function recordRefusals(service: IdentityService): Promise<RecordedAnswers> {
  const { tenant } = service.owner
  // Another than the one that asks: some of what is sent here suspends it.
  const { id: other } = await makeTenant(service.store, { name: 'refused' })
  const secrets = {
    'no scope': await session(service, tenant, [], ['steward', 'administrator']),
    lineage: await session(service, tenant, ['lineage']),
    read: await session(service, tenant, ['read']),
    'read and admin': await session(service, tenant, ['read', 'admin']),
    administrator: await session(service, tenant, sessionScopes, ['administrator']),
    steward: await session(service, tenant, sessionScopes, ['steward']),
    operator: service.operator,
  }
  const bodies = ['', '{', '[]', '{}', '{"unknown":1}', 'x'.repeat(limits.lineageBodyBytesMax + 1)]
  const recorded: Record<string, Record<string, string>> = {}
  for (const { method, path } of service.app.routes.list().toSorted(byName)) {
    if (method === 'ALL' || path.includes('*') || path.endsWith('/openapi.json')) continue
    const lines: Record<string, string> = {}
    const target = path
      .replace(':tenant', other)
      .replace(':namespace', 'sales')
      .replace(':table', 'none')
      .replaceAll(/:\w+/g, 'x')
    const ask = async (name: string, options: CallOptions, to = target, by = method) => {
      lines[name] = await lineOf(await call(service, by, to, options))
    }
    await ask('wrong method', {}, target, 'OPTIONS')
    await ask('anonymous', {})
    await ask('a secret that is none', { secret: 'svc_none' })
    for (const [name, secret] of Object.entries(secrets)) await ask(name, { secret })
    const secret = path.startsWith('/admin') ? service.operator : secrets.steward
    if (method === 'GET') {
      for (const query of ['limit=0', 'limit=x', 'kind=x', 'state=x&status=x', 'from=x', 'by=x', 'node=x'])
        await ask(query, { secret }, `${target}?${query}`)
    } else {
      for (const body of bodies) await ask(`body ${body.slice(0, 20)}`, { secret, body })
    }
    recorded[`${method} ${path}`] = lines
  }
  return recorded
}

/**
 * What routes answer where they succeed, in an order in which they do.
 * @param around sends each request, perhaps several times, and returns the answer that counts
 */
export async function recordSuccesses(
  service: IdentityService,
  requests: readonly (readonly [method: string, path: string, body?: unknown])[],
  around: (name: string, send: () => Promise<Response>) => Promise<Response> = (_, send) => send(),
): Promise<Readonly<Record<string, string>>> {
  const { store, owner } = service
  const secret = await session(service, owner.tenant, sessionScopes, ['steward', 'administrator'])
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  if ((await commit(service, appendSnapshot(snapshot))).status !== 200) throw new Error('no snapshot')
  for (const inputs of [['a'], ['b']])
    await sendLineage(service, lineageEvent({ runId: recordedRun, inputs, outputs: ['c'] }))
  await recordUsage(store, owner.tenant, usageRecord())
  const people = { namespace: ['sales'], name: 'people' }
  await recordFinding(store, owner.tenant, people, { fieldId: 1n, columnName: 'ssn' })
  const lines: Record<string, string> = {}
  const noted = new Map<string, string>()
  for (const [method, path, body] of requests) {
    const to = path
      .replace('{tenant}', owner.tenant)
      .replaceAll(/\{(\w+)\}/g, (_, name) => noted.get(name) ?? '')
    const as = path.startsWith('/admin') ? service.operator : secret
    const response = await around(`${method} ${path}`, () => call(service, method, to, { secret: as, body }))
    const kind = path.split('?')[0]?.split('/').at(-1) ?? ''
    const answer = (await response
      .clone()
      .json()
      .catch(() => ({}))) as Readonly<Record<string, unknown>>
    const [first = answer] = (answer.items ?? []) as (typeof answer)[]
    if (typeof first.id === 'string') noted.set(kind, first.id)
    lines[`${method} ${path}`] = await lineOf(response)
  }
  const hit = JSON.stringify({ tenant_id: owner.tenant, metadata_location: 's3://lake/1.json' })
  const signature = createHmac('sha256', recordedSecret).update(hit).digest('hex')
  const headers = { 'x-alpha-signature': signature }
  const send = async (method: string, path: string, options: CallOptions) => {
    const name = `${method} ${path}`
    lines[name] = await lineOf(await around(name, () => call(service, method, path, options)))
  }
  await send('POST', '/v1/webhooks/alpha', { headers, body: hit })
  const browser = { principal: { sub: 'ann', roles: [] }, scopes: ['read'] as const, providerSid: undefined }
  const web = await createBrowserSession(store, owner.tenant, browser, undefined)
  const cookie = { cookie: `__Host-svc_session=${web}`, 'sec-fetch-site': 'same-origin' }
  await send('GET', '/api/v1/sessions?kind=browser', { secret })
  await send('POST', '/logout', { headers: cookie })
  return lines
}

/** The run whose events are recorded, and the secret that the recorded webhook is signed with. */
export const recordedRun = '00000000-0000-4000-8000-000000000001'
export const recordedSecret = 'hook-secret-of-the-lake'
export const recordedNode = encodeURIComponent(datasetNode('c'))

function byName(one: DescribedRoute, other: DescribedRoute): number {
  return `${one.path} ${one.method}` < `${other.path} ${other.method}` ? -1 : 1
}
