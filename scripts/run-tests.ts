/**
 * Runs test files in as many processes as there are cores up to a bound, each one file after the other, with their
 * temporary files in memory where there is room. Sets the exit code; says nothing itself.
 */

import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { makeMemoryFolder } from './memory-folder.ts'

/** Each may hold a gigabyte. */
const processesMax = 4

const processes = Math.min(availableParallelism(), processesMax)
// A process keeps its modules from file to file, and with them the embedded database that it has compiled.
const apart = processes > 1 ? [`--parallel=${processes}`, '--no-isolate'] : []

/**
 * @param words what `bun test` is given besides
 * @param env variables for the tests
 */
export async function runTests(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  // A folder that is named is meant.
  const folder = process.env.TMPDIR === undefined ? makeMemoryFolder() : undefined
  try {
    const tests = Bun.spawn([process.execPath, 'test', '--timeout=300000', ...apart, ...words], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...process.env, ...env, ...(folder !== undefined && { TMPDIR: folder }) },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal))
    process.exitCode = await tests.exited
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}
