/** Every benchmark once, tiny: that it runs and says what it measured; nothing about how fast. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { bench } from './bench-process.ts'

// All benchmarks in turn, on a machine that may be many times slower than one of ours.
setDefaultTimeout(1_200_000)

const figures: Readonly<Record<string, readonly string[]>> = {
  'gateway-commit': [
    ...['p50_direct_ms', 'p95_direct_ms', 'p99_direct_ms', 'p50_ms', 'p95_ms', 'p99_ms', 'added_p50_ms'],
    ...['p95_ratio', 'p95_ratio_low', 'p95_ratio_high', 'p50_bare_ms', 'p95_bare_ms'],
  ],
  'gateway-throughput': ['commits_per_s', 'direct_commits_per_s', 'ratio_vs_direct', 'gateway_cpu_ms'],
  'gateway-memory': ['commits', 'live_settled_mib', 'live_growth_ratio', 'rss_growth_ratio'],
  tracing: ['on_p50_ratio', 'on_p50_low', 'on_p50_high', 'off_again_p50_ratio', 'on_cpu_ratio', 'p50_ms'],
  'catalog-times': ['p50_load_ms', 'p50_conditional_load_ms', 'p50_commit_ms', 'p95_commit_ms'],
  'store-transactions': ['p50_ms', 'p95_ms'],
  'policy-eval': ['us', 'baseline_us'],
  'policy-replay': ['seconds', 'commits_per_s'],
  'graph-traverse': ['p50_ms'],
  'lineage-ingest': ['events_per_s', 'p95_ms'],
  'lineage-batch': ['batch_events_per_s', 'single_events_per_s', 'p50_batch_ms', 'p95_batch_ms'],
  'query-compile': ['p50_ms', 'p95_ms'],
  'in-lists': ['p50_ms', 'postgres_ms', 'ratio_vs_postgres'],
  'quality-scan': ['p50_ms', 'p50_duckdb_ms', 'ratio_vs_duckdb'],
  reconciliation: ['duckdb_totals_s', 'duckdb_content_s', 'postgres_totals_s', 'postgres_content_s'],
  'query-scan': ['ratio_vs_duckdb'],
  'metric-query': ['p95_ms'],
  'xmla-pivot': ['p95_ms', 'ratio_vs_duckdb'],
  'dax-visual': ['p95_ms', 'ratio_vs_duckdb'],
  'pgwire-latency': [
    ...['added_p50_us', 'p50_us', 'p95_us', 'p50_usage_write_us', 'p50_engine_alone_us'],
    ...['added_least_p50_us', 'p50_least_us', 'p95_least_us', 'p50_least_without_store_us'],
  ],
  'pgwire-stream': ['rows_per_s'],
  'pgwire-idle': ['kb_per_connection'],
  'detection-scan': ['mb_per_s_per_worker', 'http_p99_ratio'],
  'detection-sampling': ['p50_ms', 'rss_mib'],
  'detection-quality': ['precision', 'recall', 'f1', 'false_alerts'],
  'detection-classify': ['cells_per_s'],
  'territory-check': ['paths_per_s'],
  transform: ['values_per_s'],
  'territory-read': ['first_ratio', 'base_ms'],
  vending: [],
  mcp: ['p50_ms', 'p95_ms', 'p50_round_trip_ms', 'added_p50_ms'],
  graphql: ['p50_ms', 'p95_ms', 'p50_round_trip_ms', 'added_p50_ms'],
  growth: ['cost', 'exponent'],
  'transactions-in-step': ['one_p50_ms', 'two_p50_ms', 'ratio'],
  'admin-command': ['p50_ms', 'slowest_ms'],
  flood: ['flooded_p95_ms', 'alone_p95_ms', 'ratio', 'refused'],
}

/** Of a benchmark whose cases have figures of their own. */
const figuresOfCase: Readonly<Record<string, readonly string[]>> = {
  'vending look-up': ['us', 'mib'],
  'vending signing': ['signed_per_s'],
  'vending load': ['p50_load_ms', 'p50_issued_ms', 'p50_sts_ms', 'added_p50_ms'],
}

describe('the benchmarks', () => {
  test('run as a smoke, and each result is one JSON line with its figures', async () => {
    const { code, out, err } = await bench('--smoke', '--json')
    expect({ code, err: err.replace(/^gateway-throughput: nginx is not installed.*\n/, '') }).toEqual({
      code: 0,
      err: '',
    })
    const results = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { bench: string; case: { of?: string } } & Record<string, unknown>)
    expect([...new Set(results.map((result) => result.bench))]).toEqual(Object.keys(figures))
    for (const result of results) {
      expect(Object.keys(result.case).length).toBeGreaterThan(0)
      const ofCase = figuresOfCase[`${result.bench} ${result.case.of}`] ?? []
      for (const name of [...(figures[result.bench] ?? []), ...ofCase])
        expect({ name, value: result[name] }).toEqual({ name, value: expect.any(Number) })
    }
    const cases = results.map((result) => `${result.bench} ${result.case.of}`)
    expect(cases).toEqual(expect.arrayContaining(Object.keys(figuresOfCase)))
    const commits = results.filter((result) => result.bench === 'gateway-commit')
    for (const { p95_ratio_low, p95_ratio, p95_ratio_high } of commits)
      expect([p95_ratio_low, p95_ratio, p95_ratio_high].map(Number)).toEqual(
        [p95_ratio_low, p95_ratio, p95_ratio_high].map(Number).toSorted((a, b) => a - b),
      )
  })

  test('commit to a development catalog that takes the times of a real one', async () => {
    const args = ['gateway-commit', '--smoke', '--json', '--store', 'embedded', '--profile', 'nessie']
    const { code, out } = await bench(...args)
    expect(code).toBe(0)
    for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line).case.profile).toMatch(/^nessie \d/)
  })
})
