/** The wire as a part of the service: its address, certificate, tenants and shutdown. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startApp } from '../../../src/app.ts'
import { parseConfig } from '../../../src/config.ts'
import { utf8Values } from '../../../src/core/variable-width.ts'
import type { QueryService } from '../../../src/query/query-service.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { startTestService } from '../../support/service.ts'
import { openTestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

/** Answers every statement with the tenant that it runs for. */
const queries: QueryService = {
  prepare: async (_, source) => ({
    source,
    columns: [{ name: 'tenant', type: 'text' }],
    parameters: [],
    needsValues: [],
  }),
  run({ tenant }, { columns }) {
    async function* batches() {
      yield { rowCount: 1, columns: [{ type: 'text' as const, ...utf8Values([tenant as string]) }] }
    }
    const applied = () => ({ contracts: [], reads: [], policies: [] })
    const guard = { applied, putOnRecord: async () => {}, confirm: () => undefined }
    return Object.assign(batches(), { queryId: crypto.randomUUID(), columns, ...guard })
  },
}

test('the service serves the wire with the certificate of its configuration', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-wire-'))
  const certificate = makeCertificate()
  await writeFile(join(folder, 'cert.pem'), certificate.cert)
  await writeFile(join(folder, 'key.pem'), certificate.key)
  await using service = await startTestService({
    queries,
    env: {
      SVC_PGWIRE_TLS_CERT_FILE: join(folder, 'cert.pem'),
      SVC_PGWIRE_TLS_KEY_FILE: join(folder, 'key.pem'),
    },
  })
  const connect = async (password: string, user: string) => {
    const client = new pg.Client({
      host: 'localhost',
      port: service.app.pgwirePort ?? 0,
      user,
      database: 'main',
      password,
      ssl: { ca: certificate.cert },
    })
    await client.connect()
    return client
  }

  const client = await connect(service.owner.secret, 'acme')
  expect((await client.query('select anything')).rows).toEqual([{ tenant: service.owner.tenant }])

  // Compiled for real, for everybody.
  expect(await failure(client.query('explain select * from sales.nothing'))).toBe('42P01')
  const { secret } = await createServiceSession(service.store, service.owner.tenant, {
    name: 'steward',
    principal: { sub: 'stella', roles: ['steward'] },
    scopes: ['read'],
  })
  const steward = await connect(secret, 'stella')
  expect(await failure(steward.query('explain select * from sales.nothing'))).toBe('42P01')
  const { rows } = await steward.query('explain select 1 as one')
  expect(rows.map((row) => row['QUERY PLAN'])).toContain('  Columns: one int4')
  await steward.end()

  // The service's end is told to connected clients.
  const ended = new Promise((resolve) => {
    client.on('error', (error: Error) => resolve(Reflect.get(error, 'code')))
  })
  await service.app.stop()
  expect(await ended).toBe('57P01')
  await rm(folder, { recursive: true })
})

const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
)
test.each(hasIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'])(
  'an address without a host is every interface: %s is heard, and is this machine',
  async (host) => {
    await using service = await startTestService({ queries, env: { SVC_PGWIRE_ADDR: ':0' } })
    const client = new pg.Client({
      host,
      port: service.app.pgwirePort,
      user: 'acme',
      database: 'main',
      password: service.owner.secret,
    })
    await client.connect()
    expect((await client.query('select anything')).rows).toEqual([{ tenant: service.owner.tenant }])
    await client.end()
  },
)

test('a certificate that cannot be read stops the start, before anything listens', async () => {
  await using store = await openTestStore()
  const config = parseConfig({
    SVC_PGWIRE_TLS_CERT_FILE: 'nowhere.pem',
    SVC_PGWIRE_TLS_KEY_FILE: 'nowhere.pem',
  })
  const log = createLogger({ level: 'silent' })
  const outcome = await startApp({ config, store, metrics: createMetrics(), log, queries }).then(
    () => 'started',
    (error: { kind: string }) => error.kind,
  )
  expect(outcome).toBe('misconfigured')
})

test.each([
  ['is no PEM', 'nonsense', 'nonsense'],
  ['has another key', makeCertificate().cert, makeCertificate().key],
  ['has an empty key', makeCertificate().cert, ''],
])('a certificate that %s stops the start: no client could begin TLS', async (_, cert, key) => {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-wire-'))
  await writeFile(join(folder, 'cert.pem'), cert)
  await writeFile(join(folder, 'key.pem'), key)
  const files = {
    SVC_PGWIRE_TLS_CERT_FILE: join(folder, 'cert.pem'),
    SVC_PGWIRE_TLS_KEY_FILE: join(folder, 'key.pem'),
  }
  expect(await failureToStart(files)).toBe(
    'SVC_PGWIRE_TLS_CERT_FILE and SVC_PGWIRE_TLS_KEY_FILE name no certificate with its private key.',
  )
  await rm(folder, { recursive: true })
})

/** What a start says that does not come to be. */
async function failureToStart(env: Readonly<Record<string, string>>): Promise<string> {
  await using store = await openTestStore()
  const config = parseConfig({
    SVC_LISTEN_ADDR: '127.0.0.1:0',
    SVC_METRICS_ADDR: '127.0.0.1:0',
    SVC_PGWIRE_ADDR: '127.0.0.1:0',
    SVC_XMLA_ADDR: '127.0.0.1:0',
    ...env,
  })
  const log = createLogger({ level: 'silent' })
  try {
    const app = await startApp({ config, store, metrics: createMetrics(), log, queries })
    await app.stop()
    return 'started'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function failure(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: { code: string }) => error.code,
  )
}
