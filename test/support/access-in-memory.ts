/** Walks access for a time on the service's pure functions and a store in memory. */

import { reviewRequest } from '../../src/contract/access/review.ts'
import { liftsOf } from '../../src/contract/access/wanted-lifts.ts'
import { type Grantee, type GrantLifts, type StoredGrant, withGrantsOf } from '../../src/core/access-grant.ts'
import type { Governance, StoredMask, StoredRowFilter } from '../../src/core/governance.ts'
import { currentSchema, protectionsFor, seenTable, viewerAt } from '../../src/core/seen-table.ts'
import { cellsOf } from './access-cells.ts'
import { type AccessDriver, walkAccess } from './access-walk.ts'
import {
  columns,
  type Hides,
  type Rule,
  type Step,
  type TenantName,
  type Who,
  type World,
} from './access-world.ts'

interface Request {
  readonly tenant: TenantName
  readonly name: string
  readonly uuid: string | undefined
  readonly step: Extract<Step, { do: 'request' }>
  readonly grantee: Grantee
  readonly lifts: GrantLifts
  readonly askedMs: number
  state: string
}
interface Held extends StoredGrant {
  readonly tenant: TenantName
  name: string
  isEnded: boolean
}

/** A store in memory, which ends and carries on as migrations/functions/reads.sql does. */
function inMemory(): AccessDriver {
  const requests: Request[] = []
  const grants: Held[] = []
  let late: { readonly world: World; readonly grants: readonly Held[] }
  const end = (
    tenant: TenantName,
    name: string,
    isMeant: (uuid: string | undefined) => boolean,
    ends = true,
  ) => {
    for (const one of requests)
      if (one.tenant === tenant && one.name === name && one.state === 'waiting' && isMeant(one.uuid))
        one.state = 'expired'
    for (const one of ends ? grants : [])
      if (one.tenant === tenant && one.name === name && isMeant(one.tableUuid)) one.isEnded = true
  }
  const lifting = (
    world: World,
    tenant: TenantName,
    name: string,
    step: Request['step'],
    grantee: Grantee,
  ) => {
    try {
      const governing = { read: governanceOf(world, grants, tenant, name), policies: [] }
      return liftsOf(governing, { grantee, roles: step.by.roles }, step).lifts
    } catch {
      return undefined
    }
  }
  const carryOut = (step: Step, world: World): boolean => {
    switch (step.do) {
      case 'request': {
        const { tenant, name, by, role } = step
        if (role === 'steward' || (role !== undefined && !by.roles.includes(role))) return false
        const grantee = role === undefined ? { sub: by.sub } : { role }
        const lifts = lifting(world, tenant, name, step, grantee)
        if (lifts === undefined) return false
        const uuid = world.tables[tenant][name]?.uuidOfCommit
        requests.push({ tenant, name, uuid, step, grantee, lifts, askedMs: world.nowMs, state: 'waiting' })
        return true
      }
      case 'decide': {
        const one = requests.filter(({ tenant }) => tenant === step.tenant)[step.at]
        if (one === undefined) return false
        const { tenant, name, grantee, lifts } = one
        const verdict = reviewRequest(
          {
            ...{
              state: one.state,
              sha256: 's',
              requester: one.step.by,
              grantee,
              approvals: [],
              second: 'none' as const,
            },
            isOverdue: world.nowMs >= one.askedMs + 14 * 86_400_000,
          },
          step.by,
          { isSteward: step.by.roles.includes('steward'), isAdministrator: false, isOwner: false },
          { approves: step.approves, sha256: 's' },
        )
        if (verdict.kind === 'refused') return false
        const now = lifting(world, tenant, name, one.step, grantee)
        const isSame = world.tables[tenant][name]?.uuidOfCommit === one.uuid && Bun.deepEquals(now, lifts)
        if (step.approves && !isSame) return false
        one.state = step.approves ? 'granted' : 'denied'
        if (step.approves)
          grants.push({
            ...{
              id: String(grants.length),
              tenant,
              name,
              grantee,
              lifts,
              purpose: 'p',
              fromMs: world.nowMs,
              isEnded: false,
            },
            untilMs: world.nowMs + one.step.seconds * 1_000,
            ...(one.uuid !== undefined && { tableUuid: one.uuid }),
          })
        return true
      }
      case 'revoke': {
        const one = grants.filter(({ tenant }) => tenant === step.tenant)[step.at]
        const may =
          one &&
          (step.by.roles.includes('steward') || ('sub' in one.grantee && one.grantee.sub === step.by.sub))
        if (one === undefined || !may || one.isEnded || one.untilMs <= world.nowMs) return false
        one.isEnded = true
        return true
      }
      case 'rename': {
        const hasSeveral = world.catalogs[step.tenant]
        end(step.tenant, step.name, () => true, hasSeveral)
        for (const one of grants)
          if (one.tenant === step.tenant && one.name === step.name && !one.isEnded) one.name = step.to
        return true
      }
      case 'drop':
      case 'create':
        end(step.tenant, step.name, () => true)
        return true
      case 'clone':
        end(step.tenant, step.to, () => true)
        return true
      case 'commit': {
        const { uuid } = world.tables[step.tenant][step.name] ?? {}
        end(step.tenant, step.name, (other) => other !== uuid)
        return true
      }
      default:
        return true
    }
  }
  return {
    carryOut: async (step, world) => (carryOut(step, world) ? 'done' : 'refused'),
    async refresh(world) {
      late = { world: structuredClone(world), grants: structuredClone(grants) }
    },
    async read(now, { tenant, name, who, isLate }) {
      const of = isLate ? late : { world: now, grants }
      const table = now.tables[tenant][name]
      if (table?.uuid === undefined || of.world.tables[tenant][name]?.uuidOfCommit === undefined) return []
      return cellsOf(seenBy(governanceOf(of.world, of.grants, tenant, name), table.uuid, who, now.nowMs))
    },
  }
}

function seenBy(governance: Governance, uuid: string, who: Who, atMs: number) {
  const own = withGrantsOf(governance, uuid)
  const viewer = viewerAt(who, atMs)
  const seen = seenTable(own, currentSchema(own), viewer)
  // What an open read is compared by says the same of the rows.
  const { filters, masks } = protectionsFor(own, viewer)
  const shown = seen.columns.reduce((count, column) => count + column.masks.length, 0)
  if (filters.length !== seen.rowFilters.length || masks.length !== shown)
    throw new Error('An open read would be compared by something else than its rows.')
  return seen
}

function governanceOf(world: World, grants: readonly Held[], tenant: TenantName, name: string): Governance {
  const { hides, cloneOf, uuidOfCommit } = world.tables[tenant][name] as World['tables'][TenantName][string]
  const from = [hides, ...(cloneOf === undefined ? [] : [world.tables[tenant][cloneOf]?.hides as Hides])]
  const stored = <T>(rules: Record<string, Rule>, more: (does: string) => T) =>
    Object.entries(rules).map(([policyId, { does, spares }]) => ({
      policyId,
      exemptRoles: spares,
      ...more(does),
    }))
  const filters = from.flatMap(({ filters: rules }): readonly StoredRowFilter[] =>
    stored(rules, (does) => ({ origin: { kind: 'table' as const }, expression: does, names: { region: 1 } })),
  )
  return {
    ...{ ref: { namespace: ['sales'], name }, contract: { id: 'c', version: 1 }, pin: undefined, tags: [] },
    ...{
      readableWithoutContract: false,
      rowFilters: filters,
      ...(cloneOf !== undefined && { isClone: true as const }),
    },
    ...(uuidOfCommit !== undefined && { tableUuid: uuidOfCommit }),
    columns: columns.map((column, index) => ({
      ...{ id: column, fieldId: index + 1, name: column, type: 'string', required: false, current: true },
      tags: hides.columns[column]?.tags ?? [],
      masks: from.flatMap(({ columns: of }): readonly StoredMask[] =>
        stored(of[column]?.masks ?? {}, (action) => ({ origin: { kind: 'column' as const }, action })),
      ),
    })),
    grants: grants
      .filter((one) => one.tenant === tenant && one.name === name && !one.isEnded)
      .filter(({ tableUuid }) => tableUuid === uuidOfCommit),
  }
}

/** Walks so many sequences, by a seed that it prints. @returns the grants made, and the reads that saw more by one */
export async function walkInMemory(
  sequences: number,
): Promise<{ readonly granted: number; readonly lifted: number }> {
  const seed = Number(process.env.SVC_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`SVC_TEST_SEED=${seed}`)
  const total = { granted: 0, lifted: 0 }
  for (let index = 0; index < sequences; index++) {
    const open = async (world: World) => {
      const driver = inMemory()
      await driver.refresh(world)
      return driver
    }
    const walked = await walkAccess(seed + index, open, { steps: 24, reads: 4, clones: true })
    total.granted += walked.granted
    total.lifted += walked.lifted
  }
  return total
}
