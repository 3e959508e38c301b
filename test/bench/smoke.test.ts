/** Every benchmark once, tiny: that it runs and says what it measured; nothing about how fast. */

import { describe, expect, test } from 'bun:test'
import { benchCommand } from '../../bench/command.ts'
import { samplePolicies } from '../../bench/sample-policies.ts'
import { compilePolicy } from '../../src/policy/compile.ts'

const main = new URL('../../bench/main.ts', import.meta.url).pathname

async function bench(...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}

const figures: Readonly<Record<string, readonly string[]>> = {
  'gateway-commit': [
    ...['p50_direct_ms', 'p95_direct_ms', 'p99_direct_ms', 'p50_ms', 'p95_ms', 'p99_ms', 'added_p50_ms'],
    ...['p95_ratio', 'p95_ratio_low', 'p95_ratio_high', 'p50_bare_ms', 'p95_bare_ms'],
  ],
  'gateway-throughput': ['commits_per_s', 'direct_commits_per_s', 'ratio_vs_direct', 'gateway_cpu_ms'],
  'gateway-memory': ['commits', 'live_settled_mib', 'live_growth_ratio', 'rss_growth_ratio'],
  'catalog-times': ['p50_load_ms', 'p50_conditional_load_ms', 'p50_commit_ms', 'p95_commit_ms'],
  'store-transactions': ['p50_ms', 'p95_ms'],
  'policy-eval': ['us', 'baseline_us'],
  'graph-traverse': ['p50_ms'],
  'lineage-ingest': ['events_per_s', 'p95_ms'],
  'query-compile': ['p50_ms', 'p95_ms'],
  'query-scan': ['ratio_vs_duckdb'],
  'pgwire-latency': [
    ...['added_p50_us', 'p50_us', 'p95_us', 'p50_usage_write_us', 'p50_engine_alone_us'],
    ...['added_least_p50_us', 'p50_least_us', 'p95_least_us', 'p50_least_without_store_us'],
  ],
  'pgwire-stream': ['rows_per_s'],
  'pgwire-idle': ['kb_per_connection'],
  'detection-scan': ['mb_per_s_per_worker', 'http_p99_ratio'],
  'detection-quality': ['precision', 'recall', 'f1', 'false_alerts'],
  'detection-classify': ['cells_per_s'],
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
      .map((line) => JSON.parse(line) as { bench: string; case: object } & Record<string, unknown>)
    expect([...new Set(results.map((result) => result.bench))]).toEqual(Object.keys(figures))
    for (const result of results) {
      expect(Object.keys(result.case).length).toBeGreaterThan(0)
      for (const name of figures[result.bench] ?? [])
        expect({ name, value: result[name] }).toEqual({ name, value: expect.any(Number) })
    }
    const commits = results.filter((result) => result.bench === 'gateway-commit')
    for (const { p95_ratio_low, p95_ratio, p95_ratio_high } of commits)
      expect([p95_ratio_low, p95_ratio, p95_ratio_high].map(Number)).toEqual(
        [p95_ratio_low, p95_ratio, p95_ratio_high].map(Number).toSorted((a, b) => a - b),
      )
  }, 300_000)

  test('commit to a development catalog that takes the times of a real one', async () => {
    const args = ['gateway-commit', '--smoke', '--json', '--store', 'embedded', '--profile', 'nessie']
    const { code, out } = await bench(...args)
    expect(code).toBe(0)
    for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line).case.profile).toMatch(/^nessie \d/)
  }, 120_000)

  test('print a table for people, and no verdict on a smoke', async () => {
    const { code, out } = await bench('policy-eval', '--smoke')
    expect(code).toBe(0)
    expect(out).toContain('baseline_us')
    expect(out).not.toContain('Contract')
  }, 30_000)

  test.each([
    [['nope'], 'There is no benchmark `nope`. There are: gateway-commit,'],
    [['--nope'], "Unknown option '--nope'."],
    [['policy-eval', '--rate', '5'], '--rate is not an option of policy-eval.'],
    [['--policies', '1,x'], '--policies: `x` is not a number from 0 to 1000.'],
    [['--seed'], "Option '--seed <value>' argument missing"],
    [['--smoke', '--full'], '--smoke and --full exclude each other.'],
    [['gateway-commit', '--warehouse', 'w'], '--warehouse needs --upstream.'],
    [['gateway-commit', '--upstream', 'http://127.0.0.1:1'], '--upstream needs --warehouse.'],
    [
      ['gateway-commit', '--upstream', 'ftp://x', '--warehouse', 'w'],
      '--upstream must be an http or https URL',
    ],
    [['gateway-commit', '--upstream', 'http://127.0.0.1:1', '--warehouse', 'w'], 'cannot be reached.'],
    [
      ['gateway-commit', '--upstream', 'http://127.0.0.1:1', '--warehouse', 'w', '--catalog', 'nessie'],
      '--upstream and --catalog exclude each other.',
    ],
    [
      ['gateway-commit', '--catalog', 'nessie', '--profile', 'nessie'],
      '--profile is for the development catalog',
    ],
    [
      ['gateway-commit', '--profile', 'nessie', '--load-ms', '5'],
      '--load-ms and --profile exclude each other.',
    ],
    [['gateway-commit', '--smoke', '--catalog', 'nessie'], '--smoke runs on the development catalog'],
    [['catalog-times', '--save'], '--save needs --catalog with one of nessie, rest-fixture.'],
  ])(
    '%p is answered with what is wrong',
    async (args, sentence) => {
      const [out, err]: [string[], string[]] = [[], []]
      const code = await benchCommand(args, { out: (line) => out.push(line), err: (line) => err.push(line) })
      expect({ code, out }).toEqual({ code: 2, out: [] })
      expect(err.join('\n')).toContain(sentence)
      expect(err.join('\n')).toContain('Try --help.')
    },
    30_000,
  )

  test('the process ends with the exit code of what is wrong, and says it on standard error', async () => {
    const { code, out, err } = await bench('nope')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toStartWith('There is no benchmark `nope`.')
  }, 30_000)
})

test.each(samplePolicies(0).map(({ name, text }) => [name, text] as const))(
  'the sample policy %s compiles',
  (_, text) => {
    expect(() => compilePolicy(text)).not.toThrow()
  },
)
