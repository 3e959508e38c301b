/**
 * Which test files a change reaches. Reads no file and asks git nothing. Where it does not know what a file reaches, the
 * answer is every test.
 */

import { basename, dirname } from 'node:path'
import type { SourceFile } from '../../test/tidy/source-files.ts'
import { importersOf, isTest, stepsTo } from './import-graph.ts'

/** These are below every test: stores are prepared from migrations, and the rest decides what all code is. */
const belowAll = /^(?:migrations\/|(?:package\.json|bun\.lock|bunfig\.toml|tsconfig\.json)$)/
/** Whose name says nothing about who reads a file in them. */
const tooLarge: ReadonlySet<string> = new Set(['.', 'src', 'test'])
/** Tests that look at whole folders may look at any file. */
const listsFolders = /\b(?:readProject|readdirSync|readdir|new (?:Bun\.)?Glob)\(/

/** Tests with the helpers beside them. What all share lists the folders that it made itself. */
const ownTests = /^test\/(?!support\/|clients\/.*(?<!\.clients)\.ts$)/

/**
 * @param files of the project as they are now
 * @param changed paths, also of files that are gone
 */
export function changedTests(
  files: readonly SourceFile[],
  changed: readonly string[],
): readonly string[] | 'all' {
  if (changed.length === 0) return []
  const starts = changed.map((path) => (path.endsWith('.ts') ? [path] : whoNames(files, path)))
  if (starts.includes('all')) return 'all'
  const listing = files.filter(({ path, text }) => ownTests.test(path) && listsFolders.test(text))
  const all = [...(starts as readonly (readonly string[])[]).flat(), ...listing.map(({ path }) => path)]
  const reached = stepsTo(importersOf(files), all)
  const present = new Set(files.map(({ path }) => path))
  const tests = [...reached.keys()].filter(isTest)
  return [...new Set(tests)].filter((path) => present.has(path)).sort()
}

/** The files whose text holds the name of a file that is not code, or of the folder that it is in. */
function whoNames(files: readonly SourceFile[], path: string): readonly string[] | 'all' {
  if (belowAll.test(path)) return 'all'
  // What is outside of `src` is read by tests and programs, and only linked to by the service.
  const readers = files.filter(
    ({ path: at }) => at.endsWith('.ts') && (path.startsWith('src/') || !at.startsWith('src/')),
  )
  const named = holding(readers, basename(path))
  for (let folder = dirname(path); !tooLarge.has(folder); folder = dirname(folder)) {
    const found = holding(readers, basename(folder)).filter((at) => at.startsWith('test/'))
    if (found.length > 0) return [...named, ...found]
  }
  return named.length === 0 ? 'all' : named
}

/** The files in whose text a name stands as one part of a path. */
function holding(files: readonly SourceFile[], name: string): readonly string[] {
  const asPart = new RegExp(`(?:^|[/'"\`(])${escaped(name)}(?:$|[/'"\`)#?])`, 'm')
  return files.filter(({ text }) => asPart.test(text)).map(({ path }) => path)
}

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
