/** Cancel requests between replicas, over one PostgreSQL. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { AccessTokens } from '../../../src/auth/access-token.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { QueryService } from '../../../src/query/query-service.ts'
import { startPgwire } from '../../../src/server/pgwire/start-pgwire.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { eventually } from '../../support/eventually.ts'
import { endless } from '../../support/pgwire.ts'
import { openTestStore } from '../../support/store.ts'
import { frames, spoken, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(300_000)
const server = process.env.SVC_TEST_DATABASE_URL

// Skipped where no server is named: `bun run test:db` names one.
test.skipIf(server === undefined)(
  'a cancel request reaches the replica that has the connection',
  async () => {
    await using store = await openTestStore()
    const { id: tenant } = await createTenant(store, { name: 'acme' })
    await putCatalogCredential(store, tenant, {
      nickname: 'main',
      kind: 'alpha',
      endpoint: 'https://catalog.example',
      config: { endpoint: 'https://catalog.example', warehouse: 'w' },
    })
    const { secret } = await createServiceSession(store, tenant, {
      name: 'bi',
      principal: { sub: 'ada', roles: [] },
      scopes: ['read'],
    })
    let running = false
    const { columns, batches } = endless()
    const queries: QueryService = {
      prepare: async (_, source) => ({ source, columns, parameters: [], needsValues: [] }),
      run: (context, _, { signal }) => {
        running = true
        return Object.assign(batches({ parameters: [], signal, context }) as AsyncGenerator<never>, {
          queryId: crypto.randomUUID(),
          columns,
          applied: () => ({ contracts: [], reads: [], policies: [] }),
          putOnRecord: async () => {},
          confirm: () => undefined,
        })
      },
    }
    const replica = () =>
      startPgwire({
        hostname: '127.0.0.1',
        port: 0,
        tls: undefined,
        allowPlaintext: false,
        store,
        tokens: new AccessTokens(store),
        verifyToken: undefined,
        claims: { organization: 'org_id', roles: undefined },
        queries,
        systemCatalog: undefined,
        explain: async () => Promise.reject(new Error('nothing is explained here')),
        metrics: createMetrics(),
        log: createLogger({ level: 'silent' }),
        clock: systemClock,
      })
    const [here, there] = [await replica(), await replica()]
    const client = await WireClient.logIn(
      { port: here.port },
      { user: 'ada', database: 'main', password: secret },
    )
    client.send(frames.query('select endless'))
    await eventually(() => running)
    const body = Buffer.concat([Buffer.alloc(4), client.key])
    body.writeInt32BE(client.processId)
    const other = await WireClient.connect({ port: there.port })
    other.send(frames.packet(80_877_102, body))
    expect((await client.until('Z')).map(spoken)).toContain('E 57014 canceling statement due to user request')
    client.close()
    await Promise.all([here.stop(5_000), there.stop(5_000)])
  },
)
