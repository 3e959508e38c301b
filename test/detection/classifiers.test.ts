/** Custom classifiers over REST and in scans: drafts, trials, activation, findings, alerts; with a foreign tenant. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { listAdministration } from '../../src/store/administration/administration-log.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { type DetectionService, startDetectionService } from '../support/detection.ts'
import { eventually } from '../support/eventually.ts'

setDefaultTimeout(300_000)

/** Dutch citizen service numbers that pass the check: they may appear in no answer, log or alert. */
const numbers = ['111222333', '123456782', '999999990', '300000005', '270590791']
const example = JSON.parse(readFileSync('deploy/classifiers/nl_bsn.json', 'utf8')) as {
  name: string
  definition: Record<string, unknown>
}
// The table has no column of that name, so the column of notes is called so here.
const definition = { ...example.definition, names: ['^note$'] }

let d: DetectionService
let foreignSteward: string
beforeAll(async () => {
  d = await startDetectionService()
  const made = await createServiceSession(d.service.store, d.foreign.tenant, {
    name: 'steward',
    principal: { sub: 'fay', roles: ['steward'] },
    scopes: ['read', 'admin'],
  })
  foreignSteward = made.secret
})
afterAll(() => d[Symbol.asyncDispose]())

type Json = Record<string, unknown>
const call = async (method: string, path: string, body?: unknown, secret = d.stewardSecret) => {
  const response = await d.call(method, `classifiers${path}`, { secret, ...(body !== undefined && { body }) })
  const text = await response.text()
  return { status: response.status, text, json: (text === '' ? {} : JSON.parse(text)) as Json }
}
const rows = () => [{ rows: numbers.map((note, id) => ({ id, email: `${id}`, ssn: null, note })) }]
const findings = async (secret = d.stewardSecret) =>
  (
    (await (await d.call('GET', 'findings?class=nl_bsn', { secret })).json()) as {
      items: Json[]
    }
  ).items

/** The runs that found what the first finding tells. */
const runs = async () => ((await findings())[0]?.runs as readonly unknown[] | undefined)?.length ?? 0

describe('a classifier', () => {
  test('is created as a draft, and a second one of its name is refused', async () => {
    const made = await call('POST', '', { name: 'nl_bsn', definition })
    expect(made.status).toBe(201)
    expect(made.json).toMatchObject({ name: 'nl_bsn', state: 'draft', revision: 1, tried: false, definition })
    expect((await call('POST', '', { name: 'nl_bsn', definition })).status).toBe(409)
    expect((await call('GET', '')).json.items).toMatchObject([{ name: 'nl_bsn' }])
  })

  test.each([
    ['a built-in class', { name: 'email', definition }],
    ['a name that is no plain one', { name: 'NL-BSN', definition }],
    ['a pattern that is no RE2', { name: 'x', definition: { names: ['(a'] } }],
    ['a pattern that is too large', { name: 'x', definition: { names: ['(a{500}){500}'] } }],
    [
      'a check that is not on the list',
      { name: 'x', definition: { values: [{ pattern: 'a', checks: [{ kind: 'eval' }] }] } },
    ],
    ['a member that is not known', { name: 'x', definition: { names: ['a'], confidence: 1 } }],
  ])('is refused with %s', async (_, body) => {
    expect((await call('POST', '', body)).status).toBe(400)
  })

  test('is changed by a steward only', async () => {
    for (const [method, path, body] of [
      ['POST', '', { name: 'other', definition }],
      ['PUT', '/nl_bsn', { definition }],
      ['POST', '/nl_bsn/try', { values: ['1'] }],
      ['POST', '/nl_bsn/activate', undefined],
      ['DELETE', '/nl_bsn', undefined],
    ] as const)
      expect((await call(method, path, body, d.service.owner.secret)).status).toBe(403)
  })

  test('of a foreign tenant is not there', async () => {
    expect((await call('GET', '', undefined, foreignSteward)).json.items).toEqual([])
    for (const [method, path, body] of [
      ['GET', '/nl_bsn', undefined],
      ['PUT', '/nl_bsn', { definition }],
      ['POST', '/nl_bsn/try', { values: ['1'] }],
      ['POST', '/nl_bsn/activate', undefined],
      ['POST', '/nl_bsn/deactivate', undefined],
      ['DELETE', '/nl_bsn', undefined],
    ] as const)
      expect((await call(method, path, body, foreignSteward)).status).toBe(404)
  })

  test('does not count as a draft, and cannot be activated before it was tried', async () => {
    await d.commitPeople(rows(), 'gateway')
    await d.detect()
    expect(await findings()).toEqual([])
    expect((await call('POST', '/nl_bsn/activate')).status).toBe(409)
  })

  test('is tried on posted values, which are neither kept nor told', async () => {
    const values = [...numbers, '111222334', 'hello']
    const tried = await call('POST', '/nl_bsn/try', { column: 'note', values })
    expect(tried).toMatchObject({ status: 200, json: { revision: 1, valid: 5, broken: 1 } })
    expect(tried.json.matches).toEqual([...numbers.map(() => 'valid'), 'broken', 'none'])
    expect(tried.json.findings).toMatchObject([{ shape: 'name_and_value', confidence: 0.92, matched: 5 }])
    expect(await findings()).toEqual([])
    const log = JSON.stringify(await listAdministration(d.service.store, d.service.owner.tenant))
    for (const number of numbers) {
      expect(tried.text).not.toContain(number)
      expect(log).not.toContain(number)
      expect(d.service.log()).not.toContain(number)
    }
  })

  test('is tried on a sample of a table, without a finding', async () => {
    const table = { namespace: ['sales'], name: 'people' }
    const tried = await call('POST', '/nl_bsn/try', { table })
    expect(tried.json).toMatchObject({ matches: [], findings: [{ column: 'note', matched: 5, sampled: 5 }] })
    expect(await findings()).toEqual([])
    const missing = { table: { namespace: ['sales'], name: 'nobody' } }
    expect((await call('POST', '/nl_bsn/try', missing)).status).toBe(404)
    expect((await call('POST', '/nl_bsn/try', {})).status).toBe(400)
  })

  test('whose patterns cost too much for a trial is refused there, at once', async () => {
    const hostile = { values: [{ pattern: '(?:[a-z]?){150}b' }] }
    expect((await call('POST', '', { name: 'hostile', definition: hostile })).status).toBe(201)
    const values = Array.from({ length: 1_000 }, () => 'a'.repeat(500))
    expect((await call('POST', '/hostile/try', { values })).status).toBe(422)
    expect((await call('POST', '/hostile/activate')).status).toBe(409)
    expect((await call('DELETE', '/hostile')).status).toBeLessThan(300)
  })

  test('counts in scans once it is active, alerts under its name, and tags the column', async () => {
    expect((await call('POST', '/nl_bsn/activate')).json).toMatchObject({
      state: 'active',
      active_revision: 1,
    })
    await d.commitPeople(rows(), 'gateway')
    await d.detect()
    expect(await findings()).toMatchObject([
      {
        column: 'note',
        class: 'nl_bsn',
        shape: 'name_and_value',
        confidence: 0.92,
        matched: 5,
        status: 'open',
      },
    ])
    const told = await eventually(() => d.alerts.find((text) => text.includes('nl_bsn')))
    for (const number of numbers) expect(told).not.toContain(number)
    expect(await findings(d.foreign.secret)).toEqual([])
    const metrics = await (await fetch(new URL('/metrics', d.service.app.metricsUrl))).text()
    expect(metrics).toContain('class="custom"')
    expect(metrics).not.toContain('nl_bsn')
  })

  test('stays in force while it is changed, and the new definition counts once it was tried and activated', async () => {
    const allow = [{ table: { namespace: ['sales'], name: 'people' } }]
    const changed = await call('PUT', '/nl_bsn', { definition: { ...definition, allow } })
    expect(changed.json).toMatchObject({ state: 'active', revision: 2, active_revision: 1, tried: false })
    expect((await call('POST', '/nl_bsn/activate')).status).toBe(409)
    const before = await runs()
    await d.commitPeople(rows(), 'gateway')
    await d.detect()
    expect(await runs()).toBe(before + 1)
    await call('POST', '/nl_bsn/try', { values: numbers })
    expect((await call('POST', '/nl_bsn/activate')).json).toMatchObject({ active_revision: 2 })
    await d.commitPeople(rows(), 'gateway')
    await d.detect()
    // The table is on its allow-list now.
    expect(await runs()).toBe(before + 1)
  })

  test('does not count once it is deactivated or deleted; what it found stays', async () => {
    expect((await call('POST', '/nl_bsn/deactivate')).json).toMatchObject({ state: 'draft' })
    const before = (await findings()).length
    expect((await call('DELETE', '/nl_bsn')).status).toBeLessThan(300)
    expect((await call('GET', '/nl_bsn')).status).toBe(404)
    await d.commitPeople(rows(), 'gateway')
    await d.detect()
    const [one, ...others] = await findings()
    expect([one, ...others]).toHaveLength(before)
    const decided = await d.call('POST', `findings/${one?.id}/decisions`, {
      secret: d.stewardSecret,
      body: { decision: 'reject', reason: 'test data' },
    })
    expect(decided.status).toBe(200)
  })
})
