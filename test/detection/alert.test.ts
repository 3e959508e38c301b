/** Alerts: their form, their retries, and that they delay no scan. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Secret } from '../../src/base/secret.ts'
import { coverageOf, type ScanReport } from '../../src/core/detection.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { AlertSender, alertPayload } from '../../src/detection/alert.ts'
import { limits } from '../../src/limits.ts'
import { claimAlerts, finishAlert } from '../../src/store/detection/alerts.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { type ListedFinding, listFindings } from '../../src/store/detection/findings.ts'
import { finishRun } from '../../src/store/detection/results.ts'
import { requestRescan } from '../../src/store/detection/run-list.ts'
import { enqueueHits } from '../../src/store/detection/runs.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { actorOf } from '../support/actor.ts'
import { emptyReport } from '../support/detection-rows.ts'
import { eventually } from '../support/eventually.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

const finding: ListedFinding = {
  id: 'f',
  runId: 'r',
  table: { namespace: ['sales', 'eu'], name: 'people' },
  fieldId: 2,
  column: 'email',
  class: 'email',
  shape: 'name_and_value',
  confidence: 0.92,
  matched: 9,
  sampled: 10,
  maskedSample: 'a***@e***.org',
  status: 'open',
  decision: undefined,
  runs: [],
  withdrawal: undefined,
  firstFoundAt: new Date(0),
  foundAt: new Date(0),
}

describe('the text', () => {
  const link = new URL('https://covenant.example/api/v1/detection/findings?run=r')

  test('names table, column, class, confidence and link, and neither counts nor samples', () => {
    expect(alertPayload([finding], link).text).toBe(
      [
        'Sensitive data was detected in *sales.eu.people*.',
        '• email: email, confidence 0.92',
        '<https://covenant.example/api/v1/detection/findings?run=r|Findings of this run>',
      ].join('\n'),
    )
  })

  test('says where the bound on custom classifiers left columns out, which makes a scan partial', () => {
    const report = { filesAdded: 2, filesScanned: 2, unjudged: 3 }
    expect(coverageOf(report)).toEqual({ isPartial: true, share: 1 })
    expect(alertPayload([finding], link, false, report).text).toContain(
      'The scan is partial: 2 of 2 files were read (100 %), 0 were left out, 0 cannot be read. 3 judgements of columns by custom classifiers were left out.',
    )
    expect(alertPayload([finding], link, false, { ...report, unjudged: 0 }).text).not.toContain('partial')
  })

  test('lets no name become a link, a mention or markup, and stays short', () => {
    const hostile = {
      ...finding,
      column: '<!channel> *x* `y` @here\n<http://evil|click>',
      maskedSample: '`<a>`',
    }
    const { text } = alertPayload(
      Array.from({ length: 10 }, () => hostile),
      link,
      true,
    )
    expect(text).not.toMatch(/<!|<http:\/\/evil|@here|`y`|``/)
    expect(text.split('\n').length).toBe(13)
    expect(text).toContain('• and more\n')
  })

  test('lets no name be linked by itself, or be read in another order', () => {
    const column = 'https://evil.example/ www.evil.example \u202egro.live\u2028next'
    const { text } = alertPayload([{ ...finding, column }], link)
    expect(text.replace(`<${link.href}`, '')).not.toMatch(/https?:\/\/|www\.|[\u202e\u2028]/)
    expect(text.split('\n').length).toBe(3)
  })
})

describe('sending', () => {
  let store: TestStore
  let tenant: TenantId
  let statuses: (number | 'drop')[] = []
  let bodies: string[] = []
  let chat: Bun.Server<undefined>
  let lines: string[] = []
  beforeAll(async () => {
    store = await openTestStore()
    tenant = (await makeTenant(store, { name: 'home' })).id
    chat = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        bodies.push(await request.text())
        const status = statuses.shift() ?? 200
        if (status === 'drop') throw new Error('dropped')
        return new Response('no', { status, headers: status === 429 ? { 'retry-after': '0' } : {} })
      },
      error: () => new Response(null, { status: 502 }),
    })
  }, 300_000)
  afterAll(async () => {
    await chat.stop(true)
    await store[Symbol.asyncDispose]()
  })

  let runs = 0
  const sender = () => {
    statuses = []
    bodies = []
    lines = []
    const metrics = createMetrics()
    const log = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
    const alerts = new AlertSender(
      { store, metrics, log },
      {
        webhookUrl: new Secret(`${chat.url.href}hook/s3cret`),
        baseUrl: () => new URL('http://here'),
        backoffMs: 1,
      },
    )
    return { alerts, metrics }
  }
  /** A finished run with a finding that is worth an alert. */
  const alertDue = async (table?: TableRef, fieldIds?: readonly bigint[], tableUuid?: string) => {
    await enqueueNext(table)
    await finishWithAlert(fieldIds, tableUuid)
  }
  const enqueueNext = async (table: TableRef | undefined) => {
    const metadataLocation = `s3://lake/alert/${++runs}`
    await enqueueHits(store, tenant, [{ tenant, source: 'storage-event', metadataLocation, table }])
  }
  const finishRunOf = async (
    fieldIds: readonly bigint[],
    tableUuid: string,
    covered: Partial<ScanReport> = {},
  ) => {
    const [claim] = await claimRuns(store, { limit: 1, leaseMs: 60_000, triesMax: 3 })
    if (claim === undefined) throw new Error('nothing to claim')
    const { id, runId, table: _, status, decision, foundAt, ...found } = finding
    const report = { ...emptyReport, ...covered, tableUuid }
    const findings = fieldIds.map((fieldId) => ({ finding: found, fieldId, columnName: 'email' }))
    return await finishRun(store, claim, { findings, report, reason: '', alert: true })
  }
  const finishWithAlert = async (
    fieldIds: readonly bigint[] = [2n],
    tableUuid: string = crypto.randomUUID(),
  ) => {
    expect(await finishRunOf(fieldIds, tableUuid)).toEqual({ recorded: true, alertDue: true })
  }
  const pending = async () =>
    (await store.tenantQuery(tenant, 'select 1 from svc.detection_run where alert_due is not null')).length
  const settled = (alerts: AlertSender) =>
    eventually(async () => {
      alerts.wake()
      return (await pending()) === 0
    })
  const count = async (metrics: ReturnType<typeof createMetrics>, outcome: string) =>
    (await metrics.detectionAlerts.get()).values.find(({ labels }) => labels.outcome === outcome)?.value

  test('is tried again after 5xx, 429 and a lost connection, until it is taken', async () => {
    const { alerts, metrics } = sender()
    statuses = [500, 429, 'drop', 200]
    await alertDue()
    await settled(alerts)
    expect([bodies.length, await count(metrics, 'sent'), await count(metrics, 'retried')]).toEqual([4, 1, 3])
    expect(JSON.parse(bodies[3] ?? '')).toEqual({ text: expect.stringContaining('confidence 0.92') })
    expect(lines.join('')).not.toContain('s3cret')
    await alerts.stop()
  })

  test('leads to all findings of its run, and says where it does not name them all', async () => {
    const { alerts } = sender()
    const fields = Array.from({ length: 12 }, (_, index) => BigInt(index))
    await alertDue(undefined, fields)
    await settled(alerts)
    const { text } = JSON.parse(bodies[0] ?? '') as { text: string }
    expect(text.match(/confidence/g)?.length).toBe(10)
    expect(text).toContain('• and more\n')
    const link = new URL(/<(http[^|]+)\|All findings of this run>/.exec(text)?.[1] ?? '')
    expect(link.pathname).toBe('/api/v1/detection/findings')
    const { items } = await listFindings(store, tenant, { runId: link.searchParams.get('run') ?? '' })
    expect(items.length).toBe(12)
    await alerts.stop()
  })

  test('is tried again where the receiver refuses it, and is told only once it was sent', async () => {
    const { alerts, metrics } = sender()
    statuses = [404, 404, 200]
    const table = { namespace: ['sales'], name: 'refused-twice' }
    const tableUuid = crypto.randomUUID()
    await alertDue(table, [2n], tableUuid)
    await settled(alerts)
    expect([bodies.length, await count(metrics, 'retried'), await count(metrics, 'sent')]).toEqual([3, 2, 1])
    await enqueueNext(table)
    expect(await finishRunOf([2n], tableUuid)).toEqual({ recorded: true, alertDue: false })
    await alerts.stop()
  })

  test('that was given up is due again with the next snapshot that has its findings', async () => {
    const { alerts, metrics } = sender()
    statuses = Array.from({ length: limits.detectionAlertTriesMax }, () => 404)
    const table = { namespace: ['sales'], name: 'given-up' }
    const tableUuid = crypto.randomUUID()
    await alertDue(table, [2n], tableUuid)
    await settled(alerts)
    expect([bodies.length, await count(metrics, 'given_up')]).toEqual([limits.detectionAlertTriesMax, 1])
    await enqueueNext(table)
    expect(await finishRunOf([2n], tableUuid)).toEqual({ recorded: true, alertDue: true })
    await settled(alerts)
    expect(await count(metrics, 'sent')).toBe(1)
    await alerts.stop()
  })

  test('says how much of a partial scan was read', async () => {
    const { alerts } = sender()
    await enqueueNext({ namespace: ['sales'], name: 'partial' })
    const report = { filesAdded: 900, filesScanned: 64, filesLeftOut: 834, filesUnsupported: 2 }
    await finishRunOf([2n], crypto.randomUUID(), report)
    await settled(alerts)
    expect(JSON.parse(bodies[0] ?? '').text).toContain(
      'The scan is partial: 64 of 900 files were read (7 %), 834 were left out, 2 cannot be read.',
    )
    const states = await store.tenantQuery<{ state: string }>(
      tenant,
      `select state from svc.detection_run where table_name = 'partial'`,
    )
    expect(states).toEqual([{ state: 'partial' }])
    await alerts.stop()
  })

  test('outlives the process that found it', async () => {
    await alertDue()
    const { alerts } = sender()
    await settled(alerts)
    expect(bodies.length).toBe(1)
    await alerts.stop()
  })

  test("one that falls due while the run's former is being told is told too", async () => {
    const table = { namespace: ['sales'], name: 'scanned-twice' }
    await alertDue(table)
    const [former] = await claimAlerts(store, 1, 60_000)
    if (former === undefined) throw new Error('nothing is due')
    await requestRescan(store, tenant, table, actorOf('sam'))
    await finishWithAlert()
    await finishAlert(store, former, 'sent')
    expect(await pending()).toBe(1)
    const { alerts } = sender()
    await settled(alerts)
    expect(bodies.length).toBe(1)
    await alerts.stop()
  })

  test('follows no redirect', async () => {
    const { alerts, metrics } = sender()
    statuses = [302]
    await alertDue()
    await settled(alerts)
    expect([bodies.length, await count(metrics, 'retried'), await count(metrics, 'sent')]).toEqual([2, 1, 1])
    await alerts.stop()
  })
})
