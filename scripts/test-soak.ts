/**
 * `bun run test:soak [--seconds N] [--pairs N] [--texts N] [--frames N] [--seed N] [--from N] [file …]`: runs the long forms of tests,
 * `test/**\/*.soak.test.ts`. They read their sizes from SVC_TEST_… variables. `bun test` runs them too, with short
 * default sizes.
 */

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = `Usage: bun run test:soak [--seconds N] [--pairs N] [--texts N] [--frames N] [--seed N] [--from N] [file …]

  --seconds N   how long each test goes on (default 60)
  --pairs N     statements of the differential test (default 200000)
  --texts N     texts of the fuzz tests of graph queries, MDX and requests of XMLA (default 1000000)
  --frames N    requests that the fuzz test of the sockets of XMLA sends at least (default 0)
  --seed N      of the tests that take one; each has its own default
  --from N      the pair at which the differential test begins, to resume it (default 0)
  --help        this text
  file          parts of paths; all long forms where there is none`

interface Arguments {
  readonly seconds: number
  readonly pairs: number
  readonly texts: number
  readonly frames: number
  readonly seed: number | undefined
  readonly from: number
  readonly help: boolean
  readonly only: readonly string[]
}

/** @returns undefined for invalid arguments */
function readArguments(): Arguments | undefined {
  const options = {
    seconds: { type: 'string', default: '60' },
    pairs: { type: 'string', default: '200000' },
    texts: { type: 'string', default: '1000000' },
    frames: { type: 'string', default: '0' },
    seed: { type: 'string' },
    from: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  } as const
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    const [seconds, pairs, texts, frames, from] = [
      values.seconds,
      values.pairs,
      values.texts,
      values.frames,
      values.from,
    ].map(Number)
    const seed = values.seed === undefined ? undefined : Number(values.seed)
    if (!isCount(seconds) || seconds === 0 || !isCount(pairs) || pairs === 0) return undefined
    if (!isCount(texts) || texts === 0 || !isCount(frames)) return undefined
    if (!isCount(from) || (seed !== undefined && !Number.isInteger(seed))) return undefined
    return { seconds, pairs, texts, frames, seed, from, help: values.help, only: positionals }
  } catch {
    return undefined
  }
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 0
}

const read = readArguments()
if (read === undefined || read.help) {
  console[read === undefined ? 'error' : 'log'](usage)
  process.exit(read === undefined ? 64 : 0)
}
const { seconds, pairs, texts, frames, seed, from, only } = read

const found = [...new Glob('test/**/*.soak.test.ts').scanSync({ cwd: root })].sort()
const files = found.filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
if (files.length === 0) {
  console.log('Skipped: there is no such test/**/*.soak.test.ts')
  process.exit(0)
}
console.log(`${files.length} files, ${seconds} s each test`)
const { exitCode } = Bun.spawnSync(
  // The timeout adds the set-up and tear-down to the time for which a test loops.
  [process.execPath, 'test', `--timeout=${(seconds * 2 + 60) * 1000}`, ...files.map((file) => `./${file}`)],
  {
    cwd: root,
    env: {
      ...process.env,
      SVC_TEST_SOAK_SECONDS: String(seconds),
      SVC_TEST_SOAK_PAIRS: String(pairs),
      SVC_TEST_SOAK_TEXTS: String(texts),
      SVC_TEST_SOAK_FRAMES: String(frames),
      SVC_TEST_FROM: String(from),
      ...(seed !== undefined && { SVC_TEST_SEED: String(seed) }),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  },
)
process.exit(exitCode)
