/** The demo in a process of its own, for the tests that start it. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../demo/main.ts', import.meta.url))

/** Starts the demo with `folder` as its temporary directory. */
export function startDemo(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
) {
  return Bun.spawn([process.execPath, program, ...args], {
    env: { PATH: process.env.PATH, TMPDIR: folder, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** A folder that is removed when its scope ends. */
export function temporary() {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-demo-test-'))
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
