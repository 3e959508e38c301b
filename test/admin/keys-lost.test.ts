/** `covenant keys lost`: what it says and does on the database of a service whose secrets key is gone. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitStatus } from '../../src/admin/exit-status.ts'
import { runCovenant } from '../../src/admin/verbs.ts'
import { parseConfig } from '../../src/config.ts'
import { openConfiguredStore } from '../../src/open-store.ts'
import { assertSecretsKey } from '../../src/store/keys/secrets-key.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { openTestStore, tenantTemplate, testSecretsKey } from '../support/store.ts'

setDefaultTimeout(120_000)

const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
const text = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const wordOf = (look: { readonly out: string }) => String(JSON.parse(look.out).word)

async function lost(env: Readonly<Record<string, string>>, ...words: string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(['keys', 'lost', ...words], {
    env,
    stdin: async () => '',
    print: (line) => void out.push(line),
    complain: (line) => void err.push(line),
  })
  return { status, out: out.join('\n'), err: err.filter((line) => !line.startsWith('Embedded')).join('\n') }
}

describe('covenant keys lost, on an embedded store', () => {
  let folder: string
  const env = (key?: string) => ({
    SVC_DATA_DIR: join(folder, 'data'),
    ...(key !== undefined && { SVC_SECRETS_KEY: key }),
  })
  const open = (key?: string, as: 'service' | 'look' = 'service') =>
    openConfiguredStore(parseConfig(env(key)), unmeasured, { warn: () => {} }, as)
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'covenant-lost-'))
    const { path, tenant } = await tenantTemplate()
    mkdirSync(join(folder, 'data', 'store'), { recursive: true })
    cpSync(path, join(folder, 'data', 'store', 'pg'), { recursive: true })
    writeFileSync(join(folder, 'data', 'secrets.key'), testSecretsKey, { mode: 0o600 })
    const store = await open()
    const session = { name: 'spark', principal: { sub: 'spark', roles: [] }, scopes: ['read'] as const }
    await createServiceSession(store, tenant, session)
    await store.close()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('says that nothing is lost where the key opens everything, and gives nothing up', async () => {
    const look = await lost(env())
    expect(look).toMatchObject({ status: exitStatus.done, err: '' })
    expect(JSON.parse(look.out)).toMatchObject({ key: 'is the one of the database', webhooks: 0 })
    expect(JSON.parse(look.out).word).toBeUndefined()
    const meant = await lost(env(), '--yes', '00000000')
    expect(meant.status).toBe(exitStatus.failed)
    expect(meant.err).toContain('nothing is lost')
  })

  test('takes --yes with the word of a look, and nothing else', async () => {
    for (const words of [['--force'], ['--yes'], ['00000000']])
      expect((await lost(env(text(9)), ...words)).status).toBe(exitStatus.usage)
  })

  test('counts what the new key does not open and changes nothing; the old key still starts', async () => {
    const look = await lost(env(text(9)))
    expect(look.status).toBe(exitStatus.failed)
    expect(look.err).toContain(`Nothing was changed. To give all of this up for good: --yes ${wordOf(look)}`)
    expect(JSON.parse(look.out)).toMatchObject({
      key: 'is not the one under which the database was filled',
      roots_of_sessions_and_plans: 2,
    })
    await (await open(undefined, 'look')).close()
  })

  test('gives nothing up for a word that was shown for another key, or for none', async () => {
    const [mistyped, meant] = [await lost(env(text(8))), await lost(env(text(9)))]
    expect(wordOf(mistyped)).not.toBe(wordOf(meant))
    for (const word of [wordOf(mistyped), 'yes', '']) {
      const refused = await lost(env(text(9)), '--yes', word)
      expect(refused).toMatchObject({ status: exitStatus.usage, out: '' })
      expect(refused.err).toContain('is not the word of a look with these keys')
    }
    await (await open(undefined, 'look')).close()
  })

  test('makes no key where only a former one is there', async () => {
    const [present, former] = ['secrets.key', 'secrets.key.former'].map((name) => join(folder, 'data', name))
    renameSync(present ?? '', former ?? '')
    const look = await lost(env())
    renameSync(former ?? '', present ?? '')
    expect(look).toMatchObject({ status: exitStatus.failed, out: '' })
    expect(look.err).toContain('secrets.key is missing')
  })

  test('with the word, the service starts with the new key and no longer with the old one', async () => {
    const word = wordOf(await lost(env(text(9))))
    expect((await lost(env(text(9)), '--yes', word)).status).toBe(exitStatus.done)
    await (await open(text(9))).close()
    const refused = await open().catch((fault: Error) => fault)
    expect(String((refused as { publicMessage?: string }).publicMessage)).toContain('is not the key')
    expect((await lost(env(text(9)), '--yes', word)).err).toContain('nothing is lost')
    expect((await lost(env(text(9)))).status).toBe(exitStatus.done)
  })

  test('makes neither a store nor a key in a directory without data', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'covenant-lost-empty-'))
    for (const words of [[], ['--yes', '00000000']]) {
      const refused = await lost({ SVC_DATA_DIR: empty }, ...words)
      expect(refused).toMatchObject({ status: exitStatus.failed, out: '' })
      expect(refused.err).toContain('holds no embedded data')
    }
    expect(readdirSync(empty)).toEqual([])
    rmSync(empty, { recursive: true })
  })
})

// Skipped where no server is named: `npm run test:db` names one.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('covenant keys lost, on a server', () => {
  test('is refused while a replica is connected, which may hold the key; to look is not', async () => {
    await using store = await openTestStore()
    await assertSecretsKey(store)
    const env = { SVC_DATABASE_URL: store.databaseUrl ?? '', SVC_SECRETS_KEY: text(9) }
    expect(JSON.parse((await lost(env)).out)).toMatchObject({
      key: 'is not the one under which the database was filled',
    })
    const meant = await lost(env, '--yes', '00000000')
    expect(meant.status).toBe(exitStatus.failed)
    expect(meant.err).toContain('stop every replica first')
    const [check] = await store.adminQuery<{ sealed: unknown }>('select sealed from svc.secrets_key_check')
    expect(check?.sealed).not.toBeNull()
  })
})
