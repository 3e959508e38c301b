/** Plans what a folder of settings would change on a service. It changes nothing. */

import { type JsonValue, parseJson } from '../../base/json.ts'
import { type Difference, differencesOf } from '../contracts/document-difference.ts'
import type { DesiredEntry, DesiredFolder, DesiredList, DesiredTenant } from './desired-files.ts'
import {
  type Ask,
  type Found,
  isFromEnvironment,
  type Kind,
  type Plain,
  type Side,
  type Step,
} from './kind.ts'
import { kinds } from './kinds.ts'

export interface PlannedSetting {
  /** As `tenants/Acme/policies/keep-id`. */
  readonly at: string
  readonly action: 'add' | 'change' | 'remove' | 'none'
  readonly file?: string
  readonly tenant: string | undefined
  readonly side: Side
  readonly differences: readonly Difference[]
  readonly notes: readonly string[]
  /** Why it cannot be applied. */
  readonly problem?: string
  readonly steps: readonly Step[]
  readonly showsSecret: boolean
  /** The file's words, without what the environment holds. */
  readonly said?: Plain
}

export interface SettingsPlan {
  readonly settings: readonly PlannedSetting[]
  /** The tenants of the files that there are, by name. */
  readonly tenants: ReadonlyMap<string, string>
}

/** Asks a service for what it has, for the session's own tenant, a tenant, or the installation. */
export type AskFor = (side: Side, tenant: string | undefined) => Ask

export interface PlanOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether what is not in a list of the files is removed. */
  readonly prune: boolean
}

interface ListedTenant {
  readonly id: string
  readonly name: string
  readonly organization_id?: string
  readonly state: string
}

/** Plans a folder. @throws Fault of the service */
export async function planSettings(
  askFor: AskFor,
  folder: DesiredFolder,
  { env, prune }: PlanOptions,
): Promise<SettingsPlan> {
  const listed = folder.tenants.length === 0 ? [] : await tenantsOf(askFor)
  const settings: PlannedSetting[] = []
  const ids = new Map<string, string>()
  for (const tenant of folder.tenants) {
    const found = listed.filter(({ name }) => name === tenant.name)
    settings.push(planTenant(tenant, found))
    if (found[0] !== undefined) ids.set(tenant.name, found[0].id)
  }
  for (const group of groupsOf(folder)) {
    const { kind, side, tenant } = group
    const id = tenant === undefined ? undefined : ids.get(tenant)
    const isNew = tenant !== undefined && id === undefined
    const found = isNew ? [] : await kind.find(askFor(side, id))
    const entries = folder.entries.filter((one) => isOf(one, group))
    settings.push(...entries.map((entry) => planEntry(entry, found, env)))
    const isList = folder.lists.some((one) => isOf(one, group))
    if (isList) settings.push(...planRest(group, entries, found, prune))
  }
  return { settings, tenants: ids }
}

async function tenantsOf(askFor: AskFor): Promise<readonly ListedTenant[]> {
  return await askFor('installation', undefined).every<ListedTenant>('list_tenants')
}

const isOf = (one: DesiredList, other: DesiredList) =>
  one.kind === other.kind && one.side === other.side && one.tenant === other.tenant

/** Each kind of each tenant once, in the order in which kinds are put. */
function groupsOf({ entries, lists }: DesiredFolder): readonly DesiredList[] {
  const groups: DesiredList[] = []
  for (const { kind, side, tenant } of [...entries, ...lists]) {
    const group = { kind, side, tenant }
    if (!groups.some((one) => isOf(one, group))) groups.push(group)
  }
  const placeOfKind = ({ kind }: DesiredList) => kinds.indexOf(kind)
  return groups.toSorted((a, b) => placeOfKind(a) - placeOfKind(b))
}

const placeOf = (tenant: string | undefined, kind: Kind, name: string) =>
  [...(tenant === undefined ? [] : ['tenants', tenant]), ...kind.at, ...(name === '' ? [] : [name])].join('/')

function planTenant(
  { name, organizationId, state, file }: DesiredTenant,
  [found, ...more]: readonly ListedTenant[],
): PlannedSetting {
  const same = {
    ...{ at: `tenants/${name}`, file, tenant: undefined, side: 'installation' as const, notes: [] },
    said: { organization_id: organizationId, state },
  }
  const move = (id: unknown, to: typeof state): readonly Step[] =>
    to === undefined
      ? []
      : [{ operation: to === 'active' ? 'resume_tenant' : 'suspend_tenant', input: { tenant: id } }]
  if (found === undefined) {
    const input = { name, ...(organizationId !== undefined && { organization_id: organizationId }) }
    const made: Step = {
      ...{ operation: 'make_tenant', input },
      next: (output) => (state === 'suspended' ? move((output as ListedTenant).id, state) : []),
    }
    return { ...same, action: 'add', differences: [], steps: [made], showsSecret: false }
  }
  const before = { organization_id: found.organization_id, state: found.state }
  const differences = differencesBetween(before, {
    organization_id: organizationId ?? found.organization_id,
    state: state ?? found.state,
  })
  const isOther = organizationId !== undefined && organizationId !== found.organization_id
  const problem =
    more.length > 0
      ? `There are ${more.length + 1} tenants of this name; rename what the file says, or name them apart`
      : isOther
        ? 'The organization of a tenant is not changed'
        : undefined
  return {
    ...same,
    action: differences.length > 0 ? 'change' : 'none',
    differences,
    ...(problem !== undefined && { problem }),
    steps: state !== undefined && state !== found.state ? move(found.id, state) : [],
    showsSecret: false,
  }
}

function planEntry(
  { kind, tenant, side, name, said, file }: DesiredEntry,
  found: readonly Found[],
  env: PlanOptions['env'],
): PlannedSetting {
  const [there, ...more] = found.filter((one) => one.name === name)
  const { value, missing } = resolved(said, env)
  const wanted = kind.wanted(name, value as Plain, there)
  const isNew = there === undefined
  const over = isNew ? kind.over?.(said) : undefined
  const hidden = isNew ? [] : (kind.hidden?.(said) ?? [])
  const differences = isNew ? [] : differencesBetween(there.value, wanted)
  const action = over !== undefined ? 'none' : isNew ? 'add' : differences.length > 0 ? 'change' : 'none'
  const problems = [
    ...(more.length > 0 ? [`The service has ${more.length + 1} of this name`] : []),
    ...(action === 'change' && kind.unchangeable !== undefined ? [kind.unchangeable] : []),
    ...(action !== 'none' && missing.length > 0
      ? [`The environment lacks ${missing.join(', ')}, which the file names`]
      : []),
  ]
  return {
    ...{ at: placeOf(tenant, kind, name), action, file, tenant, side, differences },
    notes: [
      ...(over === undefined ? [] : [over]),
      ...(hidden.length === 0 ? [] : [`not compared, as the service does not show it: ${hidden.join(', ')}`]),
    ],
    said,
    ...(problems[0] !== undefined && { problem: problems[0] }),
    steps: action === 'none' ? [] : kind.put(name, value as Plain, there),
    showsSecret: action === 'add' && kind.showsSecret === true,
  }
}

/** What the service has and the list does not. */
function planRest(
  { kind, side, tenant }: DesiredList,
  entries: readonly DesiredEntry[],
  found: readonly Found[],
  prune: boolean,
): readonly PlannedSetting[] {
  const { remove } = kind
  if (kind.single || remove === undefined) return []
  return found
    .filter(({ name }) => !entries.some((entry) => entry.name === name))
    .map((one) => {
      const isRemoved = prune && one.stays === undefined
      return {
        ...{ at: placeOf(tenant, kind, one.name), tenant, side, differences: [], showsSecret: false },
        action: isRemoved ? ('remove' as const) : ('none' as const),
        notes: isRemoved
          ? []
          : [one.stays ?? 'It is not in the folder and stays; --prune-settings removes it'],
        steps: isRemoved ? remove(one) : [],
      }
    })
}

/** The value with what the environment holds, and the variables that it lacks. */
function resolved(
  value: unknown,
  env: PlanOptions['env'],
): { readonly value: unknown; readonly missing: readonly string[] } {
  const missing: string[] = []
  const inside = (one: unknown): unknown => {
    if (isFromEnvironment(one)) {
      const held = env[one.from_env]
      if (held !== undefined && held !== '') return held
      missing.push(one.from_env)
      return one
    }
    if (Array.isArray(one)) return one.map(inside)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, inside(member)]))
  }
  return { value: inside(value), missing }
}

const asJson = (value: unknown): JsonValue => parseJson(JSON.stringify(value))

function differencesBetween(before: Plain, after: Plain): readonly Difference[] {
  return differencesOf(asJson(before), asJson(after))
}

/** Whether the folder would change nothing, something, or nothing that can be applied. */
export function outcomeOfSettings({ settings }: SettingsPlan): 'none' | 'changes' | 'problem' {
  if (settings.some(({ problem }) => problem !== undefined)) return 'problem'
  return settings.some(({ action }) => action !== 'none') ? 'changes' : 'none'
}

/** A digest by which a plan that is applied later is known to be the same. */
export function digestOf({ settings }: SettingsPlan): string {
  const steps = settings.map(({ at, action, differences, said, steps: all }) => ({
    ...{ at, action, said },
    differences: differences.map(({ path, before, after }) => [path, shown(before), shown(after)]),
    operations: all.map(({ operation }) => operation),
  }))
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(steps)).digest('hex')
}

const shown = (value: JsonValue | undefined) =>
  value === undefined ? null : String(JSON.stringify(value, mapped))
const mapped = (_: string, value: unknown) => {
  if (value instanceof Map) return Object.fromEntries(value)
  return typeof value === 'bigint' ? String(value) : value
}
