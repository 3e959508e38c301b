/** Keeps the architecture's rules; the rules themselves are tables in tidy/. */

import { describe, expect, test } from 'bun:test'
import { findNeedlessExports } from './tidy/export-rules.ts'
import {
  findCycles,
  findDeadFiles,
  findImpureImports,
  findWrongImports,
  findWrongInnerImports,
} from './tidy/import-rules.ts'
import { findBannedNames, olderNames } from './tidy/name-rules.ts'
import { readProject, type SourceFile } from './tidy/source-files.ts'
import { findBannedText, findLongFiles, findMissingHeaders, textRules } from './tidy/text-rules.ts'
import timings from './timings.json'

const project = readProject(new URL('..', import.meta.url).pathname)
const typescript = project.filter(({ path }) => path.endsWith('.ts'))
const source = typescript.filter(({ path }) => path.startsWith('src/'))

describe('the project', () => {
  test('has source files to look at', () => {
    expect(source.length).toBeGreaterThan(10)
  })

  test('imports one way, layer by layer', () => {
    expect(findWrongImports(source)).toEqual([])
  })

  test('imports one way inside a part that has layers of its own', () => {
    expect(findWrongInnerImports(source)).toEqual([])
  })

  test('reads and writes nothing in the folders that only compute', () => {
    expect(findImpureImports(source)).toEqual([])
  })

  test('has no import cycles', () => {
    expect(findCycles(typescript)).toEqual([])
  })

  const dead = findDeadFiles(source)
  if (dead === undefined) test.skip('src/main.ts is not there yet: dead files', () => {})
  else
    test('has no dead files: each is reached from main', () => {
      expect(dead).toEqual([])
    })

  test('exports what another file imports', () => {
    expect(findNeedlessExports(typescript)).toEqual([])
  })

  test('holds nothing that is banned', () => {
    expect(findBannedText(project)).toEqual([])
  })

  test('names no new file and no new export by a banned word of the glossary', () => {
    const found = findBannedNames(source)
    const added = found.filter(({ name }) => !olderNames.has(name))
    expect(added.map(({ name, say }) => `${name}: say ${say}`)).toEqual([])
    const names = new Set(found.map(({ name }) => name))
    expect([...olderNames].filter((name) => !names.has(name))).toEqual([])
  })

  test('has source files of readable length', () => {
    expect(findLongFiles(source)).toEqual([])
  })

  test('says at the top of each source file what the file owns', () => {
    expect(findMissingHeaders(source)).toEqual([])
  })
})

describe('the times of test files', () => {
  const { files } = timings as { readonly files: Readonly<Record<string, number>> }
  const tests = typescript.map(({ path }) => path).filter((path) => /^test\/.*\.test\.ts$/.test(path))

  test('are known of nine files in ten, so that the slowest begin first', () => {
    const unknown = tests.filter((path) => files[path] === undefined)
    const instead = 'run npm test -- --update-timings'
    expect(unknown.length > tests.length / 10 ? [instead, ...unknown] : []).toEqual([])
  })

  test('are kept of no more than one in ten that is gone', () => {
    const gone = Object.keys(files).filter((path) => !tests.includes(path))
    const instead = 'run npm test -- --update-timings'
    expect(gone.length > tests.length / 10 ? [instead, ...gone] : []).toEqual([])
  })
})

describe('the rules', () => {
  test.each(textRules.map((rule) => [rule.name, rule] as const))(
    '%s: refuses its example only',
    (_, rule) => {
      const path = ['src/core/x.ts', 'test/x.test.ts', 'docs/x.md'].find(
        (each) => rule.where.test(each) && !rule.except?.test(each),
      )
      const find = (text: string) => findBannedText([{ path: path ?? '', text }], [rule])
      expect(find(`${rule.example}\n`)).toHaveLength(1)
      expect(find(rule.example)[0]).toContain(rule.instead)
      expect(find(`${rule.counterexample}\n`)).toEqual([])
    },
  )

  const names: [path: string, text: string, found: readonly string[]][] = [
    ['src/query/run/kept-loads.ts', '', ['src/query/run/kept-loads.ts']],
    ['src/query/a.ts', 'export const knownTables = 1\n', ['src/query/a.ts knownTables']],
    ['src/query/a.ts', 'export async function runAnswered() {}\n', ['src/query/a.ts runAnswered']],
    ['src/query/a.ts', 'export interface SettlementRow {}\n', ['src/query/a.ts SettlementRow']],
    ['src/query/a.ts', 'export const unknownTable = 1\nconst known = 2\n', []],
  ]
  test.each(names)('name %s with %j', (path, text, found) => {
    expect(findBannedNames([{ path, text }]).map(({ name }) => name)).toEqual([...found])
  })

  const wrong: [name: string, path: string, specifier: string, sentence: string | undefined][] = [
    ['down', 'src/store/a.ts', '../core/b.ts', undefined],
    ['within one part', 'src/store/a.ts', './b.ts', undefined],
    ['limits from core', 'src/core/a.ts', '../limits.ts', undefined],
    ['up', 'src/core/a.ts', '../store/b.ts', 'store stands above core'],
    ['sideways', 'src/lineage/a.ts', '../gateway/b.ts', 'gateway stands beside lineage'],
    ['limits from base', 'src/base/a.ts', '../limits.ts', 'limits stands above base'],
    ['config from a feature', 'src/gateway/a.ts', '../config.ts', 'config stands above gateway'],
    ['config from main', 'src/main.ts', './config.ts', undefined],
    ['a part without a layer', 'src/utils/a.ts', '../core/b.ts', 'utils is in no layer'],
    ['a test from source', 'src/core/a.ts', '../../test/b.ts', 'src stands on its own'],
    ['Elysia in a feature', 'src/gateway/commit-table.ts', 'elysia', 'declare an operation'],
    ['Elysia in routes', 'src/gateway/routes.ts', 'elysia', undefined],
    ['Elysia in a routes file', 'src/contract/tag-routes.ts', 'elysia', 'declare an operation'],
    ['Elysia where operations are served', 'src/server/rest/mount.ts', 'elysia', undefined],
  ]
  test.each(wrong)('import %s', (_, path, specifier, sentence) => {
    for (const form of [
      `import { b } from '${specifier}'\n`,
      `import type {\n  B,\n  C,\n} from '${specifier}'\n`,
      `const b = await import('${specifier}')\n`,
    ]) {
      const found = findWrongImports([{ path, text: form }])
      if (sentence === undefined) expect(found).toEqual([])
      else expect(found).toEqual([expect.stringContaining(sentence)])
    }
  })

  const wrongInside: [name: string, path: string, specifier: string, sentence: string | undefined][] = [
    ['down', 'src/gateway/commit/a.ts', '../stages/b.ts', undefined],
    ['within one folder', 'src/gateway/stages/a.ts', './b.ts', undefined],
    ['from a surface to the pipeline', 'src/gateway/literal-surface/a.ts', '../pipeline.ts', undefined],
    ['from another part', 'src/gateway/base/a.ts', '../../store/b.ts', undefined],
    ['from a part without inner layers', 'src/lineage/a.ts', './b/c.ts', undefined],
    [
      'from an aggregate of the store to the database',
      'src/store/session/a.ts',
      '../database/b.ts',
      undefined,
    ],
    ['an aggregate from the database', 'src/store/database/a.ts', '../session/b.ts', 'session stands above'],
    ['up', 'src/gateway/stages/a.ts', '../commit/b.ts', 'commit stands above stages'],
    ['recovery from a stage', 'src/gateway/stages/a.ts', '../recovery/b.ts', 'recovery stands beside stages'],
    [
      'what is speculative from the plain commit',
      'src/gateway/commit/a.ts',
      '../speculative/b.ts',
      'speculative stands beside commit',
    ],
    [
      'a surface from the pipeline',
      'src/gateway/pipeline.ts',
      './client-surface/b.ts',
      'stands above pipeline.ts',
    ],
    ['the compiler from a run', 'src/query/run/watch/a.ts', '../../compile/emit/b.ts', undefined],
    [
      'a run from the compiler',
      'src/query/compile/emit/a.ts',
      '../../run/run.ts',
      'run stands above compile/emit',
    ],
    [
      'emitting from resolving',
      'src/query/compile/resolve/a.ts',
      '../emit/b.ts',
      'compile/emit stands above compile/resolve',
    ],
    ['a run from its loads', 'src/query/run/load/a.ts', '../run.ts', 'run stands above run/load'],
    ['a folder that has no layer', 'src/gateway/more/a.ts', '../base/b.ts', 'in no layer of gateway'],
  ]
  test.each(wrongInside)('inside a part, import %s', (_, path, specifier, sentence) => {
    const found = findWrongInnerImports([{ path, text: `import { b } from '${specifier}'\n` }])
    if (sentence === undefined) expect(found).toEqual([])
    else expect(found).toEqual([expect.stringContaining(sentence)])
  })

  const impure: [name: string, specifier: string, isWrong: boolean][] = [
    ['a shared noun', '../../core/b.ts', false],
    ['its own folder', './resolve/b.ts', false],
    ['the parser', 'libpg-query', false],
    ['the store', '../../store/store.ts', true],
    ['a run', '../run/run.ts', true],
    ['files', 'node:fs', true],
  ]
  test.each(impure)('in a folder that only computes, import %s', (_, specifier, isWrong) => {
    const found = findImpureImports([
      { path: 'src/query/compile/a.ts', text: `import type { B } from '${specifier}'\n` },
    ])
    expect(found).toEqual(isWrong ? [expect.stringContaining('only computes')] : [])
  })

  const files = (edges: Record<string, string>): SourceFile[] =>
    Object.entries(edges).map(([path, text]) => ({ path, text }))

  test('a cycle is named once, in order', () => {
    const cyclic = files({
      'src/a.ts': "import './b.ts'\n",
      'src/b.ts': "import type { C } from './c.ts'\n",
      'src/c.ts': "import './b.ts'\n",
    })
    expect(findCycles(cyclic)).toEqual(['src/b.ts → src/c.ts → src/b.ts'])
  })

  test('a Worker reaches its file and closes no cycle', () => {
    const started = files({
      'src/main.ts': "new Worker(new URL('./worker.ts', import.meta.url), { name: 'x' })\n",
      'src/worker.ts': "import type { M } from './main.ts'\n",
    })
    expect(findCycles(started)).toEqual([])
    expect(findDeadFiles(started)).toEqual([])
  })

  test('a file that nothing reaches is dead, even when it imports what lives', () => {
    expect(findDeadFiles(files({ 'src/main.ts': '', 'src/old.ts': "import './main.ts'\n" }))).toEqual([
      'src/old.ts',
    ])
  })
})
