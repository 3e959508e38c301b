/** What `covenant check` finds of a PostgreSQL database before a start. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { check } from '../../src/admin/check.ts'
import { exitStatus } from '../../src/admin/exit-status.ts'
import type { Terminal } from '../../src/admin/terminal.ts'
import { assertSecretsKey } from '../../src/store/keys/secrets-key.ts'
import { openTestStore, type TestStore, testSecretsKey } from '../support/store.ts'

setDefaultTimeout(300_000)

const key = Buffer.from(testSecretsKey).toString('hex')
const otherKey = 'a'.repeat(64)
let store: TestStore

async function checked(env: Readonly<Record<string, string>>) {
  const [printed, failed]: [string[], string[]] = [[], []]
  const terminal = {
    env: {
      SVC_LISTEN_ADDR: '127.0.0.1:0',
      SVC_METRICS_ADDR: '127.0.0.1:0',
      SVC_PGWIRE_ADDR: '127.0.0.1:0',
      SVC_XMLA_ADDR: '127.0.0.1:0',
      SVC_DATABASE_URL: store.databaseUrl ?? '',
      SVC_SECRETS_KEY: key,
      ...env,
    },
    print: (line: string) => printed.push(line),
    complain: (line: string) => failed.push(line),
  }
  const status = await check([], terminal as unknown as Terminal)
  return { status, failed, database: printed.find((line) => line.includes('SVC_DATABASE_URL')) }
}

// Skipped where no server is named, as by `bun run test:db`: there is no database to check then.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('covenant check', () => {
  beforeAll(async () => {
    store = await openTestStore()
  })
  afterAll(() => store.close())

  test('a database that no key has filled is not given one, so that the first start decides', async () => {
    expect(await checked({ SVC_SECRETS_KEY: otherKey })).toMatchObject({
      status: exitStatus.done,
      failed: [],
    })
    expect(await store.adminQuery('select 1 from svc.secrets_key_check')).toEqual([])
  })

  test('a database that fits is ok, and one that another key has filled fails', async () => {
    await assertSecretsKey(store)
    const fits = await checked({})
    expect(fits).toMatchObject({ status: exitStatus.done, failed: [] })
    expect(fits.database).toContain('The database answers, and the key opens it.')
    const { status, failed } = await checked({ SVC_SECRETS_KEY: otherKey })
    expect(status).toBe(exitStatus.config)
    expect(failed[0]).toContain('is not the key under which this database was filled')
  })

  test('pending migrations are noted where a start applies them, and fail where it does not', async () => {
    const empty = new URL(store.databaseUrl ?? '')
    empty.pathname = '/postgres'
    const noted = await checked({ SVC_DATABASE_URL: empty.href })
    expect(noted).toMatchObject({ status: exitStatus.done, failed: [] })
    expect(noted.database).toMatch(/A start applies \d+ migrations/)
    const { status, failed } = await checked({ SVC_DATABASE_URL: empty.href, SVC_MIGRATE: '0' })
    expect(status).toBe(exitStatus.config)
    expect(failed[0]).toContain('run `covenant migrate`')
  })

  test('a wrong password and an address where nothing listens end with 69', async () => {
    const wrong = new URL(store.databaseUrl ?? '')
    wrong.password = 'hunter2'
    for (const url of [wrong.href, 'postgres://u:hunter2@127.0.0.1:1/svc']) {
      const { status, failed } = await checked({ SVC_DATABASE_URL: url })
      expect(status).toBe(exitStatus.unavailable)
      expect(failed[0]).toContain('the database is not available.')
      expect(failed[0]).not.toContain('hunter2')
    }
  })
})
