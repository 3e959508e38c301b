/**
 * `bun run test:soak [--seconds N]`: the long forms of tests, `test/**\/*.soak.test.ts`. They read their
 * time from SVC_TEST_SOAK_SECONDS; `bun test` runs them too, with the short time they default to.
 */

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } })
const seconds = Number(values.seconds)
if (!Number.isInteger(seconds) || seconds < 1) {
  console.error('--seconds must be a whole number above 0')
  process.exit(2)
}

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
