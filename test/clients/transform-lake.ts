/** What the suites of the transform share: a gateway before a catalog on local files, rules, and a policy that demands the plan. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'

/** Where the Python library lies. */
export const pythonLibrary = new URL('../../clients/python/', import.meta.url).pathname

export interface TransformLake extends AsyncDisposable {
  readonly lake: Lake
  /** The URI that clients of the catalog get. */
  readonly catalogUri: string
  /** What the Python library takes from its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Declares the rule of a column of a table in `sales`. */
  declare(table: string, column: string, rule: object): Promise<void>
  /** A request of the steward: the answer's status and body. */
  call(method: string, path: string, body: object): Promise<{ status: number; text: string }>
  /** Refuses commits to a table in `sales` that do not show its plan. */
  demandPlan(table: string): Promise<void>
  /** The files of the catalog that hold a text. */
  filesWith(text: string): readonly string[]
}

/** What the policy says. */
export const demand = 'write with the plan of the table'

export async function startTransformLake(): Promise<TransformLake> {
  const stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'covenant-transform-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  stack.defer(() => catalog.stop())
  const lake = stack.use(
    await startLake({
      catalog: { url: catalog.url, warehouse: 'dev', folder },
      tables: [],
      env: { SVC_LICENSE: licenseForAll() },
    }),
  )
  const { secret: steward } = await createServiceSession(lake.store, lake.tenant, {
    name: 'stella',
    principal: { sub: 'stella', roles: ['steward'] },
    scopes: [...sessionScopes],
  })
  const call = async (method: string, path: string, body: object) => {
    const answer = await fetch(new URL(`/api/v1${path}`, lake.app.url), {
      method,
      headers: { 'x-svc-session': steward, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  }
  return {
    lake,
    catalogUri: new URL(`/v1/iceberg/${lake.catalog}`, lake.app.url).href,
    env: {
      PYTHONPATH: pythonLibrary,
      PYTHONDONTWRITEBYTECODE: '1',
      COVENANT_URL: lake.app.url.origin,
      COVENANT_SESSION: lake.env.PGPASSWORD,
    },
    call,
    async declare(table, column, rule) {
      const answer = await call('PUT', `/transform/rules/columns/sales/${table}/${column}`, rule)
      if (answer.status !== 204)
        throw new Error(`the rule of ${column} was answered ${answer.status}: ${answer.text}`)
    },
    async demandPlan(table) {
      const policy = {
        id: `transformed-${table}`,
        name: 'transformed',
        kind: 'schema',
        mode: 'enforce',
      } as const
      await putPolicy(
        lake.store,
        lake.tenant,
        { namespace: ['sales'], name: table },
        { ...policy, definitionCel: 'transform.current(commit)', message: demand },
      )
    },
    filesWith: (text) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => readFileSync(path).includes(text)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
