/**
 * The oracle of access for a time, written from docs/access.md alone: who sees what of which table at which moment. It
 * knows rules by their texts and rows by their values, and shares no code with the service.
 */

import {
  type Hides,
  type Rule,
  rows,
  type Step,
  type TenantName,
  tableOf,
  type Wanted,
  type Who,
  type World,
} from './access-world.ts'

/** What a grant lifts: rules of columns with their tags, and filters, each by what it does. */
interface Covers {
  readonly columns: Record<string, { readonly tags: readonly string[]; readonly does: readonly string[] }>
  readonly filters: readonly string[]
}
interface Asked {
  readonly tenant: TenantName
  name: string
  readonly uuid: string | undefined
  readonly by: Who
  readonly wanted: Wanted
  readonly covers: Covers
  readonly seconds: number
  readonly askedMs: number
  state: 'waiting' | 'over'
}
interface Given {
  readonly tenant: TenantName
  name: string
  readonly uuid: string | undefined
  readonly to: { readonly sub: string } | { readonly role: string }
  readonly covers: Covers
  readonly fromMs: number
  readonly untilMs: number
  isEnded: boolean
}
export type Outcome = 'done' | 'refused'

export interface Oracle {
  readonly asked: Asked[]
  given: Given[]
}
export const newOracle = (): Oracle => ({ asked: [], given: [] })

const spared = ({ spares }: Rule, roles: readonly string[]) => spares.some((role) => roles.includes(role))
const applying = (rules: Record<string, Rule>, roles: readonly string[]) =>
  Object.values(rules).filter((rule) => !spared(rule, roles))
const unique = (texts: readonly string[]) => [...new Set(texts)].sort()

/** What would be lifted of a name now; undefined where a wanted thing hides nothing from them, or nothing does. */
function coversOf(
  hides: Hides,
  roles: readonly string[],
  { columns: wanted, filters: ids }: Wanted,
): Covers | undefined {
  const isAll = wanted === undefined && ids === undefined
  const columns: Covers['columns'] = {}
  for (const [name, { tags, masks }] of Object.entries(hides.columns)) {
    const does = unique(applying(masks, roles).map((rule) => rule.does))
    if (does.length === 0 && wanted?.includes(name)) return undefined
    if (does.length > 0 && (isAll || wanted?.includes(name))) columns[name] = { tags: [...tags], does }
  }
  for (const id of ids ?? [])
    if (hides.filters[id] === undefined || spared(hides.filters[id], roles)) return undefined
  const chosen = Object.entries(hides.filters).filter(
    ([id, rule]) => !spared(rule, roles) && (isAll || ids?.includes(id)),
  )
  const filters = unique(chosen.map(([, { does }]) => does))
  return Object.keys(columns).length + filters.length === 0 ? undefined : { columns, filters }
}

/** What becomes of a request, a decision or a revocation, and what ends with another step. Before the world changes. */
export function foresee(oracle: Oracle, world: World, step: Step): Outcome {
  const { asked, given } = oracle
  const ending = (
    tenant: TenantName,
    name: string,
    isMeant: (uuid: string | undefined) => boolean,
    grants = true,
  ) => {
    for (const one of asked)
      if (one.tenant === tenant && one.name === name && isMeant(one.uuid)) one.state = 'over'
    for (const one of grants ? given : [])
      if (one.tenant === tenant && one.name === name && isMeant(one.uuid)) one.isEnded = true
  }
  switch (step.do) {
    case 'request': {
      const { tenant, name, by, role, seconds, columns, filters } = step
      const table = tableOf(world, { tenant, name })
      const may = role === undefined || (role !== 'steward' && by.roles.includes(role))
      const covers =
        may && !isClone(table) && coversOf(table.hides, role === undefined ? by.roles : [role], step)
      if (covers === undefined || covers === false) return 'refused'
      asked.push({
        ...{
          tenant,
          name,
          uuid: table.uuidOfCommit,
          by,
          covers,
          seconds,
          askedMs: world.nowMs,
          state: 'waiting',
        },
        wanted: { columns, filters, role },
      })
      return 'done'
    }
    case 'decide': {
      const one = asked.filter(({ tenant }) => tenant === step.tenant)[step.at]
      if (one === undefined || one.state !== 'waiting') return 'refused'
      const { by, wanted, tenant, name, uuid, covers, seconds } = one
      const { role } = wanted
      const isConcerned = step.by.sub === by.sub || (role !== undefined && step.by.roles.includes(role))
      if (isConcerned || !step.by.roles.includes('steward') || world.nowMs >= one.askedMs + 14 * 86_400_000)
        return 'refused'
      if (!step.approves) {
        one.state = 'over'
        return 'done'
      }
      const table = tableOf(world, { tenant, name })
      const now = isClone(table)
        ? undefined
        : coversOf(table.hides, role === undefined ? by.roles : [role], wanted)
      if (table.uuidOfCommit !== uuid || !Bun.deepEquals(now, covers)) return 'refused'
      one.state = 'over'
      const to = role === undefined ? { sub: by.sub } : { role }
      const fromMs = world.nowMs
      given.push({
        tenant,
        name,
        uuid,
        to,
        covers,
        fromMs,
        untilMs: fromMs + seconds * 1_000,
        isEnded: false,
      })
      return 'done'
    }
    case 'revoke': {
      const one = given.filter(({ tenant }) => tenant === step.tenant)[step.at]
      const may =
        one && (step.by.roles.includes('steward') || ('sub' in one.to && one.to.sub === step.by.sub))
      if (one === undefined || !may || one.isEnded || one.untilMs <= world.nowMs) return 'refused'
      one.isEnded = true
      return 'done'
    }
    case 'rename':
      ending(step.tenant, step.name, () => true, world.catalogs[step.tenant])
      for (const one of given)
        if (one.tenant === step.tenant && one.name === step.name && !one.isEnded) one.name = step.to
      return 'done'
    case 'drop':
    case 'create':
      ending(step.tenant, step.name, () => true)
      return 'done'
    case 'clone':
      ending(step.tenant, step.to, () => true)
      return 'done'
    case 'commit':
      ending(step.tenant, step.name, (uuid) => uuid !== world.tables[step.tenant][step.name]?.uuid)
      return 'done'
    default:
      return 'done'
  }
}

const isClone = ({ cloneOf }: World['tables'][TenantName][string]) => cloneOf !== undefined

/**
 * The cells that somebody sees of a table, a line each; none where the catalog has no table of the name.
 * @param then the world and the grants that the replica knows; time and the catalog are those of now
 */
export function sees(
  now: World,
  then: { readonly world: World; readonly given: readonly Given[] },
  { tenant, name, who }: { readonly tenant: TenantName; readonly name: string; readonly who: Who },
): readonly string[] {
  const table = now.tables[tenant][name]
  const known = then.world.tables[tenant][name]
  if (table?.uuid === undefined || known?.uuidOfCommit === undefined) return []
  const { uuid } = table
  const theirs = then.given.filter(
    (one) =>
      one.tenant === tenant &&
      one.name === name &&
      !one.isEnded &&
      one.fromMs <= now.nowMs &&
      now.nowMs < one.untilMs &&
      ('sub' in one.to ? one.to.sub === who.sub : who.roles.includes(one.to.role)) &&
      // A grant is about one table: the one that the service and the catalog have under the name.
      one.uuid === uuid &&
      one.uuid === known.uuidOfCommit &&
      !isClone(known),
  )
  const source = known.cloneOf === undefined ? undefined : then.world.tables[tenant][known.cloneOf]
  const hides = [known.hides, ...(source ? [source.hides] : [])]
  const hidden = (rules: Record<string, Rule>, isLifted: (covers: Covers, does: string) => boolean) =>
    applying(rules, who.roles).filter(({ does }) => !theirs.some(({ covers }) => isLifted(covers, does)))
  const filters = hides.flatMap((of) => hidden(of.filters, (covers, does) => covers.filters.includes(does)))
  return rows
    .filter(({ region }) => filters.every(({ does }) => does === region))
    .flatMap((row) =>
      Object.entries(row).map(([column, value]) => {
        const masks = hides.flatMap(({ columns }) =>
          hidden(columns[column]?.masks ?? {}, (covers, does) => {
            const covered = covers.columns[column]
            const tags = columns[column]?.tags ?? []
            return covered?.does.includes(does) === true && tags.every((tag) => covered.tags.includes(tag))
          }),
        )
        return masks.length === 0 ? value : unique(masks.map(({ does }) => does)).join('+')
      }),
    )
}
