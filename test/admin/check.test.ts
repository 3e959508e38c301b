/** `covenant check --catalogs`: which catalogs give out nothing, because they register no storage roots. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from '../../src/admin/check.ts'
import { exitStatus } from '../../src/admin/exit-status.ts'
import type { Terminal } from '../../src/admin/terminal.ts'
import { parseConfig } from '../../src/config.ts'
import { openConfiguredStore } from '../../src/open-store.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { beginSweep, noteUnusable } from '../../src/store/territory/sweeps.ts'
import { storeTemplate, testSecretsKey } from '../support/store.ts'

setDefaultTimeout(300_000)

const secretsKey = Buffer.from(testSecretsKey).toString('hex')
const unmeasured = { cypherQuerySeconds: { observe: () => {} } }

/** A data directory with a migrated store: to apply every migration takes many seconds. */
async function preparedDirectory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-check-'))
  await cp(await storeTemplate(), join(folder, 'store', 'pg'), { recursive: true })
  return folder
}

test('lists catalogs with names that the service cannot address, with one of them and what to do', async () => {
  const folder = await preparedDirectory()
  const env = { SVC_DATA_DIR: folder, SVC_SECRETS_KEY: secretsKey }
  const out: string[] = []
  const terminal = { env, print: (text: string) => out.push(text), complain: () => {} } as unknown as Terminal
  try {
    const store = await openConfiguredStore(parseConfig(env), unmeasured, { warn: () => {} })
    const { id } = await createTenant(store, { name: 'acme' })
    const config = { storage_roots: ['s3://lake'] }
    const endpoint = 'https://catalog.example'
    await putCatalogCredential(store, id, { nickname: 'main', kind: 'alpha', endpoint, config })
    const credential = await findCatalogCredential(store, id, 'main')
    if (credential === undefined) throw new Error('no credential')
    await beginSweep(store, id, credential, 'main')
    await noteUnusable(store, id, credential.id, { count: 3, names: ['sales.my table'] })
    await store.close()
    expect(await check(['--catalogs'], terminal)).toBe(exitStatus.done)
    const told = out.find((line) => line.includes('cannot address'))
    expect(told).toContain(`of the tenant ${id} lists 3 names`)
    expect(told).toContain('"sales.my table". Rename these')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('lists catalogs of every tenant that give out nothing, and ends with 1 until there is none', async () => {
  const folder = await preparedDirectory()
  const env = { SVC_DATA_DIR: folder, SVC_SECRETS_KEY: secretsKey }
  const told = { out: [] as string[], err: [] as string[] }
  const terminal = {
    env,
    print: (text: string) => told.out.push(text),
    complain: (text: string) => told.err.push(text),
  } as unknown as Terminal
  const put = async (name: string, config: object, kind: 'alpha' | 'beta' = 'alpha') => {
    const store = await openConfiguredStore(parseConfig(env), unmeasured, { warn: () => {} })
    const { id } = await createTenant(store, { name })
    const endpoint = 'https://catalog.example'
    await putCatalogCredential(store, id, { nickname: 'main', kind, endpoint, config: { ...config } })
    await store.close()
    return id
  }
  try {
    await put('rooted', { storage_roots: ['s3://lake'] })
    await put('alone', { 'vending.mode': 'none' })
    await put('beta', {}, 'beta')
    expect(await check(['--catalogs'], terminal)).toBe(exitStatus.done)
    expect(told.err).toEqual([])
    const [acme, globex] = [await put('acme', {}), await put('globex', { storage_roots: [] })]
    expect(await check(['--catalogs'], terminal)).toBe(exitStatus.failed)
    const expected = [acme, globex].map(
      (tenant) => `The catalog main of the tenant ${tenant} registers no storage_roots`,
    )
    expect(told.err.map((line) => line.split(':')[0]).toSorted()).toEqual(expected.toSorted())
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
