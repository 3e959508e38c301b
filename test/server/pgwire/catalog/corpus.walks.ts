/** Queries of tools about the catalog get the results of a real PostgreSQL 18 over the same tables. */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { fingerprintSync, loadModule } from 'libpg-query'
import { comparable, messagesFor, startPair, withOids } from './compare.ts'
import { readCorpus } from './corpus.ts'

setDefaultTimeout(300_000)
await loadModule()

/** Where rows differ, and why; columns and errors are the same all the same. */
const deviations: readonly (readonly [text: RegExp, reason: string])[] = [
  [/\bversion\(\)|server_version_num/i, 'clients are told a version of their own'],
  [/pg_stat_activity|pg_stat_gssapi|pg_backend_pid\(\)$/i, 'sessions are those of the wire server'],
  [/datname as name|db\.oid|d\.datcollate/i, "the database's OID, collation and size are its own"],
  [
    /^SELECT\s+attrelid,\s+attname,\s+atttypid\s+FROM\s+pg_catalog.pg_attribute\s+ORDER BY/,
    'no TOAST tables',
  ],
  [/SYSTEM TOAST INDEX|'TOAST table'/, 'no TOAST tables'],
  [/^select c from pg_class c limit 1/, 'which row comes first is not said'],
  [/t\.typcategory, c\.relkind, format_type/, 'internal types are of 32 bits'],
  [/AS NON_UNIQUE|"NON_UNIQUE"/, 'indexes have no pages'],
  [/spcname AS "Name"/, 'sizes'],
  [/p\.prorettype::regtype != 'trigger'/, 'all functions, the hidden ones of ours among them'],
  [/s\.source <> 'default'/, 'what was configured'],
  [/TABLES\.RELNAME::INFORMATION_SCHEMA/, 'transaction ids, TOAST tables'],
]
const isDeviation = (text: string) => deviations.some(([pattern]) => pattern.test(text))

const corpus = readCorpus()
const pair = await startPair()
afterAll(() => pair?.stop())

test('the corpus has 300 queries that differ by fingerprint, of tools that it names', () => {
  const fingerprints = corpus.map(({ text }) => fingerprintSync(text.replace(/\{oid:[^}]+\}/g, '1')))
  expect(new Set(fingerprints).size).toBe(corpus.length)
  expect(corpus.length).toBeGreaterThanOrEqual(300)
  expect(new Set(corpus.map(({ tool }) => tool)).size).toBeGreaterThanOrEqual(30)
})

// Skipped where the platform has no PostgreSQL binaries.
describe.skipIf(pair === undefined).each([...new Set(corpus.map(({ tool }) => tool))])('%s', (tool) => {
  test.each(
    corpus
      .filter((query) => query.tool === tool)
      .map(({ text }, index) => [index + 1, text.replaceAll(/\s+/g, ' ').slice(0, 60), text] as const),
  )('is answered as PostgreSQL answers, query %i: %s', async (_, __, text) => {
    if (pair === undefined) return
    const [catalog, real] = await Promise.all(
      [pair.catalog, pair.real].map(async (side) =>
        comparable(await side.send(messagesFor(withOids(text, side))), side),
      ),
    )
    expect(pair.covers(withOids(text, pair.catalog))).toBe('catalog')
    if (!isDeviation(text)) expect(catalog).toEqual(real)
    else expect({ ...catalog, rows: [] }).toEqual({ ...real, rows: [] })
  })
})
