/** `covenant replay`: starts a replay on a running service, waits for its end, and ends by what it has found. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { setProperties } from '../../demo/commits.ts'
import { replay } from '../../src/admin/replay-verb.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { ask, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { addTenant, commit, prefix } from '../support/service.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let steward: string
let outsider: string
beforeAll(async () => {
  service = await startIdentityService()
  const { tenant } = service.owner
  const endpoint = service.catalog.url
  const config = { endpoint, warehouse: 'dev', credential: 'gateway:s3cret' }
  await putCatalogCredential(service.store, tenant, {
    ...{ nickname: prefix, kind: 'alpha', endpoint },
    config: { ...config, storage_roots: [pathToFileURL(tmpdir()).href] },
  })
  steward = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
  const foreign = await addTenant(service.store, 'foreign', endpoint)
  outsider = await session(service, foreign.tenant, ['read', 'admin'], ['steward'], 'mallory')
  for (const sub of ['carl', 'dora', 'carl'])
    expect((await commit(service, setProperties({ note: sub }), { sub })).status).toBe(200)
})
afterAll(() => service[Symbol.asyncDispose]())

const work = () => service.app.jobs.run('replay-policies')
/** Runs the verb as a session; the service works while it waits. */
async function run(
  text: string,
  { stdin = '', as = steward, wait = async () => void (await work()), interrupted }: RunOptions = {},
) {
  const [out, err]: [string[], string[]] = [[], []]
  const words = text === '' ? [] : text.split(' ')
  const terminal = {
    env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: as },
    stdin: async () => stdin,
    print: (line: string) => void out.push(line),
    complain: (line: string) => void err.push(line),
    ...(interrupted && { interrupted }),
  }
  const status = await replay(words, terminal, wait)
  return { status, out: out.join('\n'), err: err.join('\n') }
}
interface RunOptions {
  readonly stdin?: string
  readonly as?: string
  readonly wait?: () => Promise<void>
  readonly interrupted?: () => AbortSignal
}

const draft = '--file - --kind write_acl --table sales.orders'
const notCarl = 'principal.sub != "carl"'

describe('a draft', () => {
  test('that would deny accepted commits ends with 1, by writer, table and reason', async () => {
    const { status, out, err } = await run(draft, { stdin: notCarl })
    expect(status).toBe(1)
    expect(out).toContain('newly_denied       2  carl  sales.orders: draft')
    expect(out).toContain('2 newly_denied')
    expect(err).toContain('2 commit(s) would be denied, left without a verdict or differ; 0 may.')
  })

  test('ends with 0 within the number that is allowed, and with 1 above it', async () => {
    expect((await run(`${draft} --max-new-denials 2`, { stdin: notCarl })).status).toBe(0)
    expect((await run(`--max-new-denials=1 ${draft}`, { stdin: notCarl })).status).toBe(1)
    expect((await run(draft, { stdin: 'true' })).status).toBe(0)
  })

  test('that fails on commits counts as a denial, because the gate would refuse them', async () => {
    const { status, err } = await run(`${draft} --commits 1`, { stdin: 'table.properties["absent"] == ""' })
    expect([status, err]).toEqual([1, expect.stringContaining('1 commit(s) would be denied')])
  })

  test('is told as JSON', async () => {
    const { out } = await run(`${draft} --json --max-new-denials 2`, { stdin: notCarl })
    expect(JSON.parse(out)).toMatchObject({
      replay: { state: 'done', counts: { newly_denied: 2 } },
      summary: [{ outcome: 'newly_denied', committer: 'carl', commits: 2 }],
    })
  })
})

test('without a draft the policies of then are compared', async () => {
  expect(await run('')).toMatchObject({ status: 0, out: expect.stringMatching(/\d+ confirmed\.$/) })
})

test('commits that cannot be replayed never pass for allowed where there are no others', async () => {
  const { tenant } = service.owner
  await service.store.ownerTransaction(tenant, async (tx) => {
    await tx.query('alter table svc.audit_log disable trigger append_only')
    await tx.query(`update svc.audit_log set base_metadata_location = base_metadata_location || '.gone'
      where commit_id = (select commit_id from svc.audit_log where tenant_id = '${tenant}' order by audit_seq desc limit 1)`)
    await tx.query('alter table svc.audit_log enable trigger append_only')
  })
  const all = await run(`${draft} --commits 1`, { stdin: 'true' })
  expect([all.status, all.err]).toEqual([
    1,
    expect.stringContaining('1 of 1 commit(s) could not be replayed'),
  ])
  expect((await run(`${draft} --commits 2`, { stdin: 'true' })).status).toBe(0)
  expect((await run(`${draft} --commits 2 --max-unavailable 0`, { stdin: 'true' })).status).toBe(1)
})

test('a replay that takes too long ends with 1, and Ctrl-C cancels it', async () => {
  const late = await run(`${draft} --timeout 0`, { stdin: 'true' })
  expect([late.status, late.err]).toEqual([1, expect.stringContaining('has not ended in time')])
  const key = new AbortController()
  const interrupted = await run(draft, {
    stdin: 'true',
    interrupted: () => key.signal,
    wait: async () => key.abort(new Error('interrupted')),
  })
  expect(interrupted.status).toBe(130)
  const { body } = await ask(service, 'GET', '/api/v1/policy-replays?limit=1', steward)
  expect(body.items).toMatchObject([{ state: 'cancelled' }])
})

test('a session sees its own tenant alone', async () => {
  expect(await run('', { as: outsider })).toMatchObject({ status: 0, out: '0 commit(s).' })
})

test.each([
  ['an unknown flag', '--max-denials 3'],
  ['a bound that is no number', `${draft} --max-new-denials many`],
  ['a bound without its number', `${draft} --max-new-denials`],
  ['a field', `${draft} --field id`],
  ['a draft without a kind', '--file -'],
])('%s is wrong usage', async (_, words) => {
  expect((await run(words, { stdin: 'true' })).status).toBe(64)
})
