/** Starts the program with wrong settings or arguments, and waits until it has ended. */

import { join } from 'node:path'

/** What `serve` ended with: its exit status, and the lines that it wrote to standard error. */
export async function serveOnce(env: Readonly<Record<string, string>>, words: readonly string[] = []) {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'serve', ...words], {
    cwd: join(import.meta.dir, '../..'),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [status, said] = await Promise.all([child.exited, new Response(child.stderr).text()])
  return { status, lines: said.trimEnd().split('\n') }
}
