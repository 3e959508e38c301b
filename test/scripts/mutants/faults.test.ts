/** scripts/mutants/faults.ts on small texts. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { faultsOf } from '../../../scripts/mutants/faults.ts'
import { parseFiles } from '../../../scripts/mutants/parse-files.ts'

setDefaultTimeout(60_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-faults-'))
afterAll(() => rmSync(folder, { recursive: true }))

const cases: readonly (readonly [what: string, source: string, faulty: readonly string[]])[] = [
  ['a boundary', 'f = a > b', ['f = a >= b']],
  ['a comparison', 'f = a === b', ['f = a !== b']],
  ['a condition', 'f = a && b', ['f = a', 'f = b']],
  ['an alternative', 'f = a || b', ['f = a', 'f = b']],
  ['a negation', 'f = !a', ['f = a']],
  ['a choice', 'f = a ? b : c', ['f = b', 'f = c']],
  ['an array', "f = ['a', 'b', 'c']", ["f = ['b', 'c']", "f = ['a', 'c']", "f = ['a', 'b']"]],
  ['a table', 'const f = { a: b, c: d }', ['const f = { c: d }', 'const f = { a: b }']],
  ['an answer, which is no table', 'const f = () => ({ a: b })', []],
  ['a number', 'f = 1_000', ['f = 1001']],
  ['a truth', 'f = true', ['f = false']],
  ['arguments', 'f = g(a, b.c)', ['f = g(b.c, a)']],
  ['a call for its effect', 'assertOpen(a)', ['']],
  ['a call that narrows', 'f = a.filter(b)', ['f = a']],
  ['a call that has an opposite', 'f = a.some(b)', ['f = a.every(b)']],
  ['a prefix', "f = a.startsWith('b')", ["f = a.startsWith('b~')"]],
  ['an early answer', 'if (a) throw b', ['if (!(a)) throw b', '{}']],
  ['types, which decide nothing', 'type A = 1 | true', []],
  ['a message, which decides nothing', "f = new Fault('a', [b, c])", []],
]

const paths = cases.map((_, index) => join(folder, `case-${index}.ts`))
for (const [index, [, source]] of cases.entries()) writeFileSync(paths[index] ?? '', source)
const trees = await parseFiles(paths)

test.each(cases)('makes the faults of %s', (_, source, faulty) => {
  const tree = trees.get(paths[cases.findIndex(([, text]) => text === source)] ?? '')
  if (tree === undefined) throw new Error('the case was not parsed')
  const made = faultsOf(tree).map(({ start, end, text }) => source.slice(0, start) + text + source.slice(end))
  expect(made.toSorted()).toEqual([...faulty].toSorted())
})

test('a file that is not there is told', async () => {
  const thrown = await parseFiles([join(folder, 'nowhere.ts')]).catch(String)
  expect(thrown).toContain('nowhere.ts could not be read')
})
