/** `covenant version --check-upgrade` on an embedded store: empty, of this version, older, newer, changed, and in use. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import { showVersion } from '../../src/admin/version-verb.ts'
import { embeddedBackend } from '../../src/store/database/embedded.ts'
import { readMigrationFiles } from '../../src/store/database/migration-files.ts'
import { readReleases } from '../../src/store/database/released-migrations.ts'
import { storeTemplate } from '../support/store.ts'

setDefaultTimeout(120_000)

const root = mkdtempSync(join(tmpdir(), 'covenant-version-'))
const data = join(root, 'data')
const dataDirectory = join(data, 'store')
afterAll(() => rmSync(root, { recursive: true, force: true }))

beforeAll(async () => {
  mkdirSync(dataDirectory, { recursive: true })
  cpSync(await storeTemplate(), join(dataDirectory, 'pg'), { recursive: true })
})

async function run(words: readonly string[], env: Readonly<Record<string, string>> = { SVC_DATA_DIR: data }) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await showVersion(words, {
    env,
    stdin: async () => '',
    print: (text) => out.push(text),
    complain: (text) => err.push(text),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

/** Changes what the database says was applied. */
async function onDatabase(statement: string): Promise<void> {
  const backend = await embeddedBackend({ dataDirectory, statementMs: 60_000 })
  const link = await backend.open('connecting')
  await link.sql.unsafe(`set role svc_owner; ${statement}; reset role`).simple()
  await link.close()
  await backend.close()
}

const { control } = readMigrationFiles()
const last = control.at(-1)
if (last === undefined) throw new Error('there are no migrations')

test('without a word it shows the version', async () => {
  expect(await run([])).toEqual({ status: 0, out: `covenant ${version}`, err: '' })
})

test('an empty data directory is said to be empty, and is not made', async () => {
  const elsewhere = join(root, 'none')
  const { status, out } = await run(['--check-upgrade'], { SVC_DATA_DIR: elsewhere })
  expect({ status, out }).toEqual({
    status: 0,
    out: `covenant ${version}\nThe store is empty. A start makes it.`,
  })
  expect(existsSync(join(elsewhere, 'store', 'pg'))).toBe(false)
})

test('a store of this version has nothing pending, and is of the newest release that it has whole', async () => {
  const { status, out } = await run(['--check-upgrade', '--json'])
  const newest = readReleases().at(-1)?.version
  expect({ status, ...JSON.parse(out) }).toEqual({
    ...{ status: 0, version, store: 'embedded', empty: false },
    ...(newest !== undefined && { as_of: newest }),
    pending: { control: [], tenant: [], tenants: 0 },
  })
})

test('an older store can be upgraded, and what would be applied is named', async () => {
  await onDatabase(`delete from svc.migration where scope = 'control' and version = ${last.version}`)
  const { status, out } = await run(['--check-upgrade'])
  expect(status).toBe(0)
  expect(out).toContain(`control: 1 pending ${last.name}`)
  expect(out).toContain('It can be upgraded. There is no way back but a backup')
  expect((await run(['--check-upgrade'])).out).toBe(out)
})

test('a store of a newer version, or one whose migration was changed, cannot be used', async () => {
  await onDatabase(
    `insert into svc.migration (scope, version, name, checksum) values ('control', 9999, '9999_later', 'x')`,
  )
  expect(await run(['--check-upgrade'])).toMatchObject({
    ...{ status: 1, out: '' },
    err: expect.stringContaining('run the newer version'),
  })
  await onDatabase(
    `delete from svc.migration where version = 9999; update svc.migration set checksum = 'x' where version = 1000`,
  )
  expect(await run(['--check-upgrade'])).toMatchObject({
    status: 1,
    err: expect.stringContaining('was changed after it was applied'),
  })
})

test('a store that a service has open is not looked at', async () => {
  const backend = await embeddedBackend({ dataDirectory, statementMs: 60_000 })
  try {
    expect(await run(['--check-upgrade'])).toMatchObject({
      ...{ status: 69, out: '' },
      err: expect.stringContaining('A service has the embedded store open.'),
    })
  } finally {
    await backend.close()
  }
})

test('a database that does not answer, and wrong words, are refused by name', async () => {
  const key = { SVC_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
  const away = await run(['--check-upgrade'], {
    ...key,
    SVC_DATABASE_URL: 'postgres://nobody:no@127.0.0.1:1/none',
  })
  expect(away).toMatchObject({ status: 69, out: '', err: expect.stringContaining('SVC_DATABASE_URL') })
  expect((await run(['--check'])).status).toBe(64)
  expect((await run(['--json'])).status).toBe(64)
})
