/** The playground: one commit judged by a text, with every part explained; with a foreign tenant beside. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { setProperties } from '../../../demo/commits.ts'
import { putContract } from '../../../src/contract/put-contract.ts'
import { putMask } from '../../../src/contract/put-mask.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { ask, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { addTenant, audit, commit, orders, prefix } from '../../support/service.ts'

setDefaultTimeout(120_000)

interface Part {
  readonly text: string
  readonly value?: string
  readonly error?: string
  readonly where?: string
  readonly depth: number
}

let service: IdentityService
let steward: string
let outsider: string
let decision: string

beforeAll(async () => {
  service = await startIdentityService()
  const { tenant } = service.owner
  const endpoint = service.catalog.url
  const config = { endpoint, warehouse: 'dev', credential: 'gateway:s3cret' }
  await putCatalogCredential(service.store, tenant, {
    ...{ nickname: prefix, kind: 'alpha', endpoint },
    config: { ...config, storage_roots: [pathToFileURL(tmpdir()).href] },
  })
  const foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  steward = await session(service, tenant, ['read'], ['steward'], 'stella')
  outsider = await session(service, foreign.tenant, ['read'], ['steward'], 'mallory')
  await commit(service, setProperties({ tier: 'CANARY-91' }), { sub: 'spark', roles: ['writer'] })
  decision = (await audit(service))[0]?.commitId ?? ''
})
afterAll(() => service[Symbol.asyncDispose]())

const table = { namespace: ['sales'], name: 'orders' }
const byHand = {
  table,
  columns: { id: 'long', email: 'string' },
  commit: { updates: [{ action: 'set-properties', updates: { tier: 'gold' } }] },
  principal: { sub: 'spark', roles: ['writer'] },
}
async function tried(definition_cel: string, given: object = byHand, by = steward) {
  const { status, body } = await ask(service, 'POST', '/api/v1/policies/try', by, {
    definition_cel,
    ...given,
  })
  return { status, ...body } as unknown as {
    readonly status: number
    readonly outcome: string
    readonly error?: string
    readonly truncated: boolean
    readonly parts: readonly Part[]
  }
}
const said = (parts: readonly Part[]) =>
  parts.map(({ text, value, error, where }) => [text, value ?? `fails: ${error}`, ...(where ? [where] : [])])

describe('a commit given by hand', () => {
  test('is judged, and every part of the policy has its value', async () => {
    const { status, outcome, parts, truncated } = await tried(
      'principal.role(principal, "writer") && (manifest.has_column(commit.result, "id") || principal.sub == "x")',
    )
    expect([status, outcome, truncated]).toEqual([200, 'allow', false])
    expect(parts[0]?.value).toBe('true')
    const shown = Object.fromEntries(said(parts).slice(1))
    expect(shown['principal.role(principal, "writer")']).toBe('true')
    expect(shown['principal.sub == "x"']).toBe('false')
    expect(shown['principal.sub']).toBe('"spark"')
    expect(parts.map(({ depth }) => depth)).toEqual(expect.arrayContaining([0, 1, 2, 3]))
  })

  test('shows of a loop the element that decided it', async () => {
    const { outcome, parts } = await tried('commit.updates.all(u, u.action != "set-properties")')
    expect(outcome).toBe('deny')
    const body = parts.find(({ where }) => where !== undefined)
    expect(body?.value).toBe('false')
    expect(body?.where).toStartWith('u = {')
    expect(said(parts)).toContainEqual(['u.action', '"set-properties"'])
  })

  test.each([
    ['exists', 'commit.updates.exists(u, u.action == "set-properties")', 'allow'],
    ['filter', 'commit.updates.filter(u, u.action == "set-properties").size() == 1', 'allow'],
    ['map', 'commit.updates.map(u, u.action + "!") == ["set-properties!"]', 'allow'],
    ['has', 'has(table.properties.none)', 'deny'],
    ['a condition', 'principal.sub == "spark" ? true : false', 'allow'],
  ])('%s is explained', async (_, text, outcome) => {
    const answer = await tried(text)
    expect([answer.outcome, answer.truncated]).toEqual([outcome, false])
    expect(answer.parts.length).toBeGreaterThan(0)
    expect(answer.parts.every(({ value, error }) => (value === undefined) !== (error === undefined))).toBe(
      true,
    )
  })

  test('that a policy fails on says where', async () => {
    const { outcome, error, parts } = await tried('table.properties["none"] == "x" || principal.sub == "y"')
    expect([outcome, error]).toEqual(['no_verdict', 'ErrPolicyEval'])
    expect(said(parts).some(([text, value]) => text === 'principal.sub == "y"' && value === 'false')).toBe(
      true,
    )
    expect(parts.some((part) => part.error !== undefined)).toBe(true)
  })

  test('has the facts of manifests that are given, and none otherwise', async () => {
    const text = 'manifest.added_files(commit) == 2 && manifest.is_rollback(commit)'
    expect((await tried(text)).outcome).toBe('deny')
    expect((await tried(text, { ...byHand, manifest: { added_files: 2, is_rollback: true } })).outcome).toBe(
      'allow',
    )
  })

  test('keeps integers above 2^53 exact', async () => {
    const commitOf = (id: string) =>
      `{"definition_cel":"commit.updates[0][\\"snapshot-ids\\"][0] == 9007199254740993","table":${JSON.stringify(table)},"columns":{"id":"long"},"principal":{"sub":"x"},"commit":{"updates":[{"action":"remove-snapshots","snapshot-ids":[${id}]}]}}`
    const answers: string[] = []
    for (const id of ['9007199254740993', '9007199254740992']) {
      const response = await fetch(new URL('/api/v1/policies/try', service.app.url), {
        method: 'POST',
        headers: { 'x-svc-session': steward, 'content-type': 'application/json' },
        body: commitOf(id),
      })
      answers.push(((await response.json()) as { outcome: string }).outcome)
    }
    expect(answers).toEqual(['allow', 'deny'])
  })

  test('is bounded: many parts, long values and long loops', async () => {
    const many = Array.from({ length: 200 }, () => 'principal.sub == "x"').join(' || ')
    const wide = await tried(many)
    expect([wide.truncated, wide.parts.length <= 200]).toEqual([true, true])
    const long = { ...byHand, principal: { sub: 'x'.repeat(100_000) } }
    const clipped = await tried('principal.sub == "y"', long)
    expect(Math.max(...clipped.parts.map(({ value = '' }) => value.length))).toBeLessThanOrEqual(200)
    const looped = '[1,2,3,4,5,6,7,8,9,10]'
    const nested = `${looped}.all(a, ${looped}.all(b, ${looped}.all(c, ${looped}.all(d, ${looped}.all(e, a + b + c + d + e > 0)))))`
    const spent = await tried(nested)
    expect([spent.status, spent.outcome === 'no_verdict' || spent.truncated]).toEqual([200, true])
  })

  const bad: readonly (readonly [string, string, object])[] = [
    ['a text that does not compile', 'principal.', byHand],
    ['no principal', 'true', { ...byHand, principal: undefined }],
    [
      'an update that cannot be applied',
      'true',
      { ...byHand, commit: { updates: [{ action: 'set-current-schema', 'schema-id': 9 }] } },
    ],
    ['metadata that is none', 'true', { ...byHand, columns: undefined, metadata: { a: 1 } }],
    ['metadata and columns', 'true', { ...byHand, metadata: {} }],
    ['a stored one as well', 'true', { ...byHand, commit_id: crypto.randomUUID() }],
  ]
  test.each(bad)('with %s is refused', async (_, text, given) => {
    expect((await tried(text, given)).status).toBe(400)
  })
})

describe('a stored commit', () => {
  test('is judged again with the table, the principal and the time of then', async () => {
    const { outcome, parts } = await tried(
      'commit.result.properties.tier == "CANARY-91" && principal.sub == "spark"',
      {
        commit_id: decision,
      },
    )
    expect(outcome).toBe('allow')
    expect(said(parts)).toContainEqual(['commit.result.properties.tier', '"CANARY-91"'])
  })

  test('of another tenant is not there', async () => {
    const answer = await tried('true', { commit_id: decision }, outsider)
    expect([answer.status, answer.parts]).toEqual([404, undefined as never])
  })

  test('is not shown to a steward whom a mask of its table restricts, in no answer', async () => {
    const { store, owner } = service
    const on = { store, tenant: owner.tenant, actor: actorOf('ada'), checkPolicies }
    await commitColumns(store, owner.tenant, orders, { id: 'long', customer: 'string' })
    await putContract(on, orders, { id: 'orders', version: 1 })
    await putMask(
      on,
      { table: orders, column: 'customer' },
      { id: 'm', action: 'replace-with-null', exemptRoles: ['administrator'] },
    )
    const texts = [
      'commit.result.properties.tier == "x"',
      'commit.result.properties[commit.result.properties.tier] == "x"',
      'int(commit.result.properties.tier) == 1',
    ]
    for (const text of texts) {
      const { status, body } = await ask(service, 'POST', '/api/v1/policies/try', steward, {
        ...{ definition_cel: text, commit_id: decision },
      })
      expect([status, JSON.stringify(body).includes('CANARY')]).toEqual([403, false])
    }
    const exempt = await session(service, owner.tenant, ['read'], ['administrator'], 'ada')
    expect((await tried('true', { commit_id: decision }, exempt)).status).toBe(200)
  })

  test('is for those who oversee policies', async () => {
    const reader = await session(service, service.owner.tenant, ['read'], [], 'rita')
    expect((await tried('true', byHand, reader)).status).toBe(403)
  })
})
