/**
 * A small world of tables whose contracts, names and grants of access change by random steps: what a step is, how steps
 * are drawn, and what the tables are after each. Who sees what is the oracle's (`access-oracle.ts`).
 */

export interface Who {
  readonly sub: string
  readonly roles: readonly string[]
}
export const tenants = ['ours', 'theirs'] as const
export type TenantName = (typeof tenants)[number]
interface On {
  readonly tenant: TenantName
  readonly name: string
}

export type Step =
  | ({ readonly do: 'request'; readonly by: Who; readonly seconds: number } & Wanted & On)
  | {
      readonly do: 'decide'
      readonly tenant: TenantName
      readonly at: number
      readonly by: Who
      readonly approves: boolean
    }
  | { readonly do: 'revoke'; readonly tenant: TenantName; readonly at: number; readonly by: Who }
  | { readonly do: 'wait'; readonly ms: number }
  | ({ readonly do: 'mask'; readonly column: string; readonly id: string; readonly rule?: Rule } & On)
  | ({ readonly do: 'filter'; readonly id: string; readonly rule?: Rule } & On)
  | ({ readonly do: 'tag'; readonly column: string; readonly tag: string; readonly isSet: boolean } & On)
  | ({ readonly do: 'rename' | 'clone'; readonly to: string } & On)
  | ({ readonly do: 'drop' | 'create' | 'replace' | 'commit' } & On)
  | { readonly do: 'catalog'; readonly tenant: TenantName }
  | { readonly do: 'refresh' }

export interface Wanted {
  readonly columns?: readonly string[] | undefined
  readonly filters?: readonly string[] | undefined
  /** For everybody with it; else for who asks. */
  readonly role?: string | undefined
}

/** What a mask or filter does, and whom it spares. */
export interface Rule {
  readonly does: string
  readonly spares: readonly string[]
}

/** What a contract hides of a name, whether or not a table has it. */
export interface Hides {
  readonly columns: Record<string, { readonly tags: string[]; readonly masks: Record<string, Rule> }>
  readonly filters: Record<string, Rule>
}

export interface WorldTable {
  /** Of the table that the catalog has; undefined where it has none of the name. */
  uuid: string | undefined
  /** Of the last commit that went through the service. */
  uuidOfCommit: string | undefined
  cloneOf: string | undefined
  hides: Hides
}

export interface World {
  nowMs: number
  readonly tables: Record<TenantName, Record<string, WorldTable>>
  /** Whether the tenant has several catalogs. */
  readonly catalogs: Record<TenantName, boolean>
  uuids: number
}

export const columns = ['region', 'email', 'card']
export const names = ['a', 'b', 'c']
/** What the tables hold: the same rows each, whatever their name. */
export const rows = ['east', 'west', 'east'].map((region, row) => ({
  region,
  email: `e${row}@x`,
  card: `card ${row}`,
}))
const actions = ['mask-alphanum', 'replace-with-null']
const roles = ['analyst', 'officer']
const people = ['ann', 'bob', 'cid']
const hourMs = 3_600_000

export const nothingHidden = (): Hides => ({
  columns: Object.fromEntries(columns.map((name) => [name, { tags: [], masks: {} }])),
  filters: {},
})

/** Two tenants with the same two tables, whose e-mail addresses are masked and of which the east alone is seen. */
export function firstWorld(): World {
  const world: World = {
    nowMs: 1_800_000_000_000,
    tables: { ours: {}, theirs: {} },
    catalogs: { ours: false, theirs: false },
    uuids: 0,
  }
  for (const tenant of tenants)
    for (const name of names) {
      const hides = nothingHidden()
      if (name !== 'c') columnOf(hides, 'email').masks.hide = { does: 'mask-alphanum', spares: ['officer'] }
      if (name !== 'c') hides.filters.east = { does: 'east', spares: ['officer'] }
      const uuid = name === 'c' ? undefined : uuidOf(world)
      world.tables[tenant][name] = { uuid, uuidOfCommit: uuid, cloneOf: undefined, hides }
    }
  return world
}

function uuidOf(world: World): string {
  return `00000000-0000-4000-8000-${String(++world.uuids).padStart(12, '0')}`
}

/** What of the world a step changes; the clock too. */
export function applyStep(world: World, step: Step): void {
  switch (step.do) {
    case 'wait':
      world.nowMs += step.ms
      return
    case 'catalog':
      world.catalogs[step.tenant] = true
      return
    case 'mask':
      putRule(columnOf(tableOf(world, step).hides, step.column).masks, step)
      return
    case 'filter':
      putRule(tableOf(world, step).hides.filters, step)
      return
    case 'tag': {
      const { tags } = columnOf(tableOf(world, step).hides, step.column)
      if (step.isSet !== tags.includes(step.tag))
        tags.splice(
          0,
          tags.length,
          ...(step.isSet ? [...tags, step.tag].sort() : tags.filter((one) => one !== step.tag)),
        )
      return
    }
    case 'rename': {
      const [from, to] = [tableOf(world, step), tableOf(world, { ...step, name: step.to })]
      Object.assign(to, { uuid: from.uuid, uuidOfCommit: from.uuid, hides: structuredClone(from.hides) })
      from.uuid = undefined
      return
    }
    case 'clone': {
      const to = tableOf(world, { ...step, name: step.to })
      to.uuid = to.uuidOfCommit = uuidOf(world)
      to.cloneOf = step.name
      return
    }
    case 'create': {
      const table = tableOf(world, step)
      table.uuid = table.uuidOfCommit = uuidOf(world)
      return
    }
    case 'replace':
      tableOf(world, step).uuid = uuidOf(world)
      return
    case 'commit': {
      const table = tableOf(world, step)
      table.uuidOfCommit = table.uuid
      return
    }
    case 'drop':
      tableOf(world, step).uuid = undefined
  }
}

/** The table of a name. */
export function tableOf(world: World, { tenant, name }: Pick<On, 'tenant' | 'name'>): WorldTable {
  const table = world.tables[tenant][name]
  if (table === undefined) throw new Error(`There is no name ${name} in this world.`)
  return table
}

/** What is hidden of a column. */
function columnOf({ columns: of }: Hides, column: string): Hides['columns'][string] {
  const found = of[column]
  if (found === undefined) throw new Error(`There is no column ${column} in this world.`)
  return found
}

function putRule(
  rules: Record<string, Rule>,
  { id, rule }: { readonly id: string; readonly rule?: Rule },
): void {
  if (rule === undefined) delete rules[id]
  else rules[id] = rule
}

/** What the draw of a step may look at beside the world. */
export interface Drawn {
  /** How many requests and grants each tenant has had. */
  readonly requests: Record<TenantName, number>
  readonly grants: Record<TenantName, number>
  /** Ends of grants that are to come. */
  readonly ends: readonly number[]
}

/** Draws a step that makes sense in the world: a catalog would not refuse it. */
export function drawStep(
  world: World,
  random: () => number,
  drawn: Drawn,
  has: { readonly clones: boolean },
): Step {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const some = <T>(list: readonly T[]) => list.filter(() => random() < 0.4)
  const tenant = random() < 0.8 ? 'ours' : 'theirs'
  const tables = world.tables[tenant]
  const isSource = (name: string) =>
    names.some((other) => tables[other]?.cloneOf === name && tables[other].uuid)
  const present = names.filter((name) => tables[name]?.uuid !== undefined)
  const whole = present.filter((name) => tables[name]?.cloneOf === undefined && !isSource(name))
  const settled = whole.filter((name) => tables[name]?.uuid === tables[name]?.uuidOfCommit)
  const absent = names.filter(
    (name) => tables[name]?.uuid === undefined && tables[name]?.cloneOf === undefined,
  )
  const who = (): Who => ({ sub: pick(people), roles: some(roles) })
  const rule = (does: string): { readonly rule?: Rule } =>
    random() < 0.3 ? {} : { rule: { does, spares: some(roles) } }
  const name = pick(names)
  const at = (count: number) => (random() < 0.7 ? Math.max(0, count - 1) : Math.floor(random() * (count + 1)))
  const kinds: readonly (() => Step | undefined)[] = [
    ...Array<() => Step | undefined>(4).fill(() =>
      present.length === 0
        ? undefined
        : {
            ...{ do: 'request', tenant, name: pick(present), by: who(), seconds: pick([60, 600, 3_600]) },
            ...(random() < 0.4 && { columns: [pick(columns)] }),
            ...(random() < 0.2 && { filters: ['east'] }),
            ...(random() < 0.2 && { role: pick([...roles, 'steward']) }),
          },
    ),
    ...Array<() => Step>(4).fill(() => ({
      ...{ do: 'decide', tenant, at: at(drawn.requests[tenant]), approves: random() < 0.9 },
      by:
        random() < 0.8
          ? { sub: pick(['stella', 'sten']), roles: ['steward'] }
          : { ...who(), roles: ['steward', ...some(roles)] },
    })),
    () => ({
      do: 'revoke',
      tenant,
      at: at(drawn.grants[tenant]),
      by: random() < 0.5 ? who() : { sub: 'sten', roles: ['steward'] },
    }),
    () => ({ do: 'wait', ms: pick([1, 30_000, 60_000, hourMs, 13 * 24 * hourMs]) }),
    () => {
      const end = pick(drawn.ends)
      return end === undefined ? undefined : { do: 'wait', ms: Math.max(0, end - world.nowMs - pick([0, 1])) }
    },
    () => ({
      do: 'mask',
      tenant,
      name,
      column: pick(columns),
      id: pick(['hide', 'more']),
      ...rule(pick(actions)),
    }),
    () => ({ do: 'filter', tenant, name, id: pick(['east', 'also']), ...rule(pick(['east', 'west'])) }),
    () => ({
      do: 'tag',
      tenant,
      name,
      column: pick(columns),
      tag: pick(['pii', 'secret']),
      isSet: random() < 0.6,
    }),
    () =>
      settled.length * absent.length === 0
        ? undefined
        : { do: 'rename', tenant, name: pick(settled), to: pick(absent) },
    () =>
      whole.length === 0
        ? undefined
        : { do: pick(['drop', 'replace', 'commit'] as const), tenant, name: pick(whole) },
    () => (absent.length === 0 ? undefined : { do: 'create', tenant, name: pick(absent) }),
    () => (random() < 0.1 ? { do: 'catalog', tenant } : undefined),
    () => ({ do: 'refresh' }),
    () =>
      !has.clones || settled.length * absent.length === 0
        ? undefined
        : { do: 'clone', tenant, name: pick(settled), to: pick(absent) },
  ]
  for (;;) {
    const step = pick(kinds)()
    if (step !== undefined) return step
  }
}
