/**
 * Which test files a source file is reached from, by imports, Workers and paths that are written in a string. Reads
 * text only: what a test reaches by another way, such as a folder that it lists, is not known here.
 */

import { importsOf, type SourceFile } from '../../test/tidy/source-files.ts'

/** Who names a file, by the file's path. */
export type Importers = ReadonlyMap<string, readonly string[]>

const writtenPath = /['"`/]((?:src|test|scripts|bench|demo)\/[\w./-]+\.ts)['"`]/g

/** @param files of the project, those that are not TypeScript too */
export function importersOf(files: readonly SourceFile[]): Importers {
  const importers = new Map<string, string[]>()
  for (const file of files) {
    if (!file.path.endsWith('.ts')) continue
    const written = [...file.text.matchAll(writtenPath)].map(([, path = '']) => path)
    for (const target of new Set([...importsOf(file).map((one) => one.target), ...written])) {
      if (target === file.path) continue
      const known = importers.get(target)
      if (known === undefined) importers.set(target, [file.path])
      else known.push(file.path)
    }
  }
  return importers
}

/** How many steps each file is away from the nearest of these; they themselves are 0 away. */
export function stepsTo(importers: Importers, paths: readonly string[]): ReadonlyMap<string, number> {
  const steps = new Map(paths.map((path) => [path, 0]))
  let last: readonly string[] = paths
  for (let step = 1; last.length > 0; step += 1) {
    const next = new Set(last.flatMap((path) => importers.get(path) ?? []).filter((path) => !steps.has(path)))
    for (const path of next) steps.set(path, step)
    last = [...next]
  }
  return steps
}

/** Whether `npm test` runs it. */
export function isTest(path: string): boolean {
  return path.startsWith('test/') && path.endsWith('.test.ts')
}
