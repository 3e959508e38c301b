/** A lake whose tables hold values that the transform protected, written with the tenant's own keys. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { duckdbParquet } from '../../demo/lake/duckdb-parquet.ts'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../demo/lake/table-fields.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { secretsKeyProvider, tenantKey } from '../../src/protection/tenant-keys.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { deriveScopeKey } from '../../src/transform/derive-keys.ts'
import type { KeyedRule } from '../../src/transform/plan.ts'
import { protectValues } from '../../src/transform/protect-values.ts'
import { actorOf } from './actor.ts'
import { ask } from './identity.ts'
import { type ClientEnvironment, type Lake, type LakeOptions, startLake } from './lake.ts'
import { licenseForAll } from './license.ts'

export interface ProtectedLake extends AsyncDisposable {
  readonly lake: Lake
  readonly folder: string
  readonly steward: string
  /** Writes a table of the namespace `sales`, registers it through the gateway and gives it a contract. */
  write(name: string, columns: readonly WrittenColumn[]): Promise<void>
  /** Values as a writer protects them; `rule` lacks what all columns of a test share. */
  seal(
    rule: SealRule,
    values: readonly (string | null)[],
    tenant?: TenantId,
  ): Promise<readonly (string | null)[]>
  /** A request of the steward. */
  call(method: string, path: string, body?: unknown, secret?: string): ReturnType<typeof ask>
  /** A session over the wire. */
  reader(sub: string, roles: readonly string[], tenant?: TenantId): Promise<ClientEnvironment>
}

export interface WrittenColumn {
  readonly name: string
  readonly type: 'long' | 'string' | 'binary'
  /** Bytes as hexadecimal text. */
  readonly values: readonly (string | number | null)[]
}

export type SealRule = Pick<KeyedRule, 'method' | 'scope' | 'kid'> & {
  readonly alphabet?: 'digits'
  readonly type?: 'string' | 'binary'
}

const sqlTypes = { long: 'bigint', string: 'text', binary: 'blob' } as const

export async function startProtectedLake(options: LakeOptions = {}): Promise<ProtectedLake> {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'covenant-protected-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  stack.defer(() => catalog.stop())
  const lake = stack.use(
    await startLake({
      catalog: { url: catalog.url, warehouse: 'dev', folder },
      tables: [],
      env: { SVC_LICENSE: licenseForAll() },
      ...options,
    }),
  )
  const { store, tenant } = lake
  const sessionOf = (sub: string, roles: readonly string[], of: TenantId) =>
    createServiceSession(store, of, { name: sub, principal: { sub, roles }, scopes: [...sessionScopes] })
  const { secret: steward } = await sessionOf('stella', ['steward'], tenant)
  return {
    lake,
    folder,
    steward,
    async write(name, columns) {
      const fields = columns.map(
        ({ name: column, type }, index): Field => ({ id: index + 1, name: column, type }),
      )
      const ids = `{${fields.map((field) => `${field.name}: ${field.id}`).join(', ')}}`
      const rows = columns[0]?.values.map(
        (_, row) => `(${columns.map(({ type, values }) => literal(type, values[row])).join(', ')})`,
      )
      const names = columns.map((column) => column.name).join(', ')
      const bytes = await duckdbParquet(`SELECT * FROM (VALUES ${rows}) AS t(${names})`, ids)
      const place = join(folder, 'catalog/warehouse')
      const table = tableInFolder(place, name, { fields, formatVersion: 2 })
      const { metadataLocation } = await table.append([
        { rows: [], bytes, recordCount: columns[0]?.values.length ?? 0 },
      ])
      const path = `/v1/iceberg/${lake.catalog}/v1/namespaces/sales/register`
      const body = { name, 'metadata-location': metadataLocation }
      const answer = await ask(lake, 'POST', path, lake.env.PGPASSWORD, body)
      if (answer.status !== 200) throw new Error(`register answered ${JSON.stringify(answer)}`)
      const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
      await putContract(on, { namespace: ['sales'], name }, { id: name, version: 1 })
    },
    async seal({ type = 'string', ...named }, values, of = tenant) {
      const root = await tenantKey(store, secretsKeyProvider(store), of)
      const rule = {
        ...{ field_id: 1, name: 'c', type, required: false },
        action: named.method === 'ff1' ? 'tokenize' : 'encrypt',
        ...named,
      } as KeyedRule
      const given = values.map((value) =>
        value !== null && type === 'binary' ? new Uint8Array(Buffer.from(value, 'hex')) : value,
      )
      const done = protectValues(rule, of, () => deriveScopeKey(root, { tenant: of, ...rule }), given)
      return done.map((value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value as string | null),
      )
    },
    call: (method, path, body, secret = steward) => ask(lake, method, `/api/v1${path}`, secret, body),
    async reader(sub, roles, of = tenant) {
      const { secret } = await sessionOf(sub, roles, of)
      return { ...lake.env, PGUSER: sub, PGPASSWORD: secret }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function literal(type: WrittenColumn['type'], value: string | number | null | undefined): string {
  if (value === null || value === undefined) return `NULL::${sqlTypes[type]}`
  if (type === 'long') return `${value}::bigint`
  return type === 'binary' ? `unhex('${value}')` : `'${value}'`
}
