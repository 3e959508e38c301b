/** `covenant move`: its words, what it refuses before it copies, and how a move is given up. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCovenant } from '../../src/admin/verbs.ts'
import type { Fault } from '../../src/base/fault.ts'
import { embeddedBackend } from '../../src/store/database/embedded.ts'
import { moveMarkOf, writeMoveMark } from '../../src/store/database/move-mark.ts'
import type { SecretsKeys } from '../../src/store/database/sealing.ts'
import { assertSecretsKey, endTurn } from '../../src/store/keys/secrets-key.ts'
import { copyTexts } from '../../src/store/move/copy-table.ts'
import { openStore } from '../../src/store/store.ts'
import { storeTemplate, testSecretsKey, testStoreOptions } from '../support/store.ts'

setDefaultTimeout(120_000)

const dataDir = mkdtempSync(join(tmpdir(), 'covenant-move-verb-'))
const dataDirectory = join(dataDir, 'store')
const to = 'postgres://covenant:hunter2@127.0.0.1:1/covenant'
const mark = {
  id: crypto.randomUUID(),
  state: 'moved',
  to: 'db:5432/covenant',
  at: '2026-03-01T00:00:00.000Z',
} as const

async function run(...words: readonly string[]) {
  return await runWith({}, ...words)
}

async function runWith(env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(['move', ...words], {
    env: { SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: 'postgres://elsewhere/db', ...env },
    stdin: async () => '',
    print: (line) => void out.push(line),
    complain: (line) => void err.push(line),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

beforeAll(async () => {
  writeFileSync(join(dataDir, 'secrets.key'), testSecretsKey)
  await (await openStore({ ...testStoreOptions, dataDirectory, template: await storeTemplate() })).close()
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

test('words that are wrong end with 64, and are not repeated, because one may hold a password', async () => {
  for (const words of [
    [],
    ['--to'],
    ['--onto', to],
    [to],
    ['--to', to, '--give-up'],
    ['--to', 'http://hunter2'],
  ]) {
    const { status, err } = await run(...words)
    expect(status).toBe(64)
    expect(err).not.toContain('hunter2')
  }
})

test('a folder without embedded data is refused, and nothing is made in it', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'covenant-move-empty-'))
  expect(await run('--to', to, '--from', empty)).toMatchObject({ status: 1 })
  expect((await run('--to', to, '--from', empty)).err).toContain('holds no embedded data')
  rmSync(empty, { recursive: true })
})

test('it refuses while a service has the data open, and while its journal holds a change', async () => {
  const held = await embeddedBackend({ dataDirectory, statementMs: 60_000 })
  expect((await run('--to', to)).err).toContain('Stop the service before a move')
  await held.close()
  const journal = join(dataDir, 'journal')
  mkdirSync(journal)
  writeFileSync(join(journal, 'a.accepted.json'), '{}')
  expect((await run('--to', to)).err).toContain('holds 1 changes without an audit')
  rmSync(journal, { recursive: true })
})

describe('a move while the secrets key turns is refused, because one key alone would not open what was moved', () => {
  const [present, former] = [join(dataDir, 'secrets.key'), join(dataDir, 'secrets.key.former')]
  const other = new Uint8Array(32).fill(8)
  const todo = 'until its log says that the former key may be removed'

  async function expectRefused(why: string, env: Readonly<Record<string, string>> = {}) {
    const { status, out, err } = await runWith(env, '--to', to)
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toContain(why)
    expect(err).toContain(todo)
    expect(moveMarkOf(dataDirectory)).toBeUndefined()
  }

  test('where a former key is in the directory, with a key beside it or without, and no key is made', async () => {
    renameSync(present, former)
    await expectRefused(`${former} is there.`)
    expect(existsSync(present)).toBe(false)
    writeFileSync(present, other)
    await expectRefused(`${former} is there.`)
    renameSync(former, present)
  })

  test('where a former or next key is set', async () => {
    const text = Buffer.from(other).toString('base64')
    for (const name of ['SVC_SECRETS_KEY_FORMER', 'SVC_SECRETS_KEY_NEXT'])
      await expectRefused(`${name} is set.`, {
        [name]: text,
        SVC_SECRETS_KEY: Buffer.from(testSecretsKey).toString('base64'),
      })
  })

  test('where the data say that it turns, by the start that has to go first', async () => {
    const started = async (keys: SecretsKeys, end: boolean) => {
      const store = await openStore({ ...testStoreOptions, ...keys, dataDirectory })
      await assertSecretsKey(store)
      if (end) expect(await endTurn(store)).toBe(true)
      await store.close()
    }
    const text = Buffer.from(other).toString('base64')
    await started({ secretsKey: testSecretsKey }, false)
    await started({ secretsKey: other, formerKey: testSecretsKey }, false)
    expect((await run('--to', to)).err).toContain('The secrets key turns')
    expect((await runWith({ SVC_SECRETS_KEY: text }, '--to', to)).err).toContain('set SVC_SECRETS_KEY_FORMER')
    expect(moveMarkOf(dataDirectory)).toBeUndefined()
    await started({ secretsKey: other, formerKey: testSecretsKey }, true)
    writeFileSync(present, other)
  })
})

test('a server that does not answer ends it with 69, and leaves no mark', async () => {
  const { status, err } = await run('--to', to)
  expect(status).toBe(69)
  expect(err).not.toContain('hunter2')
  expect(moveMarkOf(dataDirectory)).toBeUndefined()
})

test('data that were moved open no store until the move is given up', async () => {
  const open = () =>
    openStore({ ...testStoreOptions, dataDirectory }).then(
      async (store) => await store.close(),
      (error: Fault) => error.publicMessage,
    )
  writeMoveMark(dataDirectory, mark)
  expect(await open()).toContain(`were moved to ${mark.to} at ${mark.at}: set SVC_DATABASE_URL`)
  const given = await run('--give-up')
  expect(given).toMatchObject({ status: 0, err: '' })
  expect(given.out).toContain('let no service run on both')
  expect(await open()).toBeUndefined()
  expect((await run('--give-up')).err).toContain('No move')
})

test('a file that is no mark is not taken for none', async () => {
  writeFileSync(join(dataDirectory, 'move.json'), '{}')
  expect((await run('--to', to)).err).toContain('is not the mark of a move')
  rmSync(join(dataDirectory, 'move.json'))
})

test('rows are written for COPY byte for byte, with NULL apart from the text that looks like it', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const rows = [[bytes('a\tb\nc\rd\\e ä'), null, bytes('\\N'), bytes('')]]
  expect(Buffer.concat([...copyTexts(rows)]).toString()).toBe('a\\tb\\nc\\rd\\\\e ä\t\\N\t\\\\N\t\n')
})
