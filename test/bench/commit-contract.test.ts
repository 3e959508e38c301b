import { expect, test } from 'bun:test'
import type { BenchResult } from '../../bench/entry.ts'
import { gatewayCommit } from '../../bench/gateway-commit.ts'

const result = (verdict: string, leastLow?: number): BenchResult => ({
  bench: 'gateway-commit',
  case: {},
  figures: leastLow === undefined ? {} : { p95_least_ratio_low: leastLow },
  verdict,
})
const conclude = (...results: readonly BenchResult[]) => gatewayCommit.conclude?.(results)

test('one broken case breaks the contract', () => {
  expect(conclude(result('proven'), result('broken'))).toEqual({
    line: 'Contract, P95 at most 5% above a direct commit: BROKEN (1 cases proven, 1 broken, 0 inconclusive, by 95% confidence intervals).',
    failed: true,
  })
})

test('a broken case is out of reach where the least gateway breaks the contract by its whole interval', () => {
  const { line, failed } = conclude(result('broken', 1.06), result('broken', 1.04), result('broken')) ?? {}
  expect(line).toEndWith(
    '1 of the broken ones is out of reach of any gateway here: the least of them breaks it, too.',
  )
  expect(failed).toBe(true)
})

test('the contract is proven where every judged case is', () => {
  expect(conclude(result('proven'), result('not judged'))).toMatchObject({ failed: false })
  expect(conclude(result('proven'), result('inconclusive'))?.line).toContain(': INCONCLUSIVE (')
})
