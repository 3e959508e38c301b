/** What a catalog's answers say of its names: only a table that loads by its own name tells. */

import { expect, test } from 'bun:test'
import { askNameCase } from '../../src/catalog/ask-name-case.ts'
import { type Catalog, CatalogError } from '../../src/catalog/catalog.ts'

/** A catalog with one namespace without letters, so that only its tables tell. */
function catalogWith(listed: readonly string[], uuidOf: (name: string) => string | undefined): Catalog {
  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  return {
    forward: async () => ({ status: 200, headers: {}, body: json({ namespaces: [['1']] }) }),
    listTables: async () => ({ identifiers: listed.map((name) => ({ namespace: ['1'], name })) }),
    loadTable: async ({ name }: { readonly name: string }) => {
      const uuid = uuidOf(name)
      if (uuid === undefined) throw new CatalogError('ErrTableNotFound', 'There is no such table.')
      const metadata = { 'format-version': 2, 'table-uuid': uuid, location: 'file:///t' }
      return { status: 'loaded', body: json({ 'metadata-location': 'file:///t/m.json', metadata }) }
    },
  } as unknown as Catalog
}
const signal = new AbortController().signal
const id = (name: string) =>
  `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0').slice(-12)}`

test('one that answers to another spelling folds names', async () => {
  expect(
    await askNameCase(
      catalogWith(['orders'], (name) => id(name.toLowerCase())),
      signal,
    ),
  ).toBe('folded')
})

test('one that does not is exact', async () => {
  const exact = catalogWith(['orders'], (name) => (name === 'orders' ? id(name) : undefined))
  expect(await askNameCase(exact, signal)).toBe('exact')
})

test('a table that is listed and cannot be loaded tells nothing: the next one is asked for', async () => {
  const folding = catalogWith(['hive_view', 'orders'], (name) =>
    name.toLowerCase() === 'orders' ? id('orders') : undefined,
  )
  expect(await askNameCase(folding, signal)).toBe('folded')
  expect(
    await askNameCase(
      catalogWith(['hive_view'], () => undefined),
      signal,
    ),
  ).toBe('unknown')
})

test('a list of namespaces that does not end within 100 pages is not read on: then only tables tell', async () => {
  let pages = 0
  const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  const tables = catalogWith(['orders'], (name) => (name === 'orders' ? id(name) : undefined))
  const endless = {
    ...tables,
    forward: async () => {
      pages++
      // Another spelling of it may be on a page that is not read.
      return { status: 200, headers: {}, body: json({ namespaces: [['a']], 'next-page-token': 'more' }) }
    },
  } as unknown as Catalog
  expect(await askNameCase(endless, signal)).toBe('exact')
  expect(pages).toBe(100)
})
