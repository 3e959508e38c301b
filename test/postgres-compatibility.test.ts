/** Every row of docs/postgres-compatibility.md names the test that shows it, and each of these tests exists. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const page = readFileSync(join(root, 'docs/postgres-compatibility.md'), 'utf8')

/** How the page calls a file of tests: `flows`, `catalog/service`, `wire/scram`, `query/run`, `pgwire.clients`. */
const places = {
  'test/server/pgwire': '',
  'test/wire/postgres': 'wire/',
  'test/query': 'query/',
  'test/clients': '',
  'test/base': 'base/',
}

const quoted = String.raw`(?:'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)"|\u0060((?:[^\u0060\\]|\\.)+)\u0060)`
const heads = new RegExp(
  String.raw`^( *)(describe|test)(?:\.skipIf\(.*?\))?(?:\.each(?:<.*>)?\((?:[^']|'[^']*')*?\))?\(\s*${quoted}`,
  'gm',
)

/** `file: describe test`, what a table fills in as … */
function namesIn(file: string, text: string): readonly string[] {
  const names: string[] = []
  let group = ''
  for (const [, indent = '', kind, ...texts] of text.matchAll(heads)) {
    const name = (texts.find((each) => typeof each === 'string') ?? '')
      .replaceAll(/%[sdipj]|\$\{[^}]*\}/g, '…')
      .replaceAll("\\'", "'")
    if (kind === 'describe') group = name
    else names.push(`${file}: ${indent === '' ? name : `${group} ${name}`}`.replaceAll('\\\\', '\\'))
  }
  return names
}

const named = new Set(
  Object.entries(places).flatMap(([folder, prefix]) =>
    [...new Bun.Glob('**/*.{test,walks,clients}.ts').scanSync({ cwd: join(root, folder) })].flatMap((path) =>
      namesIn(
        `${prefix}${path.replace(/(?:\.(?:test|walks))?\.ts$/, '')}`,
        readFileSync(join(root, folder, path), 'utf8'),
      ),
    ),
  ),
)

const cited = (text: string) => [...text.matchAll(/`([\w./-]+: [^`]+)`/g)].map(([, name = '']) => name)

test('every test that is named is there', () => {
  const names = cited(page)
  expect(names.length).toBeGreaterThan(60)
  expect(names.filter((name) => !named.has(name))).toEqual([])
})

test('every row of a table of features, tools or limits names a test', () => {
  const tables = page.split(/\n\n/).filter((block) => /^\|.*Shown by \|\n/.test(block))
  expect(tables.length).toBe(6)
  const rows = tables.flatMap((table) => table.trim().split('\n').slice(2))
  expect(rows.filter((row) => cited(row.split('|').at(-2) ?? '').length === 0)).toEqual([])
})

test('every file of tests of the wire server is named', () => {
  const files = new Set([...named].map((name) => name.split(':')[0] ?? ''))
  const shown = new Set(cited(page).map((name) => name.split(':')[0]))
  const others =
    /^(?:query|base)\/|^(?!pgwire|superset|data-quality|drivers|libreoffice|pgbouncer).*\.clients$/
  const wire = [...files].filter((file) => !others.test(file))
  expect(wire.filter((file) => !shown.has(file))).toEqual([])
})
