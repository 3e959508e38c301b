/**
 * `bun run test:soak [--seconds N]`: the long forms of tests, `test/**\/*.soak.test.ts`. They read their
 * time from SVC_TEST_SOAK_SECONDS; `bun test` runs them too, with the short time they default to.
 */

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = `Usage: bun run test:soak [--seconds N]

  --seconds N   how long each test goes on (default 60)
  --help        this text`

/** @returns undefined where the words make no sense */
function readArguments(): { readonly seconds: number; readonly help: boolean } | undefined {
  const options = {
    seconds: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  } as const
  try {
    const { seconds, help } = parseArgs({ options }).values
    return Number.isInteger(Number(seconds)) && Number(seconds) > 0
      ? { seconds: Number(seconds), help }
      : undefined
  } catch {
    return undefined
  }
}

const read = readArguments()
if (read === undefined || read.help) {
  console[read === undefined ? 'error' : 'log'](usage)
  process.exit(read === undefined ? 2 : 0)
}
const { seconds } = read

const files = [...new Glob('test/**/*.soak.test.ts').scanSync({ cwd: root })].sort()
if (files.length === 0) {
  console.log('Skipped: there is no test/**/*.soak.test.ts')
  process.exit(0)
}
console.log(`${files.length} files, ${seconds} s each test`)
const { exitCode } = Bun.spawnSync(
  // Setting up and winding down come on top of the time that a test loops for.
  [process.execPath, 'test', `--timeout=${(seconds * 2 + 60) * 1000}`, ...files.map((file) => `./${file}`)],
  {
    cwd: root,
    env: { ...process.env, SVC_TEST_SOAK_SECONDS: String(seconds) },
    stdio: ['ignore', 'inherit', 'inherit'],
  },
)
process.exit(exitCode)
