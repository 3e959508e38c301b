/** The sentence at the end of `gateway-commit`, and what is measured where the user names nothing. */

import { describe, expect, test } from 'bun:test'
import { chosenPlan } from '../../bench/commit-legs.ts'
import { concludeContract } from '../../bench/commit-verdict.ts'
import { BenchFlags, type BenchResult, BenchUsageError } from '../../bench/entry.ts'

const usual = { store: 'postgres', upstream_ms: 60, concurrency: 1, policies: 10, columns: 10, snapshots: 5 }
const result = (
  verdict: string,
  of: BenchResult['case'] = {},
  figures: BenchResult['figures'] = { p95_ratio: 1.04 },
): BenchResult => ({ bench: 'gateway-commit', case: { ...usual, ...of }, figures, verdict })

describe('the sentence', () => {
  test('says where the contract is kept, where it is broken, and where it is not decided', () => {
    const { line, failed } = concludeContract([
      result('proven', { upstream_ms: 200 }),
      result('broken', { round_trip_ms: 10, concurrency: 8 }, { p95_ratio: 1.12 }),
      result('inconclusive', { policies: 100, columns: 200 }),
    ])
    expect(line).toBe(
      'The contract, P95 at most 5% above a direct commit, is broken at 60 ms and a round trip of 10 ms by 8 clients on postgres (1.12), kept at 200 ms by one client on postgres (1.04) and not decided at 60 ms by one client, 100 policies, large table on postgres (1.04) (95% confidence intervals).',
    )
    expect(failed).toBe(true)
  })

  test('names the catalog and the storage of a case without a service time of its own', () => {
    const { store, concurrency, policies, columns } = usual
    const own = { store, concurrency, policies, columns }
    const of = (more: BenchResult['case']) =>
      concludeContract([{ ...result('proven'), case: { ...own, ...more } }]).line
    expect(of({ upstream: 'nessie 0.99.0', storage: 's3' })).toContain(
      'kept on nessie 0.99.0 with the times of s3 by one client',
    )
    expect(of({ storage: 's3' })).toContain('kept on the development catalog with the times of s3')
    expect(of({ profile: 'nessie 0.99.0' })).toContain('kept on nessie 0.99.0 by one client')
  })

  test('says where the least gateway breaks the contract by its whole interval', () => {
    const broken = (low: number, concurrency: number) =>
      result('broken', { concurrency }, { p95_ratio: 1.2, p95_least_ratio_low: low })
    const { line } = concludeContract([broken(1.06, 8), broken(1.04, 1)])
    expect(line).toEndWith(
      'The least gateway breaks it too at 60 ms by 8 clients on postgres, so there it is out of reach of any gateway here.',
    )
  })

  test('judges nothing where no case is judged, and fails only where one is broken', () => {
    expect(concludeContract([result('not judged')])).toMatchObject({
      line: expect.stringContaining('is not judged'),
      failed: false,
    })
    expect(concludeContract([result('proven'), result('inconclusive')]).failed).toBe(false)
  })
})

describe('what is measured', () => {
  const planOf = (values: Record<string, string | boolean>, more: { smoke?: boolean; full?: boolean } = {}) =>
    chosenPlan(
      { smoke: false, full: false, seed: 1, flags: new BenchFlags(values), note: () => {}, ...more },
      1,
    )

  test('without options is a catalog near and far, and real catalogs on storage with the times of S3', async () => {
    const { legs, seconds } = await planOf({})
    const shown = legs.map(({ catalog, cases }) => [
      catalog.name,
      catalog.storage,
      cases.map(({ upstreamMs, roundTripMs, arrival }) => [
        upstreamMs,
        roundTripMs,
        arrival.kind === 'closed' ? arrival.concurrency : 0,
      ]),
    ])
    const alone = [[undefined, 0, 1]]
    expect(shown).toEqual([
      [
        'development',
        undefined,
        [
          [60, 0, 1],
          [60, 0, 8],
          [60, 1, 1],
          [60, 5, 1],
          [60, 10, 1],
        ],
      ],
      ['development', 's3', alone],
      ['nessie', 's3', alone],
      ['rest-fixture', 's3', alone],
    ])
    const count = legs.reduce((sum, { cases }) => sum + cases.length, 0)
    expect(seconds * count).toBeLessThan(300)
  })

  test('with options is what they name, on every round trip', async () => {
    const { legs, ways } = await planOf({
      'upstream-ms': '60',
      'round-trip-ms': '0,10',
      ways: 'least,loaded',
    })
    expect(legs.map(({ cases }) => cases.map(({ roundTripMs }) => roundTripMs))).toEqual([[0, 10]])
    expect(ways).toEqual(['least', 'loaded'])
  })

  test.each(['load-ms', 'conditional-load-ms'])(
    'with --%s alone is the development catalog',
    async (name) => {
      const { legs } = await planOf({ [name]: '5' })
      expect(legs.map(({ catalog }) => [catalog.name, catalog.storage])).toEqual([['development', undefined]])
    },
  )

  test.each([
    [{ storage: 's3', 'upstream-ms': '60' }, '--upstream-ms and --storage exclude each other.'],
    [{ storage: 's3', profile: 'nessie' }, '--profile and --storage exclude each other.'],
    [{ storage: 'tape' }, '--storage: `tape` is not one of s3.'],
    [{ ways: 'direct' }, '--ways: `direct` is not one of bare, least, durable, loaded.'],
  ])('%p is answered with what is wrong', async (values, sentence) => {
    const problem = await planOf(values).catch((error: unknown) => error)
    expect(problem).toBeInstanceOf(BenchUsageError)
    expect((problem as Error).message).toBe(sentence)
  })
})
