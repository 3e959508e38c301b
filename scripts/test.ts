/**
 * The command `npm test`: the test files, in as many processes as there are cores up to a bound, each one file after
 * the other, and their temporary files in memory where there is room. Arguments go to `bun test`; `--update-timings`
 * writes how long each file took into test/timings.json, by which the slowest are begun first.
 */

import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { makeMemoryFolder } from './memory-folder.ts'

/** Each may hold a gigabyte. */
const processesMax = 4

const processes = Math.min(availableParallelism(), processesMax)
// A process keeps its modules from file to file, and with them the embedded database that it has compiled.
const apart = processes > 1 ? [`--parallel=${processes}`, '--no-isolate', '--timings=test/timings.json'] : []
// A folder that was named is used.
const folder = process.env.TMPDIR === undefined ? makeMemoryFolder() : undefined
try {
  const tests = Bun.spawn(
    [process.execPath, 'test', '--timeout=300000', ...apart, ...process.argv.slice(2)],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...process.env, ...(folder !== undefined && { TMPDIR: folder }) },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
  process.exitCode = await tests.exited
} finally {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}
