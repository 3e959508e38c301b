/** Changes that the upstream accepted while the store took no audit: answered as accepted, and audited by retry. */

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTable, orderFields, setProperties } from '../../demo/commits.ts'
import { Fault } from '../../src/base/fault.ts'
import type { CommitIntent } from '../../src/core/commit.ts'
import { closeIntent, countIntents, openIntent } from '../../src/store/commit/commit-intents.ts'
import { findIntent, settleIntent } from '../../src/store/commit/intent-settlements.ts'
import { actorOf } from '../support/actor.ts'
import { eventually } from '../support/eventually.ts'
import { failingStore } from '../support/failing-store.ts'
import {
  audit,
  commit,
  metric,
  startTestService,
  type TestService,
  upstreamHeaders,
} from '../support/service.ts'
import { send } from '../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(60_000)

/** Set by the tests that let the store fail. */
let failOn = /^never$/
/** Whether verdicts are written and the store's answer is lost. */
let loseAnswers = false
let service: TestService
const folder = mkdtempSync(join(tmpdir(), 'covenant-journal-'))
const journalDirectory = join(folder, 'journal')

beforeAll(async () => {
  service = await startTestService({
    journalDirectory,
    wrapStore: (store) => ({
      ...store,
      tenantQuery: (tenant, text, params, options) =>
        failingStore(store, failOn).tenantQuery(tenant, text, params, options),
      async tenantCall(tenant, name, params) {
        const rows = await failingStore(store, failOn).tenantCall(tenant, name, params)
        if (loseAnswers && name === 'record_verdict')
          throw new Fault('unavailable', 'The connection was lost.')
        return rows as never
      },
      sessionCall: (tenant, name, params) => failingStore(store, failOn).sessionCall(tenant, name, params),
    }),
  })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})
afterEach(() => {
  failOn = /^never$/
  service.catalog.faults.reset()
})

let tables = 0
/** A table of its own, whose metadata log holds one earlier file. */
async function newTable(): Promise<string> {
  const name = `t${++tables}`
  const body = createTable(name, orderFields, { 'write.metadata.previous-versions-max': '1' })
  expect((await send(service, 'POST', '/namespaces/sales/tables', body)).status).toBe(200)
  return name
}

const commitTo = (name: string, body = setProperties({ at: String(performance.now()) })) =>
  commit(service, body, { path: `/v1/iceberg/main/namespaces/sales/tables/${name}` })

/** Other writers' commits past the gateway, until the metadata log no longer reaches back. */
async function moveOn(name: string): Promise<void> {
  const headers = await upstreamHeaders(service.catalog)
  const url = `${service.catalog.url}/v1/dev/namespaces/sales/tables/${name}`
  for (const at of ['1', '2', '3'])
    expect((await fetch(url, { method: 'POST', headers, body: setProperties({ moved: at }) })).status).toBe(
      200,
    )
}

const decisionsOn = async (name: string) =>
  (await audit(service)).filter(({ table, action }) => table.name === name && action === 'update-table')
const audited = (name: string) =>
  eventually(async () => {
    const rows = await decisionsOn(name)
    return rows.length > 0 && rows
  })
const ready = async () =>
  (await fetch(new URL('/readyz', service.app.url))).json() as Promise<{ journal: boolean }>

test('a commit accepted while the store takes no audit is 200, and audited with its own file once the store does', async () => {
  const name = await newTable()
  const failures = await metric(service, 'svc_audit_failures_total')
  failOn = /record_verdict/
  const response = await commitTo(name)
  expect(response.status).toBe(200)
  const { 'metadata-location': written } = (await response.json()) as { 'metadata-location': string }
  expect(await metric(service, 'svc_audit_failures_total')).toBe(failures + 1)
  expect(await metric(service, 'svc_unaudited_changes')).toBe(1)
  expect(await readdir(journalDirectory)).toHaveLength(1)
  await moveOn(name)
  failOn = /^never$/
  expect(await audited(name)).toMatchObject([
    {
      commitId: response.headers.get('x-svc-decision-id'),
      decision: 'APPROVED',
      metadataLocation: written,
      committer: 'spark',
    },
  ])
  await eventually(async () => (await metric(service, 'svc_unaudited_changes')) === 0)
  await eventually(async () => (await readdir(journalDirectory)).length === 0)
  expect((await countIntents(service.store)).open).toBe(0)
})

/** Accepts a commit that the store does not audit. @returns its intent, which is closed */
async function acceptUnaudited(name: string): Promise<CommitIntent> {
  failOn = /record_verdict/
  const response = await commitTo(name)
  expect(response.status).toBe(200)
  const { tenant } = service.owner
  const found = await findIntent(service.store, tenant, response.headers.get('x-svc-decision-id') ?? '')
  if (found === undefined) throw new Error('an accepted commit without an intent')
  await closeIntent(service.store, tenant, found.intent.commitId)
  return { ...found.intent, body: found.body }
}

test('a person’s settlement as not made takes no accepted commit from the audit: the settlement holds its request', async () => {
  const name = await newTable()
  const intent = await acceptUnaudited(name)
  const { commitId } = intent
  const { tenant } = service.owner
  await openIntent(service.store, tenant, intent, { leaseMs: 0, upstreamMs: 0 })
  const settlement = { outcome: 'not-made', metadataLocation: undefined, reason: 'it is not there' } as const
  await settleIntent(service.store, tenant, commitId, settlement, actorOf('stella'))
  failOn = /^never$/
  expect(await audited(name)).toMatchObject([{ commitId, decision: 'APPROVED' }])
  await eventually(async () => (await readdir(journalDirectory)).length === 0)
})

test('an accepted commit whose intent is gone stays in the journal, and is logged once', async () => {
  const name = await newTable()
  const intent = await acceptUnaudited(name)
  const { commitId } = intent
  const lines = () =>
    service
      .log()
      .split('\n')
      .filter((line) => line.includes(commitId) && line.includes('an accepted change could not be audited'))
  failOn = /^never$/
  await eventually(() => lines().filter((line) => line.includes('closed without an audit')).length > 1)
  expect(lines().filter((line) => line.includes('"level":"error"'))).toHaveLength(1)
  expect(await metric(service, 'svc_unaudited_changes')).toBe(1)
  expect(await readdir(journalDirectory)).toHaveLength(1)
  // Its intent comes back from a backup.
  await openIntent(service.store, service.owner.tenant, intent)
  expect(await audited(name)).toMatchObject([{ commitId }])
})

test('an audit that was written although its answer was lost is not written twice', async () => {
  const name = await newTable()
  loseAnswers = true
  expect((await commitTo(name)).status).toBe(200)
  loseAnswers = false
  await eventually(async () => (await metric(service, 'svc_unaudited_changes')) === 0)
  expect(await decisionsOn(name)).toHaveLength(1)
  await eventually(async () => (await readdir(journalDirectory)).length === 0)
})

test('a transaction whose first audit fails and whose second intent cannot be written is 502 and names the table', async () => {
  const [first, second] = [await newTable(), await newTable()]
  const changes = [first, second].map((name) => ({
    identifier: { namespace: ['sales'], name },
    ...JSON.parse(setProperties({ at: name })),
  }))
  const forwarded = service.catalog.faults.counts.commit
  let intents = 0
  failOn = {
    test: (text: string) => /record_verdict/.test(text) || (/open_intent/.test(text) && ++intents > 1),
  } as RegExp
  const response = await send(service, 'POST', '/transactions/commit', { 'table-changes': changes })
  expect(response.status).toBe(502)
  const { error } = (await response.json()) as { error: { type: string; message: string } }
  expect(error.type).toBe('CommitStateUnknownException')
  expect(error.message).toContain(`sales.${second}`)
  expect(service.catalog.faults.counts.commit).toBe(forwarded + 1)
  failOn = /^never$/
  expect(await audited(first)).toHaveLength(1)
  expect(await decisionsOn(second)).toEqual([])
  expect((await countIntents(service.store)).open).toBe(0)
})

test.each([
  ['a creation', 'create-table', 'POST', '/namespaces/sales/tables', createTable('made')],
  ['a drop', 'drop-table', 'DELETE', '/namespaces/sales/tables/made', undefined],
])(
  '%s accepted while the store takes no audit is audited by retry',
  async (_what, action, method, path, body) => {
    failOn = /record_verdict/
    expect((await send(service, method, path, body)).ok).toBe(true)
    failOn = /^never$/
    await eventually(async () =>
      (await audit(service)).some((row) => row.action === action && row.table.name === 'made'),
    )
    expect((await countIntents(service.store)).open).toBe(0)
  },
)

test('a commit is not forwarded where its intent cannot be written: 503', async () => {
  const name = await newTable()
  const forwarded = service.catalog.faults.counts.commit
  failOn = /open_intent/
  const response = await commitTo(name)
  expect([response.status, response.headers.has('retry-after')]).toEqual([503, true])
  expect(service.catalog.faults.counts.commit).toBe(forwarded)
})

test('a journal that refuses writes shows in readiness and turns no accepted commit into an error', async () => {
  const name = await newTable()
  await eventually(async () => (await ready()).journal)
  const aside = `${journalDirectory}.aside`
  renameSync(journalDirectory, aside)
  writeFileSync(journalDirectory, '')
  try {
    await eventually(async () => !(await ready()).journal)
    expect((await fetch(new URL('/readyz', service.app.url))).status).toBe(503)
    expect((await commitTo(name)).status).toBe(200)
    expect(await decisionsOn(name)).toHaveLength(1)
    failOn = /record_verdict/
    expect((await commitTo(name)).status).toBe(200)
    failOn = /^never$/
    await eventually(async () => (await decisionsOn(name)).length === 2)
  } finally {
    await rm(journalDirectory)
    renameSync(aside, journalDirectory)
  }
  await eventually(async () => (await ready()).journal)
  expect(service.log()).toContain('the journal refuses writes')
})
