/**
 * Measures what protection adds to an append of PyIceberg: the same rows are appended through the gateway in clear and
 * protected, by turns, in one Python process. The service and its catalog run in this one.
 */

import { join } from 'node:path'
import { CannotFetch, fetchPackage, packageFolder } from '../test/clients/packages.ts'
import { runClient } from '../test/clients/processes.ts'
import { startTransformLake } from '../test/clients/transform-lake.ts'
import { type BenchResult, type BenchRun, BenchUsageError } from './entry.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'

/** Of the columns that are protected; the other seven are kept. */
const rules = {
  email: { action: 'tokenize', method: 'hmac', scope: 'email' },
  card: { action: 'tokenize', method: 'ff1', alphabet: 'digits', scope: 'card' },
  note: { action: 'encrypt', method: 'siv', scope: 'note' },
}

const fetchSeconds = 600
const runSeconds = 1_800

interface Turn {
  readonly plain_ms: number
  readonly protected_ms: number
  readonly protect_ms: number
}

/** @throws BenchUsageError where Python or its packages cannot be had */
export async function measureAppend({ smoke, seed, note }: BenchRun): Promise<BenchResult> {
  try {
    await fetchPackage('python:transform', AbortSignal.timeout(fetchSeconds * 1_000))
  } catch (error) {
    if (error instanceof CannotFetch) throw new BenchUsageError(`--append: ${error.message}`)
    throw error
  }
  await using lake = await startTransformLake()
  const [rows, turns] = smoke ? [1_000, 2] : [1_000_000, 7]
  const script = new URL('../test/clients/scripts/transform_append.py', import.meta.url).pathname
  const python = join(packageFolder('python:transform'), 'bin/python3')
  const run = async (step: 'create' | 'measure') => {
    const args = [python, script, step, String(rows), String(turns), String(seed)]
    const env = { ...lake.env, CATALOG_URI: lake.catalogUri }
    const { exitCode, output } = await runClient(`bench-append-${step}`, args, { seconds: runSeconds, env })
    if (exitCode !== 0) throw new Error(`the append of PyIceberg failed:\n${output.slice(-2_000)}`)
    return output
  }
  await run('create')
  for (const [column, rule] of Object.entries(rules)) await lake.declare('protected', column, rule)
  note('  transform: appending by turns')
  const taken = [...(await run('measure')).matchAll(/^TURN (.*)$/gm)].map(
    ([, line = '']) => JSON.parse(line) as Turn,
  )
  if (taken.length !== turns) throw new Error('the append of PyIceberg did not take all of its turns')
  const median = (of: keyof Turn) =>
    percentile(
      taken.map((turn) => turn[of]),
      0.5,
    )
  const [plain, safe] = [median('plain_ms'), median('protected_ms')]
  return {
    bench: 'transform',
    case: { append: true, rows, columns: 10, protected: Object.keys(rules).length },
    figures: {
      p50_plain_ms: rounded(plain),
      p50_protected_ms: rounded(safe),
      p50_protect_ms: rounded(median('protect_ms')),
      overhead_percent: rounded((safe / plain - 1) * 100),
    },
  }
}
