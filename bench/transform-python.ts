/** Measures how many distinct values a second the Python library protects on one core, by method. */

import { join } from 'node:path'
import { CannotFetch, fetchPackage, packageFolder } from '../test/clients/packages.ts'
import { runClient } from '../test/clients/processes.ts'
import { pythonLibrary } from '../test/clients/transform-lake.ts'
import { type BenchResult, type BenchRun, BenchUsageError } from './entry.ts'
import { percentile } from './statistics.ts'

const fetchSeconds = 600
const runSeconds = 1_800

interface Times {
  readonly method: string
  readonly ms: readonly number[]
  readonly baseline_ms: readonly number[]
}

/**
 * @param valuesPerSecondMin - by method: what Python must reach
 * @throws BenchUsageError where Python or its packages cannot be had
 */
export async function* measurePython(
  { smoke, note }: BenchRun,
  valuesPerSecondMin: Readonly<Record<string, number>>,
): AsyncGenerator<BenchResult> {
  try {
    await fetchPackage('python:transform', AbortSignal.timeout(fetchSeconds * 1_000))
  } catch (error) {
    if (error instanceof CannotFetch) throw new BenchUsageError(`--python: ${error.message}`)
    throw error
  }
  const [values, rounds] = smoke ? [2_000, 2] : [200_000, 9]
  const script = new URL('../test/clients/scripts/transform_speed.py', import.meta.url).pathname
  const python = join(packageFolder('python:transform'), 'bin/python3')
  note('  transform: the Python library')
  const { exitCode, output } = await runClient(
    'bench-transform-python',
    [python, script, String(values), String(rounds)],
    { seconds: runSeconds, env: { PYTHONPATH: pythonLibrary } },
  )
  if (exitCode !== 0) throw new Error(`the Python library failed:\n${output.slice(-2_000)}`)
  for (const [, line = ''] of output.matchAll(/^TIMES (.*)$/gm)) {
    const { method, ms, baseline_ms } = JSON.parse(line) as Times
    const perSecond = (times: readonly number[]) => Math.round(values / (percentile(times, 0.5) / 1_000))
    const goal = valuesPerSecondMin[method] ?? Number.POSITIVE_INFINITY
    yield {
      bench: 'transform',
      case: { method, values, library: 'python' },
      figures: { values_per_s: perSecond(ms), baseline_values_per_s: perSecond(baseline_ms) },
      ...(!smoke && { verdict: perSecond(ms) >= goal ? 'pass' : 'fail' }),
    }
  }
}
