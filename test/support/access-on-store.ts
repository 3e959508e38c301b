/** Walks access for a time on a store, by the service's own operations. Each sequence has tables of its own. */

import { Fault } from '../../src/base/fault.ts'
import { decideAccess, revokeAccess } from '../../src/contract/access/decide-access.ts'
import { requestAccess } from '../../src/contract/access/request-access.ts'
import { deleteMask } from '../../src/contract/delete-mask.ts'
import { deleteRowFilter } from '../../src/contract/delete-row-filter.ts'
import { deleteTag } from '../../src/contract/delete-tag.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { putRowFilter } from '../../src/contract/put-row-filter.ts'
import { putTag } from '../../src/contract/put-tag.ts'
import { withGrantsOf } from '../../src/core/access-grant.ts'
import type { Governance } from '../../src/core/governance.ts'
import { currentSchema, seenTable, viewerAt } from '../../src/core/seen-table.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import {
  putCatalogCredential,
  removeCatalogCredential,
} from '../../src/store/catalog-credential/catalog-credentials.ts'
import { openIntent } from '../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { loadGovernance } from '../../src/store/governance/governance.ts'
import type { Store } from '../../src/store/store.ts'
import { cellsOf } from './access-cells.ts'
import type { AccessDriver } from './access-walk.ts'
import {
  applyStep,
  columns,
  type Hides,
  names,
  nothingHidden,
  type Step,
  type TenantName,
  tableOf,
  tenants,
  type Who,
  type World,
} from './access-world.ts'
import { actorOf } from './actor.ts'
import { approvedOf, committedOf, intentOf } from './commits.ts'

type Both = Record<TenantName, TenantId>

/** @param sequence its number, by which its tables are named */
export async function onStore(
  store: Store,
  ids: Both,
  sequence: number,
  first: World,
): Promise<AccessDriver> {
  const refOf = (name: string): TableRef => ({ namespace: ['walk'], name: `${name}${sequence}` })
  const committed = new Set<string>()
  const put: Record<TenantName, Record<string, Hides>> = { ours: {}, theirs: {} }
  const requests: Record<TenantName, { id: string; sha256: string }[]> = { ours: [], theirs: [] }
  const grants: Record<TenantName, string[]> = { ours: [], theirs: [] }
  let receivedAtMs = 1_700_000_000_000
  let late = new Map<string, Governance | undefined>()
  const changing = (tenant: TenantName) => ({
    store,
    tenant: ids[tenant],
    actor: actorOf('stella'),
    checkPolicies,
  })
  const asking = (tenant: TenantName, { sub, roles }: Who, { nowMs }: World) => ({
    ...{ store, clock: { now: () => nowMs }, tenant: ids[tenant], actor: { ...actorOf(sub), roles } },
    decider: { sub, roles, names: [sub], mayAdminister: true },
  })

  const record = async (tenant: TenantName, name: string, action: string, more: object = {}) => {
    const intent = intentOf({ table: refOf(name), action, receivedAtMs: receivedAtMs++ } as never)
    const verdict = { intent, decision: 'APPROVED', reason: '', policies: [], outcomes: [], ...more }
    await recordVerdict(store, ids[tenant], verdict as never)
  }
  /** A commit through the service, by which the store knows the table's uuid. */
  const commit = async (
    tenant: TenantName,
    name: string,
    tableUuid: string | undefined,
    action = 'update-table',
  ) => {
    const intent = intentOf({ table: refOf(name), action, receivedAtMs: receivedAtMs++ } as never)
    await openIntent(store, ids[tenant], intent)
    const fields = columns.map((column, index) => ({
      ...{ fieldId: BigInt(index + 1), name: column, type: 'string', required: false },
    }))
    const answer = approvedOf(intent, committedOf({ columns: fields, tableUuid }))
    const { ingested } = await recordVerdict(store, ids[tenant], answer)
    if (!ingested) throw new Error('the columns were not ingested')
    const key = `${tenant} ${name}`
    if (committed.has(key)) return
    committed.add(key)
    put[tenant][name] = nothingHidden()
    await putContract(changing(tenant), refOf(name), { id: `${name}${sequence}`, version: 1 })
  }
  /** Makes the contract hide what it hides in the world. */
  const sync = async (tenant: TenantName, name: string, to: Hides) => {
    const from = put[tenant][name]
    if (from === undefined) return
    const on = changing(tenant)
    const table = refOf(name)
    for (const column of columns) {
      const [was, is] = [from.columns[column], to.columns[column]]
      for (const id of Object.keys({ ...was?.masks, ...is?.masks })) {
        const rule = is?.masks[id]
        if (Bun.deepEquals(rule, was?.masks[id])) continue
        if (rule === undefined) await deleteMask(on, { table, column }, id)
        else await putMask(on, { table, column }, { id, action: rule.does, exemptRoles: rule.spares })
      }
      for (const tag of new Set([...(was?.tags ?? []), ...(is?.tags ?? [])])) {
        if (was?.tags.includes(tag) === is?.tags.includes(tag)) continue
        if (is?.tags.includes(tag)) await putTag(on, table, column, tag)
        else await deleteTag(on, table, column, tag)
      }
    }
    for (const id of Object.keys({ ...from.filters, ...to.filters })) {
      const rule = to.filters[id]
      if (Bun.deepEquals(rule, from.filters[id])) continue
      if (rule === undefined) await deleteRowFilter(on, { table }, id)
      else
        await putRowFilter(
          on,
          { table },
          { id, expression: `region = '${rule.does}'`, exemptRoles: rule.spares },
        )
    }
    put[tenant][name] = structuredClone(to)
  }

  const carryOut = async (step: Step, world: World): Promise<void> => {
    const after = structuredClone(world)
    applyStep(after, step)
    switch (step.do) {
      case 'request': {
        const { tenant, name, by, seconds, columns: wanted, filters, role } = step
        const asked = { table: refOf(name), purpose: 'p', seconds, columns: wanted, filters, role }
        const { request } = await requestAccess(asking(tenant, by, world), asked)
        requests[tenant].push(request)
        return
      }
      case 'decide': {
        const one = requests[step.tenant][step.at]
        if (one === undefined) throw new Fault('not_found', 'no such request')
        const decision = { approves: step.approves, sha256: one.sha256 }
        const grant = await decideAccess(asking(step.tenant, step.by, world), one.id, decision)
        if (grant !== undefined) grants[step.tenant].push(grant.id)
        return
      }
      case 'revoke':
        return await revokeAccess(
          asking(step.tenant, step.by, world),
          grants[step.tenant][step.at] ?? '',
          'enough',
        )
      case 'mask':
      case 'filter':
      case 'tag':
        return await sync(step.tenant, step.name, tableOf(after, step).hides)
      case 'rename': {
        const { tenant, name, to } = step
        const { uuid, hides } = tableOf(world, step)
        await commit(tenant, to, uuid)
        await sync(tenant, to, hides)
        return await record(tenant, name, 'rename-table', { renamedTo: refOf(to) })
      }
      case 'create':
        await commit(step.tenant, step.name, tableOf(after, step).uuid, 'create-table')
        return await sync(step.tenant, step.name, tableOf(after, step).hides)
      case 'commit':
        return await commit(step.tenant, step.name, tableOf(world, step).uuid)
      case 'drop':
        return await record(step.tenant, step.name, 'drop-table')
      case 'catalog':
        for (const nickname of nicknames)
          await putCatalogCredential(store, ids[step.tenant], catalogOf(nickname))
    }
  }

  for (const tenant of tenants) {
    for (const nickname of nicknames) await removeCatalogCredential(store, ids[tenant], nickname)
    for (const name of names) {
      const { uuid, hides } = tableOf(first, { tenant, name })
      if (uuid !== undefined) await commit(tenant, name, uuid)
      await sync(tenant, name, hides)
    }
  }
  const driver: AccessDriver = {
    async carryOut(step, world) {
      try {
        await carryOut(step, world)
        return 'done'
      } catch (thrown) {
        const refusals = ['not_found', 'forbidden', 'conflict', 'unprocessable', 'bad_request']
        if (thrown instanceof Fault && refusals.includes(thrown.kind)) return 'refused'
        throw thrown
      }
    },
    async refresh() {
      late = new Map()
      for (const tenant of tenants)
        for (const name of names)
          late.set(`${tenant} ${name}`, await loadGovernance(store, ids[tenant], refOf(name)))
    },
    async read(world, { tenant, name, who, isLate }) {
      const { uuid } = tableOf(world, { tenant, name })
      if (uuid === undefined) return []
      const found = isLate
        ? late.get(`${tenant} ${name}`)
        : await loadGovernance(store, ids[tenant], refOf(name))
      if (found === undefined) return []
      const own = withGrantsOf(found, uuid)
      return cellsOf(seenTable(own, currentSchema(own), viewerAt(who, world.nowMs)))
    },
  }
  await driver.refresh(first)
  return driver
}

const nicknames = ['one', 'two']
function catalogOf(nickname: string) {
  const endpoint = 'https://catalog.example'
  return { nickname, kind: 'alpha' as const, endpoint, config: { endpoint, warehouse: 'w' } }
}
