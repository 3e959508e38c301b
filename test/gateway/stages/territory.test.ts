/** The judgement of a change's territory, where it needs no store. Others are in test/gateway/territory. */

import { describe, expect, test } from 'bun:test'
import { catalogOf } from '../../../src/core/catalog.ts'
import type { Verdict } from '../../../src/core/decision.ts'
import type { TerritoryFound } from '../../../src/core/territory-owner.ts'
import type { GatewayParts } from '../../../src/gateway/base/parts.ts'
import type { Upstream } from '../../../src/gateway/base/upstream.ts'
import {
  askedPrefixes,
  judgeTerritory,
  type TerritoryChange,
  taking,
  territoryDenial,
} from '../../../src/gateway/stages/territory.ts'
import type { NamedLocation } from '../../../src/wire/iceberg/named-locations.ts'

test('only a change that its policies allow takes its territory, and a territory that is taken refuses it', async () => {
  let taken = 0
  const refusal = { kind: 'deny', reason: 'taken', policyId: 'territory', outcomes: [] } as unknown as Verdict
  const allow = { kind: 'allow', outcomes: [] } as unknown as Verdict
  const deny = { ...refusal, reason: 'policy' } as Verdict
  const take = (verdict: Verdict | undefined) => async () => {
    taken++
    return verdict
  }
  expect(await taking(deny, { take: take(refusal) })).toBe(deny)
  expect(taken).toBe(0)
  expect(await taking(allow, { take: take(undefined) })).toBe(allow)
  expect(await taking(allow, { take: take(refusal) })).toBe(refusal)
  expect(await taking(allow, {})).toBe(allow)
  expect(taken).toBe(2)
})

test('the index is asked for the folders of what is named and all above them, of at most 64', () => {
  const file = (text: string) => ({ use: 'file', text }) as const
  const asked = askedPrefixes([
    file('s3://lake/sales/orders/a.parquet'),
    file('s3://lake/sales/orders/b.parquet'),
  ])
  expect(asked).toContain('s3://lake/sales/orders/')
  expect(asked).toContain('s3://lake/sales/')
  expect(new Set(asked).size).toBe(asked.length)
  const many = Array.from({ length: 100 }, (_, index) => file(`s3://lake/t${index}/a.parquet`))
  expect(askedPrefixes(many).filter((prefix) => /\/t\d+\/$/.test(prefix))).toHaveLength(64)
})

test('a denial says to the writer what failed, and to stewards why, as an outcome that is enforced', () => {
  expect(territoryDenial('outside', 'it is people’s')).toEqual({
    ...{ kind: 'deny', reason: 'territory: outside', policyId: 'territory' },
    outcomes: [
      {
        ...{ policyId: 'territory', name: 'territory', mode: 'enforce', value: false },
        explanation: 'it is people’s',
      },
    ],
  })
})

describe('a table that is created', () => {
  const table = { namespace: ['sales'], name: 'orders' }
  const people = { catalog: 'main', table: { namespace: ['sales'], name: 'people' }, tableUuid: 'u' }
  /** Of the table of which this one is a clone. */
  const source = 's3://lake/source/'
  /** Parts and an upstream that would fail where they are asked for more than they are here. */
  const judged = async (
    named: readonly NamedLocation[],
    given: {
      mode?: 'observe' | 'enforce'
      roots?: readonly string[]
      roles?: readonly string[]
      own?: readonly string[]
    } = {},
  ) => {
    const credential = {
      ...{ id: 'c', nickname: 'main', kind: 'alpha', endpoint: 'https://catalog.example' },
      config: given.roots === undefined ? {} : { storage_roots: given.roots },
    }
    const own = (given.own ?? []).map((prefix) => ({
      ...{ catalog: catalogOf(credential as Upstream['credential']), table, tableUuid: undefined },
      ...{ prefix, kind: prefix === source ? 'derived' : 'location' },
    }))
    const found = {
      ...{ mode: given.mode ?? 'enforce', version: '1', manifests: 'off', quarantined: [] },
      rows: [{ ...people, prefix: 's3://lake/people/', kind: 'location' }, ...own],
    } as TerritoryFound
    const identified = { principal: { sub: 'ann', roles: given.roles ?? [] }, verified: true }
    const change = { table, named, identified, commitId: 'k' } as unknown as TerritoryChange
    const { verdict, prefixes, take } = await judgeTerritory(
      {} as GatewayParts,
      { credential } as unknown as Upstream,
      change,
      undefined,
      found,
    )
    const [outcome] = verdict?.kind === 'deny' ? verdict.outcomes : []
    return {
      ...{ reason: verdict?.kind === 'deny' ? verdict.reason : undefined, told: outcome?.explanation },
      ...{ prefixes, takes: take !== undefined },
    }
  }
  const folder = (text: string): NamedLocation => ({ use: 'location', text })
  const file = (text: string): NamedLocation => ({ use: 'file', text })

  test('that names no location takes nothing', async () => {
    expect(await judged([])).toEqual({ reason: undefined, told: undefined, prefixes: [], takes: false })
  })

  test('takes a folder that nobody has, and its files may lie there', async () => {
    const orders = folder('s3://lake/orders/')
    for (const named of [
      [orders, file('s3://lake/orders/a.avro')],
      [file('s3://lake/orders/a.avro'), orders],
    ])
      expect(await judged(named)).toMatchObject({
        ...{ reason: undefined, prefixes: ['s3://lake/orders/'], takes: true },
      })
  })

  test('may name no file outside of its folders: the writer learns where, stewards whose it is', async () => {
    const refused = await judged([folder('s3://lake/orders/'), file('s3://lake/people/a.avro')])
    expect(refused).toMatchObject({ takes: false, prefixes: [] })
    expect(refused.reason).toContain('s3://lake/people/a.avro is outside the territory of sales.orders')
    expect(refused.reason).not.toContain('sales.people')
    expect(refused.told).toContain('which belongs to sales.people')
    const nobodys = await judged([file('s3://lake/none/a.avro')])
    expect(nobodys.told).toContain('is in the territory of no table')
  })

  test('may name such a file where the territory is observed, which lists it', async () => {
    expect(await judged([file('s3://lake/people/a.avro')], { mode: 'observe' })).toEqual({
      ...{ reason: undefined, told: undefined, prefixes: [], takes: true },
    })
  })

  test('has no folder outside of the storage roots in either mode, and only administrators learn these', async () => {
    const roots = ['s3://lake/']
    for (const mode of ['observe', 'enforce'] as const) {
      const refused = await judged([folder('s3://else/orders/')], { mode, roots })
      expect(refused.reason).toContain(
        'lies outside of the storage roots of the catalog; an administrator can',
      )
      expect(refused.reason).not.toContain('s3://lake/')
      for (const role of ['administrator', 'owner'])
        expect(
          (await judged([folder('s3://else/orders/')], { mode, roots, roles: [role] })).reason,
        ).toContain('storage roots of the catalog, which are s3://lake')
    }
    expect(await judged([folder('s3://lake/orders/')], { roots })).toMatchObject({
      reason: undefined,
      takes: true,
    })
  })

  test('has no folder outside of them that it had before they were registered, either', async () => {
    const given = { roots: ['s3://lake/'], own: ['s3://else/orders/', 's3://lake/orders/'] }
    expect(await judged([folder('s3://lake/orders/')], given)).toMatchObject({
      reason: undefined,
      takes: false,
    })
    for (const mode of ['observe', 'enforce'] as const)
      expect((await judged([folder('s3://else/orders/')], { ...given, mode })).reason).toContain(
        'lies outside of the storage roots',
      )
    expect(await judged([file('s3://else/orders/a.avro')], given)).toMatchObject({ reason: undefined })
  })

  test('may name files of the table of which it is a clone, and have no folder there', async () => {
    const given = { own: [source] }
    expect(await judged([file(`${source}a.avro`)], given)).toMatchObject({ reason: undefined, takes: false })
    expect((await judged([folder(`${source}mine/`)], given)).takes).toBe(true)
  })

  test('is refused a location that cannot be placed', async () => {
    expect((await judged([file('s3://lake/orders/../people/a.avro')])).reason).toStartWith(
      'territory: the location',
    )
    expect((await judged([folder('s3://lake/../x/')], { roots: ['s3://lake/'] })).takes).toBe(false)
  })
})
