/** How much of a view one request looks at, so that other requests never wait for all of it. */

import { describe, expect, test } from 'bun:test'
import type { SurfaceRequest } from '../../../src/gateway/client-surface/surface-request.ts'
import { tablesRead, viewBounds } from '../../../src/gateway/client-surface/views.ts'
import { tablesOfView } from '../../../src/query/view-tables.ts'

interface Version {
  readonly sql: string
  readonly namespace?: readonly string[]
}

function viewOf(texts: readonly Version[]) {
  const versions = texts.map(({ sql, namespace = ['n'] }, index) => ({
    ...{ 'version-id': index + 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {} },
    ...{ 'default-namespace': namespace, representations: [{ type: 'sql', sql, dialect: 'spark' }] },
  }))
  const metadata = { 'view-uuid': crypto.randomUUID(), 'current-version-id': 1, versions }
  return { 'metadata-location': 's3://lake/v/1.json', metadata }
}

describe('the tables of a view', () => {
  /** With the texts that were parsed, and the turns of the event loop between them. */
  async function readOf(texts: readonly Version[], signal = new AbortController().signal) {
    const order: string[] = []
    const surface = {
      parts: {
        tablesOfView(text: string, place: Parameters<typeof tablesOfView>[1]) {
          order.push('text')
          setImmediate(() => order.push('turn'))
          return tablesOfView(text, place)
        },
      },
      path: { prefix: 'main' },
      request: { signal },
    } as unknown as SurfaceRequest
    const loaded = new TextEncoder().encode(JSON.stringify(viewOf(texts)))
    const tables = await tablesRead(surface, loaded)
    return { names: tables?.map(({ namespace, name }) => [...namespace, name].join('.')), order }
  }
  const many = (count: number, sqlOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({ sql: sqlOf(index) }))

  test('are each found once, and a text that many versions have is parsed once', async () => {
    const same = many(1_000, () => `SELECT a, '${'x'.repeat(1_000)}' FROM t JOIN t AS u ON true`)
    const { names, order } = await readOf([...same, { sql: 'SELECT b FROM t JOIN u ON true' }])
    expect(names).toEqual(['n.t', 'n.u'])
    expect(order.filter((one) => one === 'text')).toHaveLength(2)
  })

  test('are those of every namespace in which the same text stands', async () => {
    const sql = 'SELECT a FROM t'
    const { names } = await readOf([{ sql }, { sql, namespace: ['m'] }])
    expect(names).toEqual(['n.t', 'm.t'])
  })

  test('are found in turns of the event loop, a text in each', async () => {
    const { order } = await readOf(many(3, (index) => `SELECT ${index} FROM t`))
    expect(order).toEqual(['text', 'turn', 'text', 'turn', 'text'])
  })

  test('are no longer looked for once the caller is gone', async () => {
    const gone = new AbortController()
    gone.abort(new Error('the caller is gone'))
    const read = readOf(
      many(1, () => 'SELECT a FROM t'),
      gone.signal,
    )
    await expect(read).rejects.toThrow('the caller is gone')
  })

  const { textsMax, charsMax, tablesMax, namespaceCharsMax } = viewBounds
  const padded = (chars: number) =>
    [Math.floor(chars / 2), Math.ceil(chars / 2)].map((each, index) => {
      const text = `SELECT '', ${index} FROM t`
      return { sql: text.replace("''", `'${'x'.repeat(each - text.length)}'`) }
    })
  const wide = (count: number) => [
    { sql: `SELECT 1 FROM ${Array.from({ length: count }, (_, index) => `t${index}`).join(', ')}` },
  ]
  const placed = (chars: number) => [{ sql: 'SELECT a FROM t', namespace: ['x'.repeat(chars)] }]
  test.each([
    ['texts', textsMax, (count: number) => many(count, (index) => `SELECT ${index} FROM t`)],
    ['characters', charsMax, padded],
    ['tables', tablesMax, wide],
    ['characters of a namespace', namespaceCharsMax, placed],
  ])('are found up to a number of %s, and none of more than that is parsed on', async (_, max, texts) => {
    expect((await readOf(texts(max))).names).toBeDefined()
    expect((await readOf(texts(max + 1))).names).toBeUndefined()
  })

  test('are those of no text where one of many is not understood', async () => {
    expect((await readOf([{ sql: 'SELECT a FROM t' }, { sql: 'SELECT a FROM' }])).names).toBeUndefined()
  })
})
