/**
 * A copy of the project's files in which faults are made and tests run, so that the checkout is never changed.
 * Dependencies and caches are linked, not copied.
 */

import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeMemoryFolder } from '../memory-folder.ts'

/** `late`: it was ended because it took too long. */
export type Ended = 'passed' | 'failed' | 'late'

export interface TreeCopy extends Disposable {
  readonly root: string
  write(path: string, text: string): void
  /** Runs test files in one process, one after the other, until one fails. */
  test(paths: readonly string[], msMax: number): Promise<Ended>
  /** Whether the compiler takes the copy as it is. */
  compiles(): Promise<boolean>
}

/** Copies what git would commit, as it is now. */
export function copyTree(root: string): TreeCopy {
  const folder = makeMemoryFolder() ?? mkdtempSync(join(tmpdir(), 'covenant-mutants-'))
  const copy = join(folder, 'tree')
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  })
  for (const path of listed.stdout.toString().split('\0').filter(Boolean))
    try {
      cpSync(join(root, path), join(copy, path), { dereference: true })
    } catch (thrown) {
      // Removed, and not yet committed.
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
    }
  for (const linked of ['node_modules', '.cache']) symlinkSync(join(root, linked), join(copy, linked))
  let running: number | undefined
  const run = async (words: readonly string[], msMax: number): Promise<Ended> => {
    const scratch = mkdtempSync(join(folder, 'run-'))
    const child = Bun.spawn(['nice', '-n', '2', process.execPath, ...words], {
      cwd: copy,
      env: { ...process.env, TMPDIR: scratch },
      stdio: ['ignore', 'ignore', 'ignore'],
      // A group of its own, so that what the tests started ends with them.
      detached: true,
    })
    running = child.pid
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      endGroup(child.pid)
    }, msMax)
    const status = await child.exited
    clearTimeout(timer)
    endGroup(child.pid)
    running = undefined
    rmSync(scratch, { recursive: true, force: true })
    return isLate ? 'late' : status === 0 ? 'passed' : 'failed'
  }
  return {
    root: copy,
    write: (path, text) => writeFileSync(join(copy, path), text),
    test: (paths, msMax) =>
      run(['test', '--bail', '--timeout=60000', ...paths.map((path) => `./${path}`)], msMax),
    compiles: async () => (await run(['run', '--bun', 'tsc', '-p', '.'], 300_000)) === 'passed',
    [Symbol.dispose]: () => {
      if (running !== undefined) endGroup(running)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
