/** Starts a lake whose `sales.orders` is masked and filtered, with a steward, and asks for and decides about access. */

import { expect } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { readEvents } from '../../src/store/event/events.ts'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from './actor.ts'
import { call } from './identity.ts'
import { type Lake, type LakeOptions, startLake } from './lake.ts'
import { licenseForAll } from './license.ts'
import { frames, WireClient } from './wire-client.ts'

type Json = Record<string, never>

export interface NewPerson {
  readonly sub: string
  readonly email?: string
  readonly roles?: readonly string[]
}

export interface AccessLake extends AsyncDisposable {
  readonly lake: Lake
  /** The steward who decides. */
  readonly stella: string
  readonly ask: (method: string, path: string, secret: string, body?: unknown) => Promise<[number, Json]>
  /** A session of a person. @param by who made it */
  readonly sessionOf: (person: NewPerson, by?: string) => Promise<string>
  readonly endSession: (secret: string) => Promise<void>
  readonly putContract: (body: string) => Promise<void>
  readonly requested: (secret: string, more?: object) => Promise<{ id: string; sha256: string }>
  readonly decide: (
    secret: string,
    asked: { id: string; sha256: string },
    approves?: boolean,
  ) => Promise<[number, Json]>
  /** Asks, and has it granted by the steward. @returns the grant's id */
  readonly granted: (secret: string, more?: object) => Promise<string>
  readonly revoke: (secret: string, grant: string) => Promise<[number, Json]>
  /** A statement over the wire: the values of its rows, or the code of its error. */
  readonly rows: (user: string, secret: string, text: string) => Promise<readonly string[] | string>
  readonly wire: (user: string, secret: string) => Promise<WireClient>
  /** The types of what was told with this member in its data. */
  readonly told: (member: 'request' | 'grant', id: string) => Promise<readonly string[]>
}

export const accessPath = '/api/v1/access'
const wanted = { namespace: ['sales'], table: 'orders', purpose: 'Refund of order 4711', seconds: 3_600 }

/** The contract: the mask and the filter spare officers. */
export const contractOf = (action = 'mask-alphanum', filter = "region IN ('east')") => `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}, rowFilters: [{id: some, expression: ${filter}, exemptRoles: [officer]}]}}
  properties:
  - name: email
    logicalType: string
    customProperties: [{property: covenant, value: {masks: [{id: hide, action: ${action}, exemptRoles: [officer]}]}}]
`

/** Starts it. @param options as of a lake; a clock that the test moves among them */
export async function startAccessLake(options: LakeOptions): Promise<AccessLake> {
  const lake = await startLake({ env: { SVC_LICENSE: licenseForAll() }, ...options })
  const ids = new Map<string, string>()
  const ask: AccessLake['ask'] = async (method, path, secret, body) => {
    const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
    const response = await call(lake, method, path, { secret, headers, body })
    const text = await response.text()
    return [response.status, text === '' ? {} : JSON.parse(text)]
  }
  const sessionOf: AccessLake['sessionOf'] = async ({ roles = [], ...person }, by) => {
    const { id, secret } = await createServiceSession(
      lake.store,
      lake.tenant,
      { name: person.sub, principal: { ...person, roles }, scopes: sessionScopes },
      ...(by === undefined ? [] : [actorOf(by)]),
    )
    ids.set(secret, id)
    return secret
  }
  const putContract = async (body: string) => {
    const answer = await ask('PUT', '/api/v1/contracts/documents/orders', stella, body)
    expect(answer[0] === 200 ? 200 : answer).toBe(200)
  }
  const requested: AccessLake['requested'] = async (secret, more = {}) => {
    const answer = await ask('POST', `${accessPath}/requests`, secret, { ...wanted, ...more })
    expect(answer[0] === 201 ? 201 : answer).toBe(201)
    return answer[1] as unknown as { id: string; sha256: string }
  }
  const decide: AccessLake['decide'] = (secret, { id, sha256 }, approves = true) =>
    ask('POST', `${accessPath}/requests/${id}/decisions`, secret, { approves, sha256 })
  const wire = (user: string, password: string) =>
    WireClient.logIn({ port: Number(lake.env.PGPORT) }, { user, password, database: lake.catalog })
  const stella = await sessionOf({ sub: 'stella', roles: ['steward'] })
  await putContract(contractOf())
  return {
    ...{ lake, stella, ask, sessionOf, putContract, requested, decide, wire },
    async endSession(secret) {
      expect(
        await revokeServiceSession(lake.store, lake.tenant, ids.get(secret) ?? '', actorOf('olga')),
      ).toBe(true)
    },
    async granted(secret, more = {}) {
      const answer = await decide(stella, await requested(secret, more))
      expect(answer[0] === 200 ? 200 : answer).toBe(200)
      return (answer[1] as unknown as { grant: { id: string } }).grant.id
    },
    revoke: (secret, grant) =>
      ask('POST', `${accessPath}/grants/${grant}/revocation`, secret, { reason: 'enough' }),
    async rows(user, secret, text) {
      const client = await wire(user, secret)
      try {
        return await client.ask(frames.query(text))
      } finally {
        client.close()
      }
    },
    told: async (member, id) =>
      (await readEvents(lake.store, lake.tenant, 0n))
        .filter(({ data }) => data[member] === id)
        .map(({ type }) => type),
    [Symbol.asyncDispose]: () => lake[Symbol.asyncDispose](),
  }
}
