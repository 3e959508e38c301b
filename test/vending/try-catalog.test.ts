/** What a trial of a catalog finds, on the development catalog, step by step. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { CatalogCredential } from '../../src/core/catalog.ts'
import { trialSteps, tryCatalog } from '../../src/vending/try-catalog.ts'
import { allowing } from '../support/address-rules.ts'
import { startSts, stsKeys } from '../support/sts.ts'

const folder = mkdtempSync(join(tmpdir(), 'covenant-try-'))
const secret = 's3cret-of-the-upstream'
let catalog: DevCatalog
let root: string

beforeAll(async () => {
  catalog = await startDevCatalog({ folder, credential: `gateway:${secret}` })
  root = `file://${folder}/warehouse`
  const token = await fetch(`${catalog.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'gateway',
      client_secret: secret,
    }),
  })
  const { access_token } = (await token.json()) as { access_token: string }
  const post = async (path: string, body: object) => {
    const made = await fetch(`${catalog.url}/v1/dev/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}` },
      body: JSON.stringify(body),
    })
    expect(made.status).toBe(200)
  }
  await post('namespaces', { namespace: ['empty'] })
  await post('namespaces', { namespace: ['sales'] })
  await post('namespaces/sales/tables', {
    name: 'orders',
    schema: { type: 'struct', fields: [{ id: 1, name: 'id', type: 'long', required: true }] },
  })
})
afterEach(() => catalog.faults.reset())
afterAll(async () => {
  await catalog.stop()
  rmSync(folder, { recursive: true, force: true })
})

const credentialOf = (config: object = {}, endpoint = catalog.url): CatalogCredential => ({
  ...{ id: 'c', version: 1, kind: 'alpha', nickname: 'main', endpoint },
  config: { warehouse: 'dev', credential: `gateway:${secret}`, storage_roots: [root], ...config },
})

/** Each step with its outcome, and the text of the one that is not passed or skipped. */
async function tried(credential: CatalogCredential, rules = allowing('127.0.0.0/8')) {
  const steps = await tryCatalog(
    { addressRules: rules, clock: systemClock },
    credential,
    new AbortController().signal,
  )
  expect(steps.map(({ step }) => step)).toEqual([...trialSteps])
  // Administrators of the service may not learn which tables a tenant has.
  expect(JSON.stringify(steps)).not.toMatch(new RegExp(`${secret}|sales|orders`))
  const found = Object.fromEntries(steps.map(({ step, outcome }) => [step, outcome]))
  return { found, failed: steps.filter(({ outcome }) => outcome === 'failed').map(({ text }) => text), steps }
}

test('a catalog that works passes every step', async () => {
  const { found, steps } = await tried(credentialOf({ 'vending.mode': 'none' }))
  expect(found).toEqual({
    settings: 'passed',
    address: 'passed',
    'log-in': 'passed',
    list: 'passed',
    roots: 'passed',
    vend: 'skipped',
  })
  expect(steps.find(({ step }) => step === 'list')?.text).toContain('lists namespaces and tables')
})

describe('the step that fails is named, and those after it are skipped', () => {
  test.each<
    [
      step: (typeof trialSteps)[number],
      text: string,
      credential: () => CatalogCredential,
      prepare?: () => void,
    ]
  >([
    ['settings', 'credential', () => credentialOf({ credential: 'no-colon' })],
    ['settings', 'vending.role-arn is missing', () => credentialOf({ 'vending.mode': 'vend' })],
    ['address', 'cannot be reached (', () => credentialOf({}, 'http://127.0.0.1:1')],
    ['log-in', 'refused the client credentials', () => credentialOf({ credential: 'gateway:wrong' })],
    ['log-in', 'no configuration for the warehouse', () => credentialOf({ warehouse: 'other' })],
    [
      'list',
      '403',
      () => credentialOf(),
      () => catalog.faults.add({ operation: 'read', effect: 'fail', status: 403, times: 10 }),
    ],
    ['roots', 'The root ', () => credentialOf({ storage_roots: ['s3://bucket/../other'] })],
  ])('%s: %s', async (step, text, credential, prepare) => {
    prepare?.()
    const { found, failed } = await tried(credential())
    expect(failed).toHaveLength(1)
    expect(failed[0]).toContain(text)
    const at = trialSteps.indexOf(step)
    expect(trialSteps.map((one) => found[one])).toEqual(
      trialSteps.map((_, index) => (index < at ? 'passed' : index === at ? 'failed' : 'skipped')),
    )
  })

  test('a private address says which setting allows it', async () => {
    const { failed } = await tried(credentialOf(), allowing())
    expect(failed[0]).toContain('127.0.0.1')
    expect(failed[0]).toContain('SVC_UPSTREAM_ALLOW')
  })
})

describe('what somebody should look at is noted, and does not fail', () => {
  test.each<[step: string, text: string, config: object]>([
    ['roots', 'No storage_roots', { storage_roots: [] }],
    ['roots', 'below none of the storage_roots', { storage_roots: ['s3://elsewhere'] }],
    ['vend', 'gives no credentials', { storage_roots: ['s3://elsewhere'] }],
  ])('%s: %s', async (step, text, config) => {
    const { found, failed, steps } = await tried(credentialOf(config))
    expect(failed).toEqual([])
    expect(found[step]).toBe('noted')
    expect(steps.find((one) => one.step === step)?.text).toContain(text)
  })
})

describe('credentials that the service issues are asked of the cloud, and dropped', () => {
  const vends = (sts: string) => ({
    storage_roots: ['s3://lake/warehouse'],
    'vending.mode': 'vend',
    'vending.role-arn': 'arn:aws:iam::123456789012:role/reader',
    'vending.access-key-id': stsKeys.accessKeyId,
    'vending.secret-access-key': stsKeys.secretAccessKey,
    'vending.sts-endpoint': sts,
  })

  test('for a root, for reading', async () => {
    await using sts = startSts()
    const { found, steps } = await tried(credentialOf(vends(sts.url)))
    expect(found.vend).toBe('passed')
    expect(sts.asked.map(({ roleArn }) => roleArn)).toEqual(['arn:aws:iam::123456789012:role/reader'])
    expect(JSON.stringify(steps)).not.toContain(stsKeys.secretAccessKey)
  })

  test('and a cloud that refuses fails the step, without a secret', async () => {
    await using sts = startSts()
    sts.refuses = 'AccessDenied'
    const { found, failed } = await tried(credentialOf(vends(sts.url)))
    expect(found.vend).toBe('failed')
    expect(failed[0]).toContain('AccessDenied')
    expect(failed[0]).not.toContain(stsKeys.secretAccessKey)
  })
})

test('a table that the catalog does not load is noted', async () => {
  catalog.faults.add({ operation: 'load', effect: 'fail', status: 403, times: 1 })
  const { found, failed, steps } = await tried(credentialOf({ 'vending.mode': 'none' }))
  expect({ failed, roots: found.roots }).toEqual({ failed: [], roots: 'noted' })
  expect(steps.find(({ step }) => step === 'roots')?.text).toContain('It answered 403.')
})

test('a trial that its caller leaves skips what is left', async () => {
  const steps = await tryCatalog(
    { addressRules: allowing('127.0.0.0/8'), clock: systemClock },
    credentialOf(),
    AbortSignal.abort(),
  )
  expect(new Set(steps.map(({ outcome }) => outcome))).toEqual(new Set(['skipped']))
})
