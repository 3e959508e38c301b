import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFaults } from '../../demo/catalog/faults.ts'
import { appendBody, createTableBody, startTestCatalog, type TestCatalog } from './dev-catalog-client.ts'

let catalog: TestCatalog
let tables = 0

beforeAll(async () => {
  catalog = await startTestCatalog()
})
afterAll(() => catalog.remove())

/** A new table and its path. */
async function newTable(): Promise<{ name: string; path: string }> {
  const name = `t${++tables}`
  await catalog.createTable('n', name)
  return { name, path: `/namespaces/n/tables/${name}` }
}

interface Result {
  'metadata-location': string
  metadata: {
    'table-uuid': string
    'last-column-id': number
    'current-snapshot-id': unknown
    schemas: { fields: { id: number; name: string; type: unknown }[] }[]
    'partition-specs': { fields: { 'source-id': number }[] }[]
    snapshots?: unknown[]
    'metadata-log'?: { 'metadata-file': string }[]
    properties: Record<string, string>
  }
}

async function load(path: string): Promise<Result> {
  return (await catalog.request('GET', path)).json() as Promise<Result>
}

async function errorOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { type: string; code: number } }
  expect(error.code).toBe(response.status)
  return `${response.status} ${error.type}`
}

describe('tables', () => {
  test('are created with fresh field ids that partition sources follow', async () => {
    const { metadata } = await load((await newTable()).path)
    expect(metadata.schemas[0]?.fields.map(({ id }) => id)).toEqual([1, 2])
    expect(metadata['last-column-id']).toBe(2)
    expect(metadata['partition-specs'][0]?.fields[0]?.['source-id']).toBe(2)
  })

  test('number nested fields level by level, as Iceberg does', async () => {
    const struct = (...fields: unknown[]) => ({ type: 'struct', fields })
    const field = (name: string, type: unknown) => ({ id: 0, name, type, required: false })
    const list = {
      type: 'list',
      'element-id': 0,
      element: struct(field('e', 'int')),
      'element-required': false,
    }
    const map = {
      type: 'map',
      'key-id': 0,
      key: 'string',
      'value-id': 0,
      value: 'int',
      'value-required': false,
    }
    const schema = struct(field('a', list), field('b', map), field('c', struct(field('d', 'int'))))
    await catalog.request('POST', '/namespaces', { namespace: ['n'] })
    await catalog.request('POST', '/namespaces/n/tables', { name: 'nested', schema })
    const { metadata } = await load('/namespaces/n/tables/nested')
    expect(metadata.schemas[0]?.fields.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(metadata.schemas[0]?.fields).toMatchObject([
      { type: { 'element-id': 4, element: { fields: [{ id: 5 }] } } },
      { type: { 'key-id': 6, 'value-id': 7 } },
      { type: { fields: [{ id: 8 }] } },
    ])
  })

  test('that exist, or whose namespace does not, are refused', async () => {
    const { name } = await newTable()
    const again = await catalog.request('POST', '/namespaces/n/tables', createTableBody(name))
    expect(await errorOf(again)).toBe('409 AlreadyExistsException')
    const nowhere = await catalog.request('POST', '/namespaces/nowhere/tables', createTableBody('t'))
    expect(await errorOf(nowhere)).toBe('404 NoSuchNamespaceException')
  })

  test('exist, are listed in pages, renamed, dropped and registered again', async () => {
    await catalog.createTable('pages', 'a')
    for (const name of ['b', 'c']) await catalog.createTable('pages', name)
    const names = async (query: string) => {
      const page = (await (await catalog.request('GET', `/namespaces/pages/tables${query}`)).json()) as {
        identifiers: { name: string }[]
        'next-page-token'?: string
      }
      return [page.identifiers.map(({ name }) => name).join(), page['next-page-token']]
    }
    expect(await names('')).toEqual(['a,b,c', undefined])
    expect(await names('?pageToken=&pageSize=2')).toEqual(['a,b', 'b'])
    expect(await names('?pageToken=b&pageSize=2')).toEqual(['c', undefined])

    const location = (await load('/namespaces/pages/tables/a'))['metadata-location']
    const id = (name: string) => ({ namespace: ['pages'], name })
    const rename = await catalog.request('POST', '/tables/rename', { source: id('a'), destination: id('d') })
    expect(rename.status).toBe(204)
    expect(await names('')).toEqual(['b,c,d', undefined])
    const commit = async (name: string) =>
      await catalog.request('POST', `/namespaces/pages/tables/${name}`, {
        requirements: [],
        updates: [{ action: 'set-properties', updates: { owner: name } }],
      })
    expect((await commit('d')).status).toBe(200)
    const taken = await catalog.request('POST', '/tables/rename', { source: id('b'), destination: id('d') })
    expect(await errorOf(taken)).toBe('409 AlreadyExistsException')
    expect((await catalog.request('DELETE', '/namespaces/pages/tables/d')).status).toBe(204)
    expect((await catalog.request('HEAD', '/namespaces/pages/tables/d')).status).toBe(404)
    const body = { name: 'e', 'metadata-location': location }
    expect((await catalog.request('POST', '/namespaces/pages/register', body)).status).toBe(200)
    expect((await load('/namespaces/pages/tables/e'))['metadata-location']).toBe(location)
    expect((await catalog.request('HEAD', '/namespaces/pages/tables/e')).status).toBe(204)
    expect((await commit('e')).status).toBe(200)
  })

  test.each([
    'file:///etc/passwd',
    '/etc/passwd',
    's3://b/x.metadata.json',
    'file:///x/../etc/a.metadata.json',
  ])('cannot be registered from %p', async (location) => {
    await catalog.request('POST', '/namespaces', { namespace: ['n'] })
    const body = { name: 'evil', 'metadata-location': location }
    expect((await catalog.request('POST', '/namespaces/n/register', body)).status).toBe(400)
  })

  test('staged for creation exist only once a commit asserts the creation', async () => {
    await newTable()
    const body = { ...createTableBody('staged'), 'stage-create': true }
    const staged = (await (await catalog.request('POST', '/namespaces/n/tables', body)).json()) as Result
    expect(staged['metadata-location']).toBeUndefined()
    expect((await catalog.request('HEAD', '/namespaces/n/tables/staged')).status).toBe(404)
    const { metadata } = staged
    const commit = {
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: metadata['table-uuid'] },
        { action: 'add-schema', schema: metadata.schemas[0] },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'add-spec', spec: metadata['partition-specs'][0] },
        { action: 'set-default-spec', 'spec-id': -1 },
        { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
        { action: 'set-location', location: 'file:///somewhere' },
      ],
    }
    expect((await catalog.request('POST', '/namespaces/n/tables/staged', commit)).status).toBe(200)
    const again = await catalog.request('POST', '/namespaces/n/tables/staged', commit)
    expect(again.status).toBe(409)
    const uncreated = await catalog.request('POST', '/namespaces/n/tables/unborn', {
      requirements: [],
      updates: [],
    })
    expect(await errorOf(uncreated)).toBe('404 NoSuchTableException')
  })
})

describe('commits', () => {
  test('write one metadata file each and log the one before', async () => {
    const { path } = await newTable()
    const before = await load(path)
    const response = await catalog.request('POST', path, appendBody({ snapshotId: 7n }))
    expect(response.status).toBe(200)
    const after = (await response.json()) as Result
    expect(after['metadata-location']).not.toBe(before['metadata-location'])
    expect(after.metadata['metadata-log']).toMatchObject([{ 'metadata-file': before['metadata-location'] }])
    const file = await readFile(fileURLToPath(after['metadata-location']), 'utf8')
    expect(JSON.parse(file)).toEqual(after.metadata)
    expect(await load(path)).toEqual(after)
  })

  test('remove the metadata files that the log names no more, where the table asks for it', async () => {
    const { path } = await newTable()
    const set = async (updates: Record<string, string>) => {
      const body = { requirements: [], updates: [{ action: 'set-properties', updates }] }
      return (await (await catalog.request('POST', path, body)).json()) as Result
    }
    const kept = await set({ 'write.metadata.previous-versions-max': '2' })
    await set({ 'write.metadata.delete-after-commit.enabled': 'true' })
    await set({ n: '1' })
    const last = await set({ n: '2' })
    const logged = last.metadata['metadata-log']?.map((entry) => entry['metadata-file']) ?? []
    expect(logged).toHaveLength(2)
    for (const location of [...logged, last['metadata-location']])
      expect(await Bun.file(fileURLToPath(location)).exists()).toBe(true)
    expect(logged).not.toContain(kept['metadata-location'])
    expect(await Bun.file(fileURLToPath(kept['metadata-location'])).exists()).toBe(false)
  })

  test('keep snapshot ids above 2^53 to the last digit', async () => {
    const { path } = await newTable()
    const snapshotId = 9_223_372_036_854_775_807n
    const committed = await (await catalog.request('POST', path, appendBody({ snapshotId }))).text()
    expect(committed).toContain(`"current-snapshot-id":${snapshotId}`)
    expect(await (await catalog.request('GET', path)).text()).toBe(committed)
  })

  test('whose requirement fails are conflicts that change nothing', async () => {
    const { path } = await newTable()
    await catalog.request('POST', path, appendBody({ snapshotId: 7n }))
    const before = await load(path)
    const stale = await catalog.request('POST', path, appendBody({ snapshotId: 8n }))
    expect(await errorOf(stale)).toBe('409 CommitFailedException')
    expect(await load(path)).toEqual(before)
  })

  test('that race for the same base: exactly one wins', async () => {
    const { path } = await newTable()
    const racers = Array.from({ length: 16 }, (_, i) =>
      catalog.request('POST', path, appendBody({ snapshotId: BigInt(i + 1) })),
    )
    const statuses = (await Promise.all(racers)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(15)
    expect((await load(path)).metadata.snapshots).toHaveLength(1)
  })

  test.each([
    '{',
    '[]',
    '{"requirements":[{"type":"assert-nonsense"}],"updates":[]}',
    '{"requirements":[],"updates":[{"action":"x"}]}',
  ])('that make no sense are refused: %p', async (body) => {
    const { path } = await newTable()
    expect(await errorOf(await catalog.request('POST', path, body))).toBe('400 BadRequestException')
  })

  test('of several tables happen together or not at all', async () => {
    const [a, b] = [await newTable(), await newTable()]
    const change = (name: string, value: string, uuid?: string) => ({
      identifier: { namespace: ['n'], name },
      requirements: uuid === undefined ? [] : [{ type: 'assert-table-uuid', uuid }],
      updates: [{ action: 'set-properties', updates: { owner: value } }],
    })
    const wrong = crypto.randomUUID()
    const refused = await catalog.request('POST', '/transactions/commit', {
      'table-changes': [change(a.name, 'x'), change(b.name, 'x', wrong)],
    })
    expect(refused.status).toBe(409)
    expect((await load(a.path)).metadata.properties.owner).toBeUndefined()
    const made = await catalog.request('POST', '/transactions/commit', {
      'table-changes': [change(a.name, 'y'), change(b.name, 'z')],
    })
    expect(made.status).toBe(204)
    expect((await load(a.path)).metadata.properties.owner).toBe('y')
    expect((await load(b.path)).metadata.properties.owner).toBe('z')
  })
})

describe('loads', () => {
  test('are conditional on the metadata location', async () => {
    const { path } = await newTable()
    const etag = (await catalog.request('GET', path)).headers.get('etag') ?? ''
    const same = await catalog.request('GET', path, undefined, { 'if-none-match': etag })
    expect(same.status).toBe(304)
    await catalog.request('POST', path, appendBody({ snapshotId: 7n }))
    const changed = await catalog.request('GET', path, undefined, { 'if-none-match': etag })
    expect(changed.status).toBe(200)
  })

  test('have an ETag for each snapshots that is asked for, and a commit that of all', async () => {
    const { path } = await newTable()
    const commit = await catalog.request('POST', path, appendBody({ snapshotId: 7n }))
    const etags = await Promise.all(
      ['', '?snapshots=refs', '?snapshots=all'].map(async (query) => {
        const answer = await catalog.request('GET', `${path}${query}`)
        return answer.headers.get('etag')
      }),
    )
    expect(new Set(etags).size).toBe(3)
    expect(etags[2]).toBe(commit.headers.get('etag'))
  })

  test('with snapshots=refs leave out what no ref names', async () => {
    const { path } = await newTable()
    await catalog.request('POST', path, appendBody({ snapshotId: 1n }))
    await catalog.request('POST', path, appendBody({ snapshotId: 2n, parentId: 1n, sequenceNumber: 2 }))
    expect((await load(path)).metadata.snapshots).toHaveLength(2)
    expect((await load(`${path}?snapshots=refs`)).metadata.snapshots).toMatchObject([{ 'snapshot-id': 2 }])
  })
})

test('namespaces nest, hold properties, and are dropped only when empty', async () => {
  const create = (namespace: string[]) =>
    catalog.request('POST', '/namespaces', { namespace, properties: { a: '1' } })
  expect((await create(['outer'])).status).toBe(200)
  expect((await create(['outer', 'inner'])).status).toBe(200)
  expect(await errorOf(await create(['outer']))).toBe('409 AlreadyExistsException')
  const listed = await (await catalog.request('GET', '/namespaces?parent=outer')).json()
  expect(listed).toEqual({ namespaces: [['outer', 'inner']] })
  const change = { removals: ['a', 'z'], updates: { b: '2' } }
  const changed = await catalog.request('POST', '/namespaces/outer%1Finner/properties', change)
  expect(await changed.json()).toEqual({ updated: ['b'], removed: ['a'], missing: ['z'] })
  const loaded = await (await catalog.request('GET', '/namespaces/outer%1Finner')).json()
  expect(loaded).toEqual({ namespace: ['outer', 'inner'], properties: { b: '2' } })
  expect(await errorOf(await catalog.request('DELETE', '/namespaces/outer'))).toBe(
    '409 NamespaceNotEmptyException',
  )
  expect((await catalog.request('DELETE', '/namespaces/outer%1Finner')).status).toBe(204)
  expect((await catalog.request('HEAD', '/namespaces/outer%1Finner')).status).toBe(404)
})

test('refuses namespaces that cannot be folders', async () => {
  for (const level of ['..', '.', '', 'a\u001fb', 'x'.repeat(300)])
    expect((await catalog.request('POST', '/namespaces', { namespace: [level] })).status).toBe(400)
})

test('state survives a restart, to the byte', async () => {
  const first = await startTestCatalog()
  await first.createTable('n\u001fm', 't')
  const path = '/namespaces/n%1Fm/tables/t'
  const committed = await (
    await first.request('POST', path, appendBody({ snapshotId: 2n ** 62n + 1n }))
  ).text()
  await first.stop()
  const second = await startTestCatalog({ folder: first.folder })
  try {
    expect(await (await second.request('GET', path)).text()).toBe(committed)
    const next = appendBody({ snapshotId: 5n, parentId: 2n ** 62n + 1n, sequenceNumber: 2 })
    expect((await second.request('POST', path, next)).status).toBe(200)
    const list = await (await second.request('GET', '/namespaces/n%1Fm/tables')).json()
    expect(list).toEqual({ identifiers: [{ namespace: ['n', 'm'], name: 't' }] })
  } finally {
    await second.remove()
  }
})

test('a commit that was answered survives the kill of the process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dev-catalog-'))
  const start = async () => {
    const child = Bun.spawn([process.execPath, 'demo/catalog/main.ts', '--folder', folder, '--port', '0'])
    const { value } = await child.stdout.getReader().read()
    const url = /http:\S+(?=,)/.exec(new TextDecoder().decode(value))?.[0]
    return { child, url: `${url}/v1/dev/namespaces` }
  }
  const post = (url: string, body: unknown) =>
    fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  const first = await start()
  await post(first.url, { namespace: ['n'] })
  await post(`${first.url}/n/tables`, createTableBody('t'))
  const committed = await (await post(`${first.url}/n/tables/t`, appendBody({ snapshotId: 3n }))).text()
  first.child.kill('SIGKILL')
  await first.child.exited
  const second = await start()
  expect(await (await fetch(`${second.url}/n/tables/t`)).text()).toBe(committed)
  second.child.kill('SIGKILL')
  await second.child.exited
  await rm(folder, { recursive: true })
})

describe('tokens', () => {
  async function tokenOf({ tokenUrl }: TestCatalog): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'id',
      client_secret: 'secret',
    })
    const answer = await fetch(tokenUrl, { method: 'POST', body: form })
    return ((await answer.json()) as { access_token: string }).access_token
  }

  test('are demanded, given for the right credentials only, and end when told to', async () => {
    const guarded = await startTestCatalog({ credential: 'id:secret' })
    try {
      expect((await guarded.request('GET', '/namespaces')).status).toBe(200)
      expect((await fetch(`${guarded.url}/v1/dev/namespaces`)).status).toBe(401)
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'id',
        client_secret: 'wrong',
      })
      const refused = await fetch(`${guarded.url}/v1/oauth/tokens`, { method: 'POST', body: form })
      expect(refused.status).toBe(401)
      expect(await refused.json()).toEqual({ error: 'invalid_client' })
      const headers = { authorization: `Bearer ${await tokenOf(guarded)}` }
      expect((await fetch(`${guarded.url}/v1/dev/namespaces`, { headers })).status).toBe(200)
      guarded.faults.expireTokens()
      const late = await fetch(`${guarded.url}/v1/dev/namespaces`, { headers })
      expect(await errorOf(late)).toBe('401 NotAuthorizedException')
    } finally {
      await guarded.remove()
    }
  })
})

describe('faults', () => {
  const set = (body: unknown) => catalog.request('POST', '//dev/faults', body)

  test('fail an operation so many times, by HTTP', async () => {
    const { path } = await newTable()
    const failure = { operation: 'load', effect: 'fail', status: 503, times: 2 }
    expect((await set({ reset: true, failures: [failure] })).status).toBe(200)
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await catalog.request('GET', path)).status)
    expect(statuses).toEqual([503, 503, 200])
    expect(await (await catalog.request('GET', '//dev/faults')).json()).toMatchObject({ counts: { load: 3 } })
  })

  test('drop the connection before the commit, or after it', async () => {
    const { path } = await newTable()
    catalog.faults.add({ operation: 'commit', effect: 'drop-before' })
    await expect(catalog.request('POST', path, appendBody({ snapshotId: 1n }))).rejects.toThrow()
    expect((await load(path)).metadata.snapshots ?? []).toHaveLength(0)
    catalog.faults.add({ operation: 'commit', effect: 'drop-after' })
    await expect(catalog.request('POST', path, appendBody({ snapshotId: 1n }))).rejects.toThrow()
    expect((await load(path)).metadata.snapshots).toHaveLength(1)
  })

  test('delay one operation and not another', async () => {
    const { path } = await newTable()
    catalog.faults.setDelay('commit', [600_000])
    const ended = new AbortController()
    const commit = fetch(`${catalog.url}/v1/dev${path}`, {
      method: 'POST',
      body: appendBody({ snapshotId: 1n }),
      signal: ended.signal,
    })
    const first = await Promise.race([commit.then(() => 'commit'), load(path).then(() => 'load')])
    ended.abort()
    await commit.catch(() => {})
    catalog.faults.reset()
    expect(first).toBe('load')
  })

  test('delay by fractions of a millisecond, which add up to whole ones', () => {
    const faults = createFaults(() => {})
    faults.setDelay('load', 0.75)
    faults.setDelay('commit', [1.5])
    const delays = (operation: 'load' | 'commit') =>
      Array.from({ length: 4 }, () => faults.meet(operation).delayMs)
    expect(delays('load')).toEqual([0, 1, 1, 1])
    expect(delays('commit')).toEqual([1, 2, 1, 2])
  })

  test.each([
    [[]],
    [{ delays: { nothing: 1 } }],
    [{ delays: { load: -1 } }],
    [{ failures: [{ operation: 'load' }] }],
  ])('that make no sense are refused: %j', async (body) => {
    expect((await set(body)).status).toBe(400)
  })
})

test('the command line says how it is used and refuses what it does not know', async () => {
  const run = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, 'demo/catalog/main.ts', ...args], { stderr: 'pipe' })
    return [await child.exited, await child.stdout.text(), await child.stderr.text()] as const
  }
  const [helpCode, help] = await run('--help')
  expect(helpCode).toBe(0)
  expect(help).toContain('Not for production')
  for (const args of [
    [],
    ['--folder', 'x', '--port', 'y'],
    ['--folder', 'x', '--dialect', 'gamma'],
    ['--nonsense'],
  ]) {
    const [code, , problem] = await run(...args)
    expect(code).toBe(64)
    expect(problem).toContain('Usage')
  }
})
