/** One benchmark, tiny, and what the command says of words that are wrong. smoke.walks.ts runs every benchmark. */

import { describe, expect, test } from 'bun:test'
import { benchCommand } from '../../bench/command.ts'
import { samplePolicies } from '../../bench/sample-policies.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { bench } from './bench-process.ts'

describe('the benchmarks', () => {
  test('print a table for people, and no verdict on a smoke', async () => {
    const { code, out } = await bench('policy-eval', '--smoke')
    expect(code).toBe(0)
    expect(out).toContain('baseline_us')
    expect(out).not.toContain('Contract')
  }, 300_000)

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
    [['tracing', '--tree', 'no-such-folder'], '--tree must name a checkout of this repository.'],
    [['catalog-times', '--save'], '--save needs --catalog with one of nessie, rest-fixture.'],
  ])(
    '%p is answered with what is wrong',
    async (args, sentence) => {
      const [out, err]: [string[], string[]] = [[], []]
      const code = await benchCommand(args, { out: (line) => out.push(line), err: (line) => err.push(line) })
      expect({ code, out }).toEqual({ code: 64, out: [] })
      expect(err.join('\n')).toContain(sentence)
      expect(err.join('\n')).toContain('Try --help.')
    },
    300_000,
  )

  test('the process ends with the exit code of what is wrong, and says it on standard error', async () => {
    const { code, out, err } = await bench('nope')
    expect({ code, out }).toEqual({ code: 64, out: '' })
    expect(err).toStartWith('There is no benchmark `nope`.')
  }, 300_000)
})

test.each(samplePolicies(0).map(({ name, text }) => [name, text] as const))(
  'the sample policy %s compiles',
  (_, text) => {
    expect(() => compilePolicy(text)).not.toThrow()
  },
)
