/**
 * A service with tables of every kind of visibility, and callers of every kind, for tests of who sees what. Another
 * tenant has the same tables, all of them open.
 */

import type { ChangeContext } from '../../src/contract/change.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putRowFilter } from '../../src/contract/put-row-filter.ts'
import type { SessionScope } from '../../src/core/session.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { actorOf } from './actor.ts'
import { commitColumns } from './governed.ts'
import {
  addTenant,
  startTestService,
  type TestService,
  type TestServiceOptions,
  type TestTenant,
} from './service.ts'

const named = (name: string): TableRef => ({ namespace: ['sales'], name })
/**
 * - `open`: under a contract, and nothing of it is hidden
 * - `filtered`, `masked`: under a contract, with a row filter or a mask on `email` from which officers are exempt
 * - `bare`: without a contract
 */
export const seenTables = {
  open: named('open'),
  filtered: named('filtered'),
  masked: named('masked'),
  bare: named('bare'),
} as const
export const tableColumns = { id: 'long', email: 'string' } as const

const roles = {
  reader: [],
  officer: ['officer'],
  steward: ['steward'],
  administrator: ['administrator'],
} as const
type CallerName = keyof typeof roles | 'foreign'

export interface SeenTables extends AsyncDisposable {
  readonly service: TestService
  readonly foreign: TestTenant
  /** Secrets of sessions with the scope `read`, and of a steward of the other tenant. */
  readonly secrets: Readonly<Record<CallerName, string>>
  /** Context of changes by a steward. */
  readonly on: ChangeContext
  session(name: string, roles: readonly string[], scopes: readonly SessionScope[]): Promise<string>
  /** An answer of the API to one of the callers, or to the session of a secret. */
  call(
    as: CallerName | { readonly secret: string },
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly text: string; readonly json: Record<string, unknown> }>
  /** The items of a list, as a caller sees them. */
  listed(as: CallerName, path: string): Promise<readonly Record<string, unknown>[]>
}

export async function startSeenTables(options: TestServiceOptions = {}): Promise<SeenTables> {
  const service = await startTestService(options)
  const { store, owner, catalog } = service
  const foreign = await addTenant(store, 'other', catalog.url)
  const contextOf = ({ tenant }: TestTenant) => ({ store, tenant, actor: actorOf('stella'), checkPolicies })
  const on = contextOf(owner)
  for (const each of [on, contextOf(foreign)]) {
    for (const table of Object.values(seenTables))
      await commitColumns(store, each.tenant, table, tableColumns)
    for (const { name } of [seenTables.open, seenTables.filtered, seenTables.masked])
      await putContract(each, named(name), { id: name, version: 1 })
  }
  const exemptRoles = ['officer']
  await putRowFilter(on, { table: seenTables.filtered }, { id: 'f', expression: 'id > 10', exemptRoles })
  await putMask(
    on,
    { table: seenTables.masked, column: 'email' },
    { id: 'm', action: 'show-last-4', exemptRoles },
  )

  const sessionOf = async (
    { tenant }: Pick<TestTenant, 'tenant'>,
    name: string,
    held: readonly string[],
    scopes: readonly SessionScope[],
  ) =>
    (await createServiceSession(store, tenant, { name, principal: { sub: name, roles: held }, scopes }))
      .secret
  const made = await Promise.all(
    Object.entries(roles).map(async ([name, held]) => [name, await sessionOf(owner, name, held, ['read'])]),
  )
  const secrets: Record<CallerName, string> = {
    ...Object.fromEntries(made),
    foreign: await sessionOf(foreign, 'stranger', ['steward', 'administrator'], ['read']),
  }
  const call: SeenTables['call'] = async (as, method, path, body) => {
    const response = await fetch(new URL(path, service.app.url), {
      method,
      headers: {
        'content-type': 'application/json',
        'x-svc-session': typeof as === 'string' ? secrets[as] : as.secret,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, json: text === '' ? {} : JSON.parse(text) }
  }
  return {
    ...{ service, foreign, secrets, on, call },
    session: (name, held, scopes) => sessionOf(owner, name, held, scopes),
    async listed(as, path) {
      const { status, text, json } = await call(as, 'GET', path)
      if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`)
      return json.items as readonly Record<string, unknown>[]
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
