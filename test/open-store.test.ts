/** The secrets key: the file beside the embedded store, and the store's own check of any key. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../src/base/fault.ts'
import { parseConfig } from '../src/config.ts'
import { openConfiguredStore, secretsKeyIn, secretsKeyOf } from '../src/open-store.ts'
import { putCatalogCredential } from '../src/store/catalog-credential/catalog-credentials.ts'
import { sealAgain } from '../src/store/keys/seal-again.ts'
import { assertSecretsKey, endTurn } from '../src/store/keys/secrets-key.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { openTenantStore, storeTemplate } from './support/store.ts'

setDefaultTimeout(60_000)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-key-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('processes that start at once keep one key, readable by its owner alone, and leave nothing beside it', async () => {
  const path = join(folder, 'one.key')
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => secretsKeyIn(path)))
  expect(first?.length).toBe(32)
  for (const other of [...others, await secretsKeyIn(path), await readFile(path)])
    expect(Buffer.from(other)).toEqual(Buffer.from(first ?? []))
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(folder)).toEqual(['one.key'])
})

test('a file that holds no key is refused by its name', async () => {
  const path = join(folder, 'short.key')
  await writeFile(path, new Uint8Array(5))
  const thrown = await secretsKeyIn(path).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(Fault)
  expect(thrown).toMatchObject({ kind: 'misconfigured' })
  expect((thrown as Fault).publicMessage).toContain(path)
})

describe('a data directory without SVC_SECRETS_KEY', () => {
  const refusal = (directory: string) =>
    secretsKeyOf(directory).then(
      () => 'taken',
      (fault: Fault) => `${fault.kind}: ${fault.publicMessage}`,
    )

  test('gets a key where it holds no data yet', async () => {
    const directory = await mkdtemp(join(folder, 'new-'))
    expect(await secretsKeyOf(directory)).toHaveLength(32)
    expect(await readdir(directory)).toEqual(['secrets.key'])
  })

  test('is refused where it holds data and no key, and gets no new one', async () => {
    const directory = await mkdtemp(join(folder, 'lost-'))
    await mkdir(join(directory, 'store', 'pg'), { recursive: true })
    expect(await refusal(directory)).toBe(
      `misconfigured: ${directory}/secrets.key is missing, and ${directory} holds data: restore the file from a backup, or set SVC_SECRETS_KEY to its key.`,
    )
    expect(await readdir(directory)).toEqual(['store'])
  })

  test('gets none from what only looks, whatever is there', async () => {
    const opened = async (directory: string) => {
      const config = parseConfig({ SVC_DATA_DIR: directory })
      const unmeasured = { cypherQuerySeconds: { observe: () => {} } }
      const said: string[] = []
      for (const as of ['look', 'whatever the key'] as const)
        await openConfiguredStore(config, unmeasured, { warn: () => {} }, as).catch((fault: Fault) =>
          said.push(fault.publicMessage),
        )
      return said
    }
    const empty = await mkdtemp(join(folder, 'look-'))
    const first = `${empty} holds no data and no secrets key: start the service on it first, or set SVC_DATA_DIR to the directory of the data.`
    expect(await opened(empty)).toEqual([first, first])
    expect(await readdir(empty)).toEqual([])
    // A former key alone is the word of an operator for a start.
    const turning = await mkdtemp(join(folder, 'look-'))
    await mkdir(join(turning, 'store', 'pg'), { recursive: true })
    await writeFile(join(turning, 'secrets.key.former'), new Uint8Array(32))
    for (const text of await opened(turning)) expect(text).toContain('secrets.key is missing')
    expect((await readdir(turning)).toSorted()).toEqual(['secrets.key.former', 'store'])
  })

  test('is refused by the name of the file where that holds too little, too much or nothing', async () => {
    for (const bytes of [0, 31, 33, 44]) {
      const directory = await mkdtemp(join(folder, 'malformed-'))
      await writeFile(join(directory, 'secrets.key'), new Uint8Array(bytes))
      expect(await refusal(directory)).toStartWith(
        `misconfigured: ${directory}/secrets.key holds no secrets key of 32 bytes.`,
      )
    }
  })

  test('is refused by the name of the file where that cannot be read', async () => {
    const directory = await mkdtemp(join(folder, 'unreadable-'))
    await mkdir(join(directory, 'secrets.key'))
    expect(await refusal(directory)).toBe(`misconfigured: ${directory}/secrets.key cannot be read or made.`)
  })
})

describe('the key of a database', () => {
  const wrong =
    'SVC_SECRETS_KEY (or secrets.key) is not the key under which this database was filled: start with that key.'
  const other = new Uint8Array(32).fill(9)

  test('is the one that it was first opened with, and every other is refused', async () => {
    const { store } = await openTenantStore()
    await using _ = store
    await assertSecretsKey(store)
    const refused = await assertSecretsKey({ ...store, secretsKey: other }).catch((fault: Fault) => fault)
    expect(refused).toMatchObject({ kind: 'misconfigured', publicMessage: wrong })
    await assertSecretsKey(store)
  })

  test('is the one of its catalog credentials where it was filled before the check existed', async () => {
    const { store, tenant } = await openTenantStore()
    await using _ = store
    await putCatalogCredential(store, tenant, {
      nickname: 'main',
      kind: 'alpha',
      endpoint: 'https://catalog.example',
      config: { credential: 'id:secret' },
    })
    const refused = await assertSecretsKey({ ...store, secretsKey: other }).catch((fault: Fault) => fault)
    expect(refused).toMatchObject({ publicMessage: wrong })
    await assertSecretsKey(store)
  })

  test('is replaced only on the word of an operator that it is lost', async () => {
    const { store } = await openTenantStore()
    await using _ = store
    await assertSecretsKey(store)
    await store.adminQuery('update svc.secrets_key_check set sealed = null')
    await assertSecretsKey({ ...store, secretsKey: other })
    expect(await assertSecretsKey(store).catch((fault: Fault) => fault)).toMatchObject({
      publicMessage: wrong,
    })
  })

  test('of two replicas that start at once with different keys on an empty database, one is refused', async () => {
    const { store } = await openTenantStore()
    await using _ = store
    const outcomes = await Promise.all(
      [store, { ...store, secretsKey: other }].map((each) =>
        assertSecretsKey(each).then(
          () => 'taken',
          () => 'refused',
        ),
      ),
    )
    expect(outcomes.sort()).toEqual(['refused', 'taken'])
  })

  test('is checked before a service or an administration command gets the store, which is closed again', async () => {
    const directory = await mkdtemp(join(folder, 'checked-'))
    await mkdir(join(directory, 'store'))
    await cp(await storeTemplate(), join(directory, 'store', 'pg'), { recursive: true })
    const open = (secretsKey: string) =>
      openConfiguredStore(
        parseConfig({ SVC_DATA_DIR: directory, SVC_SECRETS_KEY: secretsKey }),
        createMetrics(),
        createLogger({ level: 'silent' }),
      )
    await (await open('a'.repeat(64))).close()
    expect(await open('b'.repeat(64)).catch((fault: Fault) => fault)).toMatchObject({ publicMessage: wrong })
    await (await open('a'.repeat(64))).close()
  })

  test('turns where its file stands as the former one, and that file may then go', async () => {
    const directory = await mkdtemp(join(folder, 'turned-'))
    await mkdir(join(directory, 'store'))
    await cp(await storeTemplate(), join(directory, 'store', 'pg'), { recursive: true })
    const [key, former] = [join(directory, 'secrets.key'), join(directory, 'secrets.key.former')]
    await writeFile(key, new Uint8Array(32).fill(7))
    const open = () =>
      openConfiguredStore(parseConfig({ SVC_DATA_DIR: directory }), createMetrics(), { warn: () => {} })
    const before = await open()
    await before.close()

    await rename(key, former)
    const turning = await open()
    expect(await readFile(key)).not.toEqual(await readFile(former))
    expect(turning.roots).toEqual(before.roots)
    await sealAgain(turning, new AbortController().signal)
    expect(await endTurn(turning)).toBe(true)
    await turning.close()

    await (await open()).close()
    await rm(former)
    const after = await open()
    expect(after.roots).toEqual(before.roots)
    await after.close()

    await writeFile(key, new Uint8Array(32).fill(7))
    expect(await open().catch((fault: Fault) => fault)).toMatchObject({ publicMessage: wrong })
  })
})
