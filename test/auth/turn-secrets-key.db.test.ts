/**
 * The secrets key turns while two replicas, each a process of its own, have traffic: commits through a catalog whose
 * credential is sealed, sessions and tokens that one replica makes and the other reads, and webhooks. Nothing is refused,
 * no event is lost, and nothing stored opens under the former key afterwards.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UnsecuredJWT } from 'jose'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { setProperties } from '../../demo/commits.ts'
import { type SealedColumn, sealedColumns } from '../../src/store/database/sealed-columns.ts'
import { tryUnseal } from '../../src/store/database/sealing.ts'
import { appendEvent, lastEvent } from '../../src/store/event/events.ts'
import { hasTurned } from '../../src/store/keys/secrets-key.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { addSubscription } from '../../src/store/webhook/subscriptions.ts'
import { newSecret } from '../../src/webhook/receiver.ts'
import { actorOf } from '../support/actor.ts'
import { eventually } from '../support/eventually.ts'
import { createOrders, equipTenant, type TestTenant } from '../support/service.ts'
import { openTenantStore, type TestStore, testSecretsKey } from '../support/store.ts'

setDefaultTimeout(900_000)

interface Replica {
  readonly url: URL
  readonly child: Bun.Subprocess
}

const newKey = new Uint8Array(32).fill(8)
const text = (key: Uint8Array) => Buffer.from(key).toString('base64')
const [old, next] = [text(testSecretsKey), text(newKey)]

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('the secrets key of two replicas', () => {
  let folder: string
  let catalog: DevCatalog
  let store: TestStore
  let owner: TestTenant
  let administrator: string
  let receiver: Bun.Server<undefined>
  const delivered = new Set<string>()
  const refused: string[] = []
  let live: Replica[] = []
  const underWay = new Map<Replica, number>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'covenant-turn-'))
    catalog = await startDevCatalog({ folder, credential: 'gateway:s3cret' })
    await createOrders(catalog)
    const opened = await openTenantStore()
    store = opened.store
    owner = await equipTenant(store, opened.tenant, 'acme', catalog.url.replace(/\/$/, ''), {
      storage_roots: [pathToFileURL(folder).href],
    })
    const principal = { sub: 'service:root', roles: ['administrator'] }
    const session = { name: 'root', principal, scopes: ['admin', 'read', 'commit'] as const }
    administrator = (await createServiceSession(store, opened.tenant, session)).secret
    receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        delivered.add(request.headers.get('webhook-id') ?? '')
        return new Response()
      },
    })
    const subscription = { name: 'all', url: receiver.url, types: ['contract.moved'] }
    const from = await lastEvent(store, owner.tenant)
    await addSubscription(store, owner.tenant, subscription, newSecret(), from, actorOf('ada'))
  })
  afterAll(async () => {
    for (const { child } of live) child.kill('SIGKILL')
    await Promise.all(live.map(({ child }) => child.exited))
    await receiver?.stop(true)
    await store?.[Symbol.asyncDispose]()
    await catalog?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function startReplica(keys: Readonly<Record<string, string>>): Promise<Replica> {
    const loopback = '127.0.0.1:0'
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../support/key-replica.ts')], {
      env: {
        PATH: process.env.PATH ?? '',
        SVC_DATABASE_URL: store.databaseUrl ?? '',
        ...{ SVC_LISTEN_ADDR: loopback, SVC_METRICS_ADDR: loopback },
        ...{ SVC_PGWIRE_ADDR: loopback, SVC_XMLA_ADDR: loopback },
        SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
        SVC_DRAIN_DELAY_SECONDS: '0',
        SVC_MIGRATE: '0',
        SVC_POOL_MAX: '4',
        UV_THREADPOOL_SIZE: '16',
        ...keys,
      },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const { value } = await child.stdout.getReader().read()
    return { url: new URL(new TextDecoder().decode(value).trim()), child }
  }

  /** Replaces the replicas one after the other, as a rollout does: each has no requests any more when it is stopped. */
  async function rollOut(keys: Readonly<Record<string, string>>): Promise<void> {
    for (const before of [...live]) {
      const after = await startReplica(keys)
      live = [...live.filter((one) => one !== before), after]
      await eventually(() => (underWay.get(before) ?? 0) === 0)
      before.child.kill('SIGTERM')
      expect(await before.child.exited).toBe(0)
    }
  }

  async function send(replica: Replica | undefined, path: string, init: RequestInit): Promise<unknown> {
    if (replica === undefined) throw new Error('no replica')
    underWay.set(replica, (underWay.get(replica) ?? 0) + 1)
    try {
      const response = await fetch(new URL(path, replica.url), init)
      const body = await response.text()
      if (!response.ok) refused.push(`${path}: ${response.status} ${body}`)
      return response.ok && body !== '' ? JSON.parse(body) : {}
    } finally {
      underWay.set(replica, (underWay.get(replica) ?? 0) - 1)
    }
  }

  const bearer = { authorization: `Bearer ${new UnsecuredJWT({ sub: 'spark' }).encode()}` }
  const jsonType = { 'content-type': 'application/json' }

  /** One of everything, each on another replica than what it rests on, where there are two. */
  async function round(number: number): Promise<void> {
    const one = live.at(number % live.length)
    const session = { 'x-svc-session': owner.secret }
    const change = setProperties({ [`p${number}`]: 'set' })
    const orders = '/v1/iceberg/main/namespaces/sales/tables/orders'
    await send(one, orders, { method: 'POST', body: change, headers: { ...jsonType, ...session, ...bearer } })
    const made = (await send(live.at((number + 1) % live.length), '/api/v1/sessions', {
      method: 'POST',
      body: JSON.stringify({ name: `s${number}`, scopes: ['read', 'commit'] }),
      headers: { ...jsonType, 'x-svc-session': administrator },
    })) as { readonly id?: string; readonly secret?: string }
    const { id = '', secret = '' } = made
    await send(live.at(number % live.length), '/api/v1/session', { headers: { 'x-svc-session': secret } })
    const token = (await send(live.at((number + 1) % live.length), '/v1/iceberg/main/v1/oauth/tokens', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret }),
    })) as { readonly access_token?: string }
    await send(live.at(number % live.length), '/v1/iceberg/main/v1/namespaces/sales/tables/orders', {
      headers: { authorization: `Bearer ${token.access_token}` },
    })
    await store.tenantTransaction(owner.tenant, (tx) =>
      appendEvent(tx, { type: 'contract.moved', subject: `s${number}`, data: {} }),
    )
  }

  test('turns, and nothing is refused, lost or left behind', async () => {
    const first = { SVC_SECRETS_KEY: old }
    live = [await startReplica(first), await startReplica(first)]
    let [rounds, stopped] = [0, false]
    const traffic = (async () => {
      while (!stopped) await round(rounds++)
    })()
    const someTraffic = async () => {
      const until = rounds + 5
      await eventually(() => rounds >= until)
      expect(refused).toEqual([])
    }
    await someTraffic()
    await rollOut({ SVC_SECRETS_KEY: old, SVC_SECRETS_KEY_NEXT: next })
    await someTraffic()
    await rollOut({ SVC_SECRETS_KEY: next, SVC_SECRETS_KEY_FORMER: old })
    await someTraffic()
    const after = { ...store, secretsKey: newKey }
    await eventually(async () => {
      for (const { child } of live) child.kill('SIGUSR2')
      return await hasTurned(after)
    })
    await someTraffic()
    await rollOut({ SVC_SECRETS_KEY: next })
    await someTraffic()
    stopped = true
    await traffic
    expect(refused).toEqual([])
    await eventually(() => delivered.size === rounds)
    expect(await openedBy(testSecretsKey)).toEqual([])
    expect(await openedBy(newKey)).toContain('svc.catalog_credential')
    expect(await openedBy(newKey)).toContain('svc.webhook_subscription')
    expect(await openedBy(newKey)).toContain('svc.signing_key')
  })

  /** The tables with a value that the key opens. */
  async function openedBy(key: Uint8Array): Promise<string[]> {
    const opened: string[] = []
    for (const { table, column, key: names, place } of Object.values(sealedColumns) as SealedColumn[]) {
      const rows = await store.adminQuery<Record<string, string> & { readonly value: Uint8Array | null }>(
        `select ${Object.keys(names).map((name) => `${name}::text`)}, ${column} as value from ${table}`,
      )
      for (const row of rows) {
        const of = Object.keys(names).map((name) => row[name] ?? '')
        if (row.value !== null && tryUnseal(key, place(...of), row.value) !== undefined) opened.push(table)
      }
    }
    return opened
  }
})
