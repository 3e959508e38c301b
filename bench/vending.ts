/**
 * Measures what clients wait for beside their storage: requests to it that are signed on one core, the look-up of a file
 * in a large snapshot, and what issuing credentials adds to a load beside the call of STS, which answers at once here.
 */

import { startApp } from '../src/app.ts'
import { systemClock } from '../src/base/clock.ts'
import { addressRules } from '../src/catalog/address.ts'
import { parseConfig } from '../src/config.ts'
import { signRoute } from '../src/gateway/client-surface/sign-route.ts'
import { licenseKeys } from '../src/license/keys.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { awsIssuer } from '../src/vending/aws/aws-issuer.ts'
import type { CredentialRequest } from '../src/vending/issuer.ts'
import { vendingSettings } from '../src/vending/settings.ts'
import { FileSetBuilder } from '../src/vending/sign/file-set.ts'
import { licenseFor, testLicenseKey } from '../test/support/license.ts'
import { equipTenant, prefix, type TestTenant } from '../test/support/service.ts'
import { startSts, stsKeys } from '../test/support/sts.ts'
import { startTableUpstream } from '../test/support/table-upstream.ts'
import { openBenchStore } from './bench-store.ts'
import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  type BenchStore,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

/** What the project promises. */
const signedPerSecondMin = 5_000
const lookUpUsMax = 20
const lookUpMibMax = 16
const addedMsMax = 1

/** Milliseconds that credentials of STS are already old: over half of the hour of a session that may commit. */
const spentMs = 2_000_000

/** Requests that one client has signed at a time, as an engine that opens many files. */
const inFlight = 64

export const vending: BenchEntry = {
  name: 'vending',
  about: 'requests to storage that are signed, files that are looked up, credentials that a load issues',
  options: storeOptions,
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  yield measureLookUp(run)
  for (const kind of chosenStores(run)) yield* measureService(run, kind)
}

function measureLookUp({ smoke }: BenchRun): BenchResult {
  const files = smoke ? 1_000 : 1_000_000
  const pathOf = (n: number) => `s3://lake/sales/orders/data/day=2026-11-${n % 30}/${n}-a1b2c3d4.parquet`
  const builder = new FileSetBuilder()
  for (let n = 0; n < files; n++) builder.add(pathOf(n))
  const set = builder.build()
  // Half of them are not there.
  const asked = Array.from({ length: smoke ? 1_000 : 200_000 }, (_, n) => pathOf((n * 7_919) % (2 * files)))
  const times: number[] = []
  for (let round = 0; round < (smoke ? 2 : 8); round++) {
    const startMs = performance.now()
    const found = asked.filter((path) => set.has(path)).length
    times.push(((performance.now() - startMs) / asked.length) * 1000)
    if (found === 0 || found === asked.length) throw new Error('a file was looked up wrongly')
  }
  const us = percentile(times, 0.5)
  const mib = set.bytes / 1024 ** 2
  return {
    bench: 'vending',
    case: { of: 'look-up', files },
    figures: { us: rounded(us), mib: rounded(mib) },
    ...(!smoke && { verdict: us <= lookUpUsMax && mib <= lookUpMibMax ? 'kept' : 'broken' }),
  }
}

async function* measureService(run: BenchRun, kind: BenchStore): AsyncGenerator<BenchResult> {
  await using stack = new AsyncDisposableStack()
  const { store, engine } = stack.use(await openBenchStore(kind))
  // What it issues has less than half of its life left, so that the service issues others for each load.
  const sts = stack.use(startSts(() => Date.now() - spentMs))
  const upstream = startTableUpstream()
  stack.defer(() => upstream.stop())
  upstream.tables.set('orders', { location: 's3://lake/orders' })
  const config = parseConfig({
    SVC_LISTEN_ADDR: '127.0.0.1:0',
    SVC_METRICS_ADDR: '127.0.0.1:0',
    SVC_PGWIRE_ADDR: '127.0.0.1:0',
    SVC_XMLA_ADDR: '127.0.0.1:0',
    UV_THREADPOOL_SIZE: '16',
    SVC_UPSTREAM_ALLOW: '127.0.0.0/8',
    SVC_LICENSE: licenseFor('vending'),
  })
  const app = await startApp({
    licenseKeys: [...licenseKeys, testLicenseKey],
    jobsByTime: false,
    ...{ config, store },
    metrics: createMetrics(),
    log: createLogger({ level: 'info', destination: { write: () => {} } }),
  })
  stack.defer(() => app.stop())
  const tenantWith = async (name: string, own: Readonly<Record<string, string>>): Promise<TestTenant> => {
    const { id } = await createTenant(store, { name })
    const roots = { storage_roots: ['s3://lake'] }
    const given = { credential: undefined, token: 'bench', 's3.region': 'eu-central-1', ...roots, ...own }
    return await equipTenant(store, id, name, upstream.url.replace(/\/$/, ''), given)
  }
  const load = async ({ secret }: TestTenant, delegation?: string): Promise<string> => {
    const response = await fetch(new URL(`/v1/iceberg/${prefix}/v1/namespaces/n/tables/orders`, app.url), {
      headers: {
        'x-svc-session': secret,
        ...(delegation !== undefined && { 'x-iceberg-access-delegation': delegation }),
      },
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`a load answered ${response.status}: ${text}`)
    return text
  }

  const signs = await tenantWith('signs', {
    'vending.mode': 'sign',
    's3.access-key-id': 'AKBENCH',
    's3.secret-access-key': 'secret',
    's3.endpoint': 'https://storage.example',
  })
  const [, endpoint] = /"signer\.endpoint":"([^"]+)"/.exec(await load(signs, 'remote-signing')) ?? []
  if (endpoint === undefined) throw new Error('no ticket was given')
  const address = new URL(`/v1/iceberg/${prefix}/${endpoint}`, app.url)
  yield await measureSigning(run, engine, async (n) => {
    const body = { method: 'GET', region: 'eu-central-1', headers: {}, uri: fileOf(n) }
    const request = new Request(address.href, { method: 'POST', body: JSON.stringify(body) })
    const response = await signRoute(app.gateway, request, address.pathname)
    if (response?.status !== 200) throw new Error(`a request was not signed: ${response?.status}`)
  })

  const vendConfig = {
    'vending.mode': 'vend',
    'vending.role-arn': 'arn:aws:iam::123456789012:role/reader',
    'vending.access-key-id': stsKeys.accessKeyId,
    'vending.secret-access-key': stsKeys.secretAccessKey,
    'vending.sts-endpoint': sts.url,
    'vending.iam-endpoint': sts.url,
    's3.region': 'eu-central-1',
  }
  const vends = await tenantWith('vends', vendConfig)
  const settings = vendingSettings({ kind: 'alpha', config: vendConfig })
  if (settings.mode !== 'vend') throw new Error('the catalog does not vend')
  const issuer = awsIssuer(settings, { addressRules: addressRules(config.upstreamAllow), clock: systemClock })
  const asked: CredentialRequest = {
    prefixes: ['s3://lake/orders/'],
    access: 'write',
    sessionName: 'bench',
    lifetimeSeconds: 3_600,
  }
  const [plain = [], issued = [], called = []] = await interleavedTimes(
    [
      async () => void (await load(vends)),
      async () => {
        const before = sts.asked.length
        await load(vends, 'vended-credentials')
        if (sts.asked.length !== before + 1) throw new Error('the credentials were not issued')
      },
      async () => void (await issuer.issue(asked)),
    ],
    run.smoke ? 3 : run.full ? 2_000 : 500,
    seededRandom(run.seed),
  )
  const [loadMs, issuedMs, stsMs] = [plain, issued, called].map((times) => percentile(times, 0.5))
  const added = (issuedMs ?? 0) - (loadMs ?? 0) - (stsMs ?? 0)
  yield {
    bench: 'vending',
    case: { of: 'load', store: engine },
    figures: {
      p50_load_ms: rounded(loadMs ?? 0),
      p50_issued_ms: rounded(issuedMs ?? 0),
      p50_sts_ms: rounded(stsMs ?? 0),
      added_p50_ms: rounded(added),
    },
    ...(!run.smoke && { verdict: added <= addedMsMax ? 'kept' : 'broken' }),
  }
}

const fileOf = (n: number) => `https://storage.example/lake/orders/data/day=${n % 30}/${n}-a1b2c3d4.parquet`

/** By one ticket, through the whole route but for the socket. The first fifth warms up and does not count. */
async function measureSigning(
  { smoke }: BenchRun,
  engine: string,
  signOne: (n: number) => Promise<void>,
): Promise<BenchResult> {
  const rates: number[] = []
  let next = 0
  for (let round = 0; round < (smoke ? 2 : 10); round++) {
    const until = next + (smoke ? 100 : 10_000)
    const startMs = performance.now()
    const count = until - next
    const client = async () => {
      while (next < until) await signOne(next++)
    }
    await Promise.all(Array.from({ length: inFlight }, client))
    rates.push(count / ((performance.now() - startMs) / 1000))
  }
  const perSecond = percentile(rates.slice(Math.ceil(rates.length / 5)), 0.5)
  return {
    bench: 'vending',
    case: { of: 'signing', store: engine, in_flight: inFlight },
    figures: { signed_per_s: Math.round(perSecond) },
    ...(!smoke && { verdict: perSecond >= signedPerSecondMin ? 'kept' : 'broken' }),
  }
}
