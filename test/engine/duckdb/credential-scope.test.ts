/** Scopes of storage credentials: each tenant, catalog credential and version has its own. */

import { expect, test } from 'bun:test'
import type { CatalogCredential } from '../../../src/core/catalog.ts'
import { credentialScope } from '../../../src/engine/duckdb/credential-scope.ts'
import { allowing } from '../../support/address-rules.ts'
import { failure, otherTenant, tenant } from '../../support/engine.ts'

const credential: CatalogCredential = {
  id: 'c1',
  version: 1,
  kind: 'alpha',
  nickname: 'lake',
  endpoint: 'https://catalog.example.com',
  config: { storage_roots: ['s3://lake'], 's3.access-key-id': 'K', 's3.secret-access-key': 'S' },
}
const rules = allowing('127.0.0.0/8')
const local = { ...credential, config: { ...credential.config, 's3.endpoint': 'http://127.0.0.1:9' } }

test('tenant, credential and version each change the key, and secrets are not in it', async () => {
  const scopes = await Promise.all([
    credentialScope(tenant, local, rules),
    credentialScope(otherTenant, local, rules),
    credentialScope(tenant, { ...local, id: 'c2' }, rules),
    credentialScope(tenant, { ...local, version: 2 }, rules),
  ])
  expect(new Set(scopes.map(({ key }) => key)).size).toBe(4)
  expect(scopes[0]?.key).not.toContain('S"')
  expect(scopes[0]?.access).toMatchObject({ roots: ['s3://lake'], s3: { accessKeyId: 'K' } })
})

test('a storage endpoint that may not be reached is refused', async () => {
  const metadata = { ...credential.config, 's3.endpoint': 'http://169.254.169.254' }
  const error = await failure(credentialScope(tenant, { ...credential, config: metadata }, rules))
  expect(error.code).toMatch(/^(08006|58030)$/)
})
