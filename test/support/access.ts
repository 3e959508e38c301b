/** A lake with a governed table, people who ask for access to what is hidden of it, and people who decide. */

import { expect } from 'bun:test'
import { endAccess } from '../../src/contract/access/access-job.ts'
import type { TenantEvent } from '../../src/core/event.ts'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { readEvents } from '../../src/store/event/events.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { commitColumns } from './governed.ts'
import { call, session } from './identity.ts'
import { type Lake, startLake } from './lake.ts'
import { licenseForAll } from './license.ts'
import { makeTenant } from './spare-tenants.ts'
import { frames, WireClient } from './wire-client.ts'

type Json = Record<string, unknown>
export type AccessAnswer = readonly [status: number, body: Json]

export const accessPath = '/api/v1/access'
const emails = 'select email from sales.orders order by 1'

/**
 * The contract of the table `sales.orders`, which masks e-mail addresses and shows one region.
 * @param plan the member `access` of the custom property, as JSON
 */
export function accessDocument({
  plan,
  purposes,
  roles = '',
  owners = [],
  action = 'mask-alphanum',
}: {
  readonly plan?: object
  readonly purposes?: readonly string[]
  readonly roles?: string
  readonly owners?: readonly object[]
  readonly action?: string
} = {}): string {
  const team = owners.length === 0 ? '' : `team: ${JSON.stringify({ name: 'shop', members: owners })}\n`
  const own =
    plan === undefined && purposes === undefined
      ? ''
      : `customProperties: [{property: covenant, value: ${JSON.stringify({ access: plan, purposes })}}]\n`
  return `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
${roles}${team}${own}schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}, rowFilters: [{id: some, expression: region IN ('east'), exemptRoles: [officer]}]}}
  properties:
  - name: email
    logicalType: string
    customProperties: [{property: covenant, value: {masks: [{id: hide, action: ${action}, exemptRoles: [officer]}]}}]
`
}

export interface AccessLake {
  readonly lake: Lake
  /** Another tenant, with a table of the same name and the same contract. */
  readonly foreign: TenantId
  ask(method: string, to: string, secret: string, body?: unknown): Promise<AccessAnswer>
  /** Puts a contract document in force. */
  put(secret: string, body: string): Promise<void>
  /** A session of the lake's tenant. */
  person(sub: string, roles: readonly string[], isReader?: boolean): Promise<string>
  /** Whether a reader sees the addresses masked. */
  isMasked(sub: string, secret: string): Promise<boolean>
  /** Makes a request for the addresses, which must succeed. */
  requested(secret: string, more?: object): Promise<Made>
  decide(secret: string, request: Pick<Made, 'id' | 'sha256'>, approves?: boolean): Promise<AccessAnswer>
  /** The request as somebody sees it. */
  shown(secret: string, id: string): Promise<Json>
  revoke(secret: string, grant: string | undefined): Promise<AccessAnswer>
  /** Events of a type about a request. */
  events(type: string, id: string): Promise<readonly TenantEvent[]>
  /** One run of the job over all tenants. */
  work(): Promise<void>
}

interface Made {
  readonly id: string
  readonly sha256: string
  readonly state: string
  readonly grant?: { readonly id: string; readonly from: string; readonly until: string }
}

/** Starts the lake. @param clock of the service */
export async function startAccessLake(clock: { readonly now: () => number }): Promise<AccessLake> {
  const lake = await startLake({ env: { SVC_LICENSE: licenseForAll() }, clock })
  const { store, tenant } = lake
  const foreign = (await makeTenant(store, { name: 'other' })).id
  const columns = { email: 'string', region: 'string' }
  await commitColumns(store, foreign, { namespace: ['sales'], name: 'orders' }, columns)
  const ask: AccessLake['ask'] = async (method, to, secret, body) => {
    const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
    const response = await call(lake, method, to, { secret, headers, body })
    const text = await response.text()
    return [response.status, text === '' ? {} : JSON.parse(text)]
  }
  return {
    ...{ lake, foreign, ask },
    async put(secret, body) {
      const [status, answer] = await ask('PUT', '/api/v1/contracts/documents/orders', secret, body)
      expect([status, status === 200 ? '' : answer]).toEqual([200, ''])
    },
    person: (sub, roles, isReader = false) =>
      session(lake, tenant, isReader ? ['read'] : sessionScopes, roles, sub),
    async isMasked(user, password) {
      const login = { user, password, database: lake.catalog }
      const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
      try {
        return (await client.ask(frames.query(emails))).toString().includes('xxx')
      } finally {
        client.close()
      }
    },
    async requested(secret, more = {}) {
      const table = { namespace: ['sales'], table: 'orders' }
      const wanted = { ...table, columns: ['email'], purpose: 'Refunds', seconds: 3_600, ...more }
      const [status, answer] = await ask('POST', `${accessPath}/requests`, secret, wanted)
      expect([status, status === 201 ? '' : answer]).toEqual([201, ''])
      return answer as unknown as Made
    },
    decide: (secret, { id, sha256 }, approves = true) =>
      ask('POST', `${accessPath}/requests/${id}/decisions`, secret, { approves, sha256 }),
    shown: async (secret, id) => (await ask('GET', `${accessPath}/requests/${id}`, secret))[1],
    revoke: (secret, grant = '') =>
      ask('POST', `${accessPath}/grants/${grant}/revocation`, secret, { reason: 'enough' }),
    events: async (type, id) =>
      (await readEvents(store, tenant, 0n)).filter((one) => one.type === type && one.data.request === id),
    work: () =>
      endAccess({ store, clock, log: createLogger({ level: 'silent' }) }, AbortSignal.timeout(60_000)),
  }
}

/** The items of a page. */
export function itemsOf([, page]: AccessAnswer): readonly Json[] {
  return (page.items ?? []) as Json[]
}

/** The grant of a decision, which must have made one. */
export function grantOf([status, answer]: AccessAnswer): NonNullable<Made['grant']> {
  expect(status).toBe(200)
  return answer.grant as NonNullable<Made['grant']>
}

/** The message of a refusal. */
export function messageOf([, { error }]: AccessAnswer): string {
  return String((error as { message?: string } | undefined)?.message ?? '')
}
