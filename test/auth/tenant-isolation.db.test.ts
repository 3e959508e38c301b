/**
 * Sends 500 concurrent requests of 20 tenants over 4 database connections, with failures, timeouts and disconnects in
 * between. Each response holds rows of its own tenant only.
 */

import { expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { call, session, startIdentityService } from '../support/identity.ts'

const server = process.env.SVC_TEST_DATABASE_URL
const seed = 20_240_601

/** Mulberry32. */
function randomOf(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Not by `expect(…).rejects`, which runs the event loop inside itself: many at once wait for each other. */
async function isRejected(promise: Promise<unknown>): Promise<boolean> {
  const [{ status }] = await Promise.allSettled([promise])
  return status === 'rejected'
}

interface Client {
  readonly tenant: TenantId
  readonly secret: string
  readonly mark: string
}

// Skipped where no server is named: `bun run test:db` names one. The embedded database has one session.
test.skipIf(server === undefined)(
  'the tenant of one request never reaches another',
  async () => {
    await using service = await startIdentityService()
    const { store } = service
    const clients: Client[] = []
    for (let count = 0; count < 20; count++) {
      const { id: tenant } = await createTenant(store, { name: `t${count}` })
      const mark = `mark-${count}-${crypto.randomUUID()}`
      const secret = await session(service, tenant, ['read', 'admin'], ['administrator'], mark)
      clients.push({ tenant, secret, mark })
    }
    const random = randomOf(seed)
    const counts = { listed: 0, failed: 0, timedOut: 0, cancelled: 0 }

    /** What a tenant reads with no predicate at all is what row-level security leaves. */
    const rows = (client: Client) =>
      store.tenantQuery<{ tenant_id: string }>(client.tenant, 'select tenant_id from svc.service_session')
    const onlyOwn = (client: Client, found: readonly { tenant_id: string }[]) => {
      expect(found.length).toBeGreaterThan(0)
      expect(found.every((row) => row.tenant_id === client.tenant)).toBe(true)
    }
    const list = async (client: Client, signal?: AbortSignal) => {
      const response = await fetch(new URL('/api/v1/sessions', service.app.url), {
        headers: { 'x-svc-session': client.secret },
        ...(signal === undefined ? {} : { signal }),
      })
      const text = await response.text()
      expect({ seed, status: response.status }).toEqual({ seed, status: 200 })
      expect(text).toContain(client.mark)
      for (const other of clients) if (other !== client) expect(text).not.toContain(other.mark)
      counts.listed++
    }
    const work = async (client: Client): Promise<void> => {
      const dice = random()
      if (dice < 0.5) return await list(client)
      if (dice < 0.6) return onlyOwn(client, await rows(client))
      if (dice < 0.7) {
        const failing = store.tenantTransaction(client.tenant, async (tx) => {
          await tx.query('select 1 from svc.service_session')
          await tx.query(random() < 0.5 ? 'select 1/0' : 'select * from nowhere')
        })
        expect(await isRejected(failing)).toBe(true)
        counts.failed++
      } else if (dice < 0.8) {
        const slow = store.tenantQuery(client.tenant, 'select pg_sleep(30)', [], { statementMs: 20 })
        expect(await isRejected(slow)).toBe(true)
        counts.timedOut++
      } else {
        const leaving = new AbortController()
        const begun = dice < 0.9 ? list(client, leaving.signal) : sleepUntil(client, leaving.signal)
        setTimeout(() => leaving.abort(), random() * 20)
        await begun.catch((error: unknown) => {
          if ((error as Error).name !== 'AbortError') throw error
        })
        counts.cancelled++
      }
      onlyOwn(client, await rows(client))
    }
    const sleepUntil = (client: Client, signal: AbortSignal) =>
      store.tenantQuery(client.tenant, 'select pg_sleep(30)', [], { signal })

    const requests = Array.from({ length: 500 }, (_, index) => clients[index % clients.length] as Client)
    await Promise.all(requests.map(work))
    console.log(`seed ${seed}: ${JSON.stringify(counts)}`)
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(20)

    // And with no tenant at all, a session that all of them have used shows nothing.
    for (const client of clients) onlyOwn(client, await rows(client))
    expect((await call(service, 'GET', '/api/v1/sessions')).status).toBe(401)
  },
  120_000,
)
