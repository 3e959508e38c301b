/** What scripts/mutants chooses: areas, places by seed, and the tests that judge them. */

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { choosePlaces, idOf, type Place } from '../../../scripts/mutants/choose-places.ts'
import { matchingTests } from '../../../scripts/mutants/matching-tests.ts'
import { findAreas } from '../../../scripts/mutants/places.ts'
import { openResults } from '../../../scripts/mutants/results.ts'
import { importersOf } from '../../../scripts/reach/import-graph.ts'
import { readProject } from '../../tidy/source-files.ts'

const root = new URL('../../../', import.meta.url).pathname

function places(area: string, count: number): readonly Place[] {
  return Array.from({ length: count }, (_, start) => ({
    ...{ area, file: `src/${area}.ts`, start, end: start + 1, text: '', kind: 'a condition left out' },
  }))
}
const areas = [
  { name: 'large', places: places('large', 100) },
  { name: 'small', places: places('small', 3) },
]

test('a seed chooses the same places again, and another seed others', () => {
  const ids = (seed: number, count = 20) => choosePlaces(areas, seed, count).map(idOf)
  expect(ids(1)).toEqual(ids(1))
  expect(ids(2)).not.toEqual(ids(1))
  expect(ids(1, 40).slice(0, 20)).toEqual(ids(1))
})

test('each area has its turn until it has no place left', () => {
  const chosen = choosePlaces(areas, 1, 9).map(({ area }) => area)
  expect(chosen.filter((area) => area === 'small')).toHaveLength(3)
  expect(choosePlaces(areas, 1, 1_000)).toHaveLength(103)
})

test('every area has files in this tree', () => {
  expect(findAreas(readProject(root).map(({ path }) => path)).length).toBeGreaterThan(8)
})

test('an area whose files were renamed is told', () => {
  expect(() => findAreas(['src/main.ts'])).toThrow('name it in scripts/mutants/places.ts')
})

const source = { path: 'src/core/a.ts', text: '' }
const importing = (path: string, target: string) => ({ path, text: `import { a } from '${target}'\n` })
const importers = importersOf([
  source,
  importing('src/core/b.ts', './a.ts'),
  importing('test/core/a.test.ts', '../../src/core/a.ts'),
  importing('test/core/b.test.ts', '../../src/core/b.ts'),
  importing('test/far.test.ts', '../src/core/b.ts'),
  importing('test/tidy.test.ts', '../src/core/a.ts'),
])

test('the test of the file comes first, then the nearest that fit into the time', () => {
  const chosen = (timings: readonly (readonly [string, number])[], seconds: number) =>
    matchingTests('src/core/a.ts', ['sight'], importers, new Map(timings), seconds).map(({ path }) => path)
  expect(chosen([], 60)).toEqual(['test/core/a.test.ts', 'test/core/b.test.ts', 'test/far.test.ts'])
  expect(chosen([['test/core/b.test.ts', 20_000]], 10)).toEqual(['test/core/a.test.ts', 'test/far.test.ts'])
})

test('what was found is kept until the file changes, and a survivor is judged again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-mutants-'))
  try {
    const path = join(folder, 'results.jsonl')
    const [first, second] = places('large', 2) as [Place, Place]
    const found = openResults(path, true)
    found.add(first, 'source', 'killed')
    found.add(second, 'source', 'survived')
    writeFileSync(path, '["half a li', { flag: 'a' })
    const again = openResults(path, false)
    expect([again.of(first, 'source'), again.of(first, 'other'), again.of(second, 'source')]).toEqual([
      'killed',
      undefined,
      undefined,
    ])
    expect(openResults(path, true).of(first, 'source')).toBeUndefined()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
