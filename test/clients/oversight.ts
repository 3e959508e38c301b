/** What stewards, administrators and readers do at a gateway of these tests: grants over REST, reads over the wire. */

import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putRowFilter } from '../../src/contract/put-row-filter.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { Territory } from '../../src/core/territory.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { putReadSettings } from '../../src/store/contract/read-settings.ts'
import { actorOf } from '../support/actor.ts'
import { eventually } from '../support/eventually.ts'
import { openSession } from '../support/identity.ts'
import { readOverWire } from '../support/wire-client.ts'
import type { Gateway } from './gateway.ts'

/** A session of a principal: its id and secret stand in a client's settings. */
export interface Login {
  readonly sub: string
  readonly sessionId: string
  readonly secret: string
}

export interface Conflict {
  readonly prefix: string
  readonly reason: string
  readonly owner?: TableRef
}

export interface Oversight {
  /** Writes, and is exempt from filters and masks. */
  readonly engineer: Login
  /** Writes and reads, and has no role. */
  readonly anybody: Login
  /** The answer to a call of `/api/v1/territory` as an administrator who is a steward. */
  call(method: string, path: string, body?: object): Promise<Response>
  /** Grants the table a folder. @returns the status */
  grant(table: TableRef, prefix: string): Promise<number>
  /** Makes the checks that follow commits. */
  check(): Promise<void>
  /** Releases the newest snapshot of a table, once the check after its commit has quarantined it. @returns the status */
  release(table: TableRef): Promise<number>
  /** What is listed of a table. */
  conflicts(table: TableRef): Promise<readonly Conflict[]>
  switchTo(mode: Territory['mode']): Promise<void>
  /** Filters and masks for everybody who is no engineer, after the table has a contract. */
  govern(table: TableRef, rowFilter: string | undefined, maskedColumn: string): Promise<void>
  /** Rows (`D …`), the error (`E …`) and the end (`C …`) of a statement. */
  read(login: Login, text: string, catalog?: string): Promise<readonly string[]>
}

const exemptRoles = ['engineer']

/** Tables without a contract may be read, as far as the territory lets them. */
export async function openOversight(gateway: Gateway): Promise<Oversight> {
  const { app, store, tenant } = gateway
  const actor = actorOf('stella')
  await putReadSettings(store, tenant, actor, { uncontracted: 'readable' })
  const logIn = async (sub: string, roles: readonly string[], scopes: readonly ('admin' | 'commit')[]) => {
    const { id, secret } = await openSession(gateway, tenant, ['read', ...scopes], roles, sub)
    return { sub, sessionId: id, secret }
  }
  const steward = await logIn('stella', ['steward', 'administrator'], ['admin'])
  const call: Oversight['call'] = (method, path, body) =>
    fetch(new URL(`/api/v1/territory${path}`, app.url), {
      method,
      headers: { 'content-type': 'application/json', 'x-svc-session': steward.secret },
      ...(body && { body: JSON.stringify(body) }),
    })
  const listed = async <T>(path: string, { namespace, name }: TableRef) => {
    const query = new URLSearchParams({ namespace: namespace.join('\u001f'), table: name })
    const answer = await call('GET', `${path}?${query}`)
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    return ((await answer.json()) as { items: readonly T[] }).items
  }
  return {
    engineer: await logIn('ann', exemptRoles, ['commit']),
    anybody: await logIn('bob', [], ['commit']),
    call,
    grant: async (table, prefix) =>
      (await call('POST', '/grants', { catalog: 'main', table, prefix })).status,
    check: () => app.jobs.run('audit-manifests'),
    async release(table) {
      const id = await eventually(async () => {
        await app.jobs.run('audit-manifests')
        const [newest] = await listed<{ id: string; release?: object }>('/quarantine', table)
        return newest?.release === undefined && newest?.id
      })
      const reason = 'the files were agreed upon'
      return (await call('POST', `/quarantine/${id}/release`, { reason })).status
    },
    conflicts: (table) => listed('/conflicts', table),
    async switchTo(mode) {
      await app.jobs.run('sweep-territory')
      const answer = await call('PUT', '/mode', { mode })
      if (!answer.ok) throw new Error(`the mode was answered ${answer.status}: ${await answer.text()}`)
    },
    async govern(table, rowFilter, column) {
      const on = { store, tenant, actor, checkPolicies }
      const id = [...table.namespace, table.name].join('-')
      await putContract(on, table, { id, version: 1 })
      await putMask(on, { table, column }, { id: `${id}-mask`, action: 'replace-with-null', exemptRoles })
      if (rowFilter !== undefined)
        await putRowFilter(on, { table }, { id: `${id}-rows`, expression: rowFilter, exemptRoles })
    },
    read: ({ sub, secret }, text, catalog = 'main') =>
      readOverWire({ port: app.pgwirePort, user: sub, database: catalog, password: secret }, text),
  }
}
