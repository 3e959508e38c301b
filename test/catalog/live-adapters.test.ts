/** The alpha and beta adapters against the development catalog, over real HTTP. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Catalog } from '../../src/catalog/catalog.ts'
import { appendBody, startTestCatalog, type TestCatalog } from '../demo/dev-catalog-client.ts'
import { openTestCatalog, rejection } from './upstream.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe.each(['alpha', 'beta'] as const)('the %s adapter', (kind) => {
  let upstream: TestCatalog
  let catalog: Catalog
  let tables = 0

  beforeAll(async () => {
    upstream = await startTestCatalog({ dialect: kind, credential: 'id:secret' })
    catalog = open()
  })
  afterAll(async () => {
    catalog.close()
    await upstream.remove()
  })

  function open(config: Record<string, unknown> = {}): Catalog {
    const token = kind === 'beta' ? { 'oauth2-server-uri': upstream.tokenUrl } : {}
    return openTestCatalog(upstream.url, { kind, config: { credential: 'id:secret', ...token, ...config } })
  }

  async function newTable() {
    const name = `t${++tables}`
    await upstream.createTable('n', name)
    return { namespace: ['n'], name }
  }

  test('lists tables page by page', async () => {
    for (const name of ['a', 'b', 'c']) await upstream.createTable('pages', name)
    const first = await catalog.listTables(['pages'], { pageSize: 2 })
    expect(first.identifiers.map(({ name }) => name)).toEqual(['a', 'b'])
    const { nextPageToken } = first
    const second = await catalog.listTables(['pages'], { pageSize: 2, pageToken: nextPageToken })
    expect(second).toEqual({ identifiers: [{ namespace: ['pages'], name: 'c' }] })
    expect((await catalog.listTables(['pages'])).identifiers).toHaveLength(3)
  })

  test('commits and loads the very bytes of the upstream, ids above 2^53 included', async () => {
    const table = await newTable()
    const snapshotId = 2n ** 63n - 2n
    const committed = await catalog.commitTable(table, encode(appendBody({ snapshotId })))
    expect(committed.status).toBe(200)
    expect(decode(committed.body)).toContain(`"current-snapshot-id":${snapshotId}`)
    expect(committed.result.metadata.get('current-snapshot-id')).toBe(snapshotId)
    const loaded = await catalog.loadTable(table)
    expect(loaded).toMatchObject({ status: 'loaded', body: committed.body })
    const summary = await catalog.getTable(table)
    expect(summary).toMatchObject({ table, currentSnapshotId: snapshotId })
    expect(summary.metadataLocation).toBe(committed.result.metadataLocation)
  })

  test('commits several tables in one request, all or none', async () => {
    const both = [await newTable(), await newTable()]
    const locations = () =>
      Promise.all(both.map(async (table) => (await catalog.getTable(table)).metadataLocation))
    const before = await locations()
    const bodyOf = (requirements: readonly unknown[]) => {
      const updates = [{ action: 'set-properties', updates: { a: '1' } }]
      const [first, second] = both.map((identifier) => ({ identifier, requirements: [], updates }))
      return encode(JSON.stringify({ 'table-changes': [first, { ...second, requirements }] }))
    }
    const moved = [{ type: 'assert-table-uuid', uuid: crypto.randomUUID() }]
    expect(await rejection(catalog.commitTables(both, bodyOf(moved)))).toMatchObject({
      code: 'ErrCommitConflict',
    })
    expect(await locations()).toEqual(before)
    await catalog.commitTables(both, bodyOf([]))
    const after = await locations()
    expect(after.filter((location) => before.includes(location))).toEqual([])
  })

  test('says that multi-table commits are atomic as its configuration does', () => {
    for (const atomic of [true, false])
      expect(open({ atomic_transactions: atomic }).capabilities().atomicTransactions).toBe(atomic)
    expect(() => open({ atomic_transactions: 'true' })).toThrow('atomic_transactions must be true or false')
  })

  test('loads conditionally where the upstream has ETags', async () => {
    const table = await newTable()
    const first = await catalog.loadTable(table, { snapshots: 'refs' })
    const etag = first.status === 'loaded' ? first.etag : undefined
    expect(etag !== undefined).toBe(kind === 'alpha')
    const again = await catalog.loadTable(table, { snapshots: 'refs', ifNoneMatch: etag ?? '"none"' })
    expect(again.status).toBe(kind === 'alpha' ? 'not-modified' : 'loaded')
    const committed = await catalog.commitTable(table, encode(appendBody({ snapshotId: 1n })))
    expect(committed.headers.etag !== undefined).toBe(kind === 'alpha')
    const changed = await catalog.loadTable(table, { snapshots: 'refs', ifNoneMatch: etag })
    expect(changed.status).toBe('loaded')
  })

  test('expires snapshots, ids above 2^53 included', async () => {
    const table = await newTable()
    const [one, two] = [2n ** 60n + 1n, 2n ** 60n + 2n]
    await catalog.commitTable(table, encode(appendBody({ snapshotId: one })))
    await catalog.commitTable(
      table,
      encode(appendBody({ snapshotId: two, parentId: one, sequenceNumber: 2 })),
    )
    const expired = await catalog.expireSnapshots(table, [one])
    expect(decode(expired.body)).not.toContain(`"snapshot-id":${one},`)
    expect((await catalog.getTable(table)).currentSnapshotId).toBe(two)
  })

  test('says ErrTableNotFound for a table, and for a namespace, that is not there', async () => {
    const table = await newTable()
    for (const missing of [
      { ...table, name: 'none' },
      { ...table, namespace: ['none'] },
    ]) {
      const calls = [
        () => catalog.loadTable(missing),
        () => catalog.getTable(missing),
        () => catalog.commitTable(missing, encode('{"requirements":[],"updates":[]}')),
        () => catalog.expireSnapshots(missing, [1n]),
      ]
      for (const call of calls) expect(await rejection(call())).toMatchObject({ code: 'ErrTableNotFound' })
    }
    expect(await rejection(catalog.listTables(['none']))).toMatchObject({ code: 'ErrTableNotFound' })
  })

  test('says ErrCommitConflict, and why, where the table has moved on', async () => {
    const table = await newTable()
    await catalog.commitTable(table, encode(appendBody({ snapshotId: 1n })))
    const thrown = await rejection(catalog.commitTable(table, encode(appendBody({ snapshotId: 2n }))))
    expect(thrown).toMatchObject({
      code: 'ErrCommitConflict',
      upstream: { status: 409, type: 'CommitFailedException' },
    })
    expect((thrown as Error).message).toContain('Requirement failed')
  })

  test('passes on why the upstream refused a commit', async () => {
    const table = await newTable()
    const thrown = await rejection(catalog.commitTable(table, encode('{"requirements":7,"updates":[]}')))
    expect(thrown).toMatchObject({ kind: 'upstream_failed' })
    expect((thrown as Error).message).toContain('answered 400')
    expect((thrown as Error).message).toContain('requirements')
  })

  test('renews a token that the upstream stopped taking', async () => {
    const table = await newTable()
    await catalog.getTable(table)
    upstream.faults.reset()
    upstream.faults.expireTokens()
    await Promise.all(Array.from({ length: 8 }, () => catalog.getTable(table)))
    expect(upstream.faults.counts.token).toBe(1)
    upstream.faults.expireTokens()
    expect((await catalog.commitTable(table, encode(appendBody({ snapshotId: 1n })))).status).toBe(200)
  })

  test('says ErrCredentialsExpired for client credentials that are refused, without naming them', async () => {
    const thrown = await rejection(open({ credential: 'id:hunter2' }).getTable(await newTable()))
    expect(thrown).toMatchObject({ code: 'ErrCredentialsExpired' })
    expect(Bun.inspect(thrown)).not.toContain('hunter2')
  })

  test('asks for the configuration once, also under concurrent first calls', async () => {
    const table = await newTable()
    upstream.faults.reset()
    const fresh = open()
    await Promise.all(Array.from({ length: 8 }, () => fresh.getTable(table)))
    await fresh.getTable(table)
    expect(upstream.faults.counts.config).toBe(1)
    expect(upstream.faults.counts.token).toBe(1)
  })

  test('tells a failed configuration and asks again', async () => {
    const table = await newTable()
    upstream.faults.reset()
    upstream.faults.add({ operation: 'config', effect: 'fail', status: 503 })
    const fresh = open()
    expect(await rejection(fresh.getTable(table))).toMatchObject({ kind: 'upstream_failed' })
    expect(await fresh.getTable(table)).toMatchObject({ table })
  })

  test('names the warehouse as the problem where the upstream does not know it', async () => {
    const thrown = await rejection(open({ warehouse: 'other' }).getTable(await newTable()))
    expect(thrown).toMatchObject({ kind: 'upstream_failed' })
    expect((thrown as Error).message).toContain('Unable to find warehouse')
  })

  test('refuses a namespace deeper than its kind allows before anything is sent', async () => {
    upstream.faults.reset()
    const namespace = new Array(catalog.capabilities().namespaceDepthMax + 1).fill('n')
    expect(await rejection(catalog.loadTable({ namespace, name: 't' }))).toMatchObject({
      kind: 'bad_request',
    })
    expect(await rejection(catalog.listTables(namespace))).toMatchObject({ kind: 'bad_request' })
    expect(Object.values(upstream.faults.counts).every((count) => count === 0)).toBe(true)
  })

  describe('a commit whose fate is uncertain', () => {
    const failures = [
      [{ effect: 'drop-before' }, 0],
      [{ effect: 'drop-after' }, 1],
      [{ effect: 'fail', status: 500 }, 0],
      [{ effect: 'fail', status: 503 }, 0],
      [{ effect: 'fail', status: 408 }, 0],
    ] as const
    test.each(failures)('is commit_unknown after %j, and is not sent again', async (failure, snapshots) => {
      const table = await newTable()
      await catalog.getTable(table)
      upstream.faults.reset()
      upstream.faults.add({ operation: 'commit', ...failure })
      const thrown = await rejection(catalog.commitTable(table, encode(appendBody({ snapshotId: 1n }))))
      expect(thrown).toMatchObject({ kind: 'commit_unknown' })
      expect((thrown as Error).message).toContain(`n.${table.name}`)
      expect(upstream.faults.counts.commit).toBe(1)
      expect((await catalog.getTable(table)).currentSnapshotId !== undefined).toBe(snapshots === 1)
    })
  })
})

test('alpha takes nested namespaces', async () => {
  const upstream = await startTestCatalog()
  try {
    await upstream.createTable('a\u001fb', 't')
    const table = { namespace: ['a', 'b'], name: 't' }
    expect(await openTestCatalog(upstream.url).getTable(table)).toMatchObject({ table })
  } finally {
    await upstream.remove()
  }
})

test('beta reads the branch of its configuration; a missing branch has no tables', async () => {
  const upstream = await startTestCatalog({ dialect: 'beta' })
  try {
    await upstream.createTable('n', 't')
    const table = { namespace: ['n'], name: 't' }
    const on = (branch: string) => openTestCatalog(upstream.url, { kind: 'beta', config: { branch } })
    expect(await on('main').getTable(table)).toMatchObject({ table })
    expect(await rejection(on('dev').getTable(table))).toMatchObject({
      code: 'ErrTableNotFound',
      upstream: { status: 400, type: 'NoSuchReferenceException' },
    })
  } finally {
    await upstream.remove()
  }
})

test('a commit that finds nobody listening was surely not made', async () => {
  const upstream = await startTestCatalog()
  await upstream.createTable('n', 't')
  const table = { namespace: ['n'], name: 't' }
  const catalog = openTestCatalog(upstream.url)
  await catalog.getTable(table)
  await upstream.remove()
  const thrown = await rejection(catalog.commitTable(table, encode(appendBody({ snapshotId: 1n }))))
  expect(thrown).toMatchObject({ kind: 'upstream_failed' })
  expect((thrown as Error).message).toContain('cannot be reached')
})
