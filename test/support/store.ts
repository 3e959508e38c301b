/**
 * Stores for tests: embedded, from a template prepared once per set of migrations; or, where
 * SVC_TEST_DATABASE_URL names a server, a fresh database there.
 *
 * Do not write `expect(promise).rejects` about an embedded store: it waits without letting the messages of
 * the store's Worker in. Write `await promise.catch(…)`. A hook that opens the first store of all prepares
 * the template, so give it 60 seconds.
 */

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { migrationsChecksum } from '../../src/store/migrations.ts'
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts'

const cache = new URL('../../.cache/', import.meta.url).pathname
export const testSecretsKey = new Uint8Array(32).fill(7)

export interface TestStore extends Store, AsyncDisposable {
  /** The server's database, where the store is on one. */
  readonly databaseUrl: string | undefined
  readonly dataDirectory: string | undefined
}

type TestStoreOptions = Partial<Omit<StoreOptions, 'databaseUrl' | 'dataDirectory' | 'template'>>

/** Opens a store of the test's own; `await using` closes it and removes what it left. */
export function openTestStore(options: TestStoreOptions = {}): Promise<TestStore> {
  const server = process.env.SVC_TEST_DATABASE_URL
  return server === undefined ? openEmbeddedTestStore(options) : openServerTestStore(server, options)
}

/** A directory with a prepared database under `pg`, shared by test processes; made if it is not there. */
export async function storeTemplate(): Promise<string> {
  const directory = join(cache, `store-template-${migrationsChecksum().slice(0, 16)}`)
  if (!existsSync(directory)) {
    mkdirSync(cache, { recursive: true })
    const making = mkdtempSync(`${directory}.`)
    try {
      const store = await openStore({ ...defaults, dataDirectory: making })
      await store.close()
      renameSync(making, directory)
    } catch (error) {
      rmSync(making, { recursive: true, force: true })
      // Another process may have been first; what it made is as good.
      if (!existsSync(directory)) throw error
    }
  }
  return join(directory, 'pg')
}

const defaults = { secretsKey: testSecretsKey, migrate: true, onNotice: () => {} } as const

async function openEmbeddedTestStore(options: TestStoreOptions): Promise<TestStore> {
  const template = await storeTemplate()
  const dataDirectory = mkdtempSync(join(tmpdir(), 'covenant-store-'))
  const store = await openStore({ ...defaults, ...options, dataDirectory, template })
  return disposable(store, { databaseUrl: undefined, dataDirectory }, async () => {
    rmSync(dataDirectory, { recursive: true, force: true })
  })
}

async function openServerTestStore(server: string, options: TestStoreOptions): Promise<TestStore> {
  const name = `covenant_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const databaseUrl = url.href
  const store = await openStore({ ...defaults, poolMax: 4, ...options, databaseUrl })
  return disposable(store, { databaseUrl, dataDirectory: undefined }, () =>
    administer(server, `drop database ${name} with (force)`),
  )
}

async function administer(server: string, statement: string): Promise<void> {
  const sql = postgres(server, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

function disposable(
  store: Store,
  where: Pick<TestStore, 'databaseUrl' | 'dataDirectory'>,
  clean: () => Promise<void>,
): TestStore {
  let closed: Promise<void> | undefined
  const close = () => (closed ??= store.close())
  return {
    ...store,
    ...where,
    close,
    async [Symbol.asyncDispose]() {
      await close()
      await clean()
    },
  }
}
