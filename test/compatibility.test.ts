/** docs/compatibility.md names only tests that exist, and the documentation names every suite. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suites } from './clients/pins.ts'

const root = join(import.meta.dir, '..')
const page = readFileSync(join(root, 'docs/compatibility.md'), 'utf8')
/** Clients of the read path; test/postgres-compatibility.test.ts looks at what it names. */
const postgresPage = readFileSync(join(root, 'docs/postgres-compatibility.md'), 'utf8')
const files = Object.values(suites).map(({ file }) => readFileSync(join(root, 'test/clients', file), 'utf8'))

const quoted = String.raw`'((?:[^'\\]|\\.)+)'`

/** Names of tests; of a table of tests, one for each row, where its rows are spelled out. */
const named = new Set(
  files.flatMap((text) => [
    ...[...text.matchAll(new RegExp(String.raw`\btest\(\s*${quoted}`, 'g'))].map(([, name = '']) => name),
    ...[
      ...text.matchAll(new RegExp(String.raw`test\.each\(\[([\s\S]*?)\](?: as const)?\)\(\s*${quoted}`, 'g')),
    ].flatMap(([, rows = '', name = '']) =>
      [...rows.matchAll(/(?:^\s*\[|^|, )'(\w+)'/gm)].map(([, row = '']) => name.replace('%s', row)),
    ),
    ...[
      ...text.matchAll(new RegExp(String.raw`describe\.each\(Object\.entries\(\w+\)\)\(${quoted}`, 'g')),
    ].map(([, name = '']) => name),
  ]),
)
const cells = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:operation|use) /.test(line))
  .flatMap((line) => line.split('|').slice(2, -1))
  .map((cell) => cell.trim())
const references = [
  ...page
    .replaceAll(/\s+/g, ' ')
    .matchAll(
      /`((?:pyiceberg|spark(?:-lineage)?|java|go|catalog|odcs|checks|duckdb|iceberg-js|trino(?:-\w+)?|flink|oauth|otel|helm|compose|deploy|viewer|keycloak|hydra|tlog|rck|nessie|fixture|lineage(?:-producers)?|storage-events|territory-\w+|vending(?:-\w+)?|signing(?:-\w+)?|planning|mcp|transform-\w+|xmla-\w+|engine(?:-pyiceberg)?|nested): [^`]+)`/g,
    ),
]

test('every cell of the tables names a test, or says that there is none', () => {
  expect(cells.length).toBeGreaterThan(80)
  const bare = cells.filter((cell) => !/^(?:none|not run|no, see below|`)/.test(cell))
  expect(bare.filter((cell) => !cell.includes('`'))).toEqual([
    'beta: Nessie 0.99.0',
    'alpha: Iceberg REST fixture 1.11.0',
  ])
})

test('every test that is named is there', () => {
  const missing = references.map(([, name = '']) => name).filter((name) => !named.has(name))
  expect(missing).toEqual([])
})

test('every suite has a test in a document', () => {
  const shown = new Set([
    ...references.map(([, name = '']) => name.split(':')[0]),
    ...[...postgresPage.matchAll(/`([\w-]+)\.clients: [^`]+`/g)].map(([, suite]) => suite),
  ])
  expect(Object.keys(suites).filter((suite) => !shown.has(suite.replace('rest-', '')))).toEqual([])
})
