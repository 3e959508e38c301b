/**
 * Finds how much memory this process may use: the limit of its control group (cgroup version 1 or 2), or what the
 * machine has. It sets no limit.
 */

import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** Reads a file as text; undefined where it is not there or must not be read. */
type ReadText = (path: string) => string | undefined

const controlGroups = '/sys/fs/cgroup'
/** Files that hold a limit in bytes, in a group's folder. `memory.high` slows a process down as much as it would end it. */
const limitFiles = {
  v1: ['memory.limit_in_bytes'],
  v2: ['memory.max', 'memory.high'],
} as const

/**
 * Bytes of memory that this process may use.
 * @param readText reads the files of the kernel; a test passes its own
 * @param machineBytes what the machine has
 */
export function memorySize(readText: ReadText = readFile, machineBytes: number = totalmem()): number {
  return Math.min(machineBytes, ...groupLimits(readText))
}

function groupLimits(readText: ReadText): readonly number[] {
  const lines = (readText('/proc/self/cgroup') ?? '').split('\n')
  return lines.flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (controllers === undefined || path === undefined) return []
    if (controllers === '') return limitsUpFrom(controllers, path, 'v2', readText)
    return controllers.split(',').includes('memory') ? limitsUpFrom('memory', path, 'v1', readText) : []
  })
}

/** The limits of a group and of all above it. A container may see its own group at the root under another's path. */
function limitsUpFrom(
  hierarchy: string,
  path: string,
  version: keyof typeof limitFiles,
  readText: ReadText,
): readonly number[] {
  const root = join(controlGroups, hierarchy)
  const folders = [root]
  for (let folder = resolve(root, `.${path}`); folder.startsWith(`${root}/`); folder = dirname(folder))
    folders.push(folder)
  // `max` in version 2, and a number beyond all memory in version 1, mean that there is no limit.
  return folders
    .flatMap((folder) => limitFiles[version].map((name) => readText(join(folder, name))?.trim()))
    .flatMap((text) => (text !== undefined && /^[1-9]\d*$/.test(text) ? [Number(text)] : []))
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
