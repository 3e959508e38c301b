/**
 * A control group with a bound on memory, in which a test runs a process. Only root can make one, below the group of
 * the test where that is version 1, and beside it where it is version 2; elsewhere tests skip, and say so.
 */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface MemoryGroup extends Disposable {
  /** The words of a command that joins the group before it becomes this one. */
  command(words: readonly string[]): string[]
  /** How many processes the kernel has killed for want of memory. */
  kills(): number
}

/** @returns undefined where none can be made */
export function makeMemoryGroup(bytes: number): MemoryGroup | undefined {
  const own = ownGroup()
  if (own === undefined) return undefined
  const path = join(own.isVersion1 ? own.path : dirname(own.path), `covenant-test-${crypto.randomUUID()}`)
  try {
    mkdirSync(path)
  } catch {
    return undefined
  }
  const remove = () => rmdirSync(path)
  const limit = join(path, own.isVersion1 ? 'memory.limit_in_bytes' : 'memory.max')
  // Without the controller a group of version 2 has no such file.
  if (!existsSync(limit)) {
    remove()
    return undefined
  }
  writeFileSync(limit, String(bytes))
  const events = join(path, own.isVersion1 ? 'memory.oom_control' : 'memory.events')
  return {
    command: (words) => ['sh', '-c', 'echo $$ >"$0" && exec "$@"', join(path, 'cgroup.procs'), ...words],
    kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(events, 'utf8'))?.[1] ?? Number.NaN),
    [Symbol.dispose]: remove,
  }
}

/** The group of this process, where memory is bounded by groups. */
function ownGroup(): { readonly path: string; readonly isVersion1: boolean } | undefined {
  if (!existsSync('/proc/self/cgroup')) return undefined
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n')
  const version1 = lines.find((line) => /^\d+:([^:]*,)?memory(,[^:]*)?:/.test(line))
  const line = version1 ?? lines.find((each) => each.startsWith('0::'))
  if (line === undefined) return undefined
  const folder = version1 === undefined ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory'
  return { path: join(folder, line.slice(line.indexOf(':/') + 1)), isVersion1: version1 !== undefined }
}
