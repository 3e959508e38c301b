/**
 * Lists who can read a table, each with the reasons in words: anyone, roles, versions in force by break-glass, grants of access, attestations
 * that lift masks, service sessions, and people as far as they were seen. A person who was never seen is found under roles.
 */

import { Fault } from '../../base/fault.ts'
import type { Governance } from '../../core/governance.ts'
import { isReservedSubject } from '../../core/principal.ts'
import type { Standing } from '../../core/provisioning.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type BrokenGlass, brokenGlassOf } from '../../store/contract/break-glass.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../../store/database/page.ts'
import { listPeopleSeen, type SeenPerson } from '../../store/query/people-seen.ts'
import { attestationsNamed } from '../../store/semantics/attestations.ts'
import { loadSemanticModel } from '../../store/semantics/load-model.ts'
import { type GroupPeople, peopleInGroups, standingsOf } from '../../store/session/people-by-group.ts'
import { listReadingSessions } from '../../store/session/reading-sessions.ts'
import { baseOf } from '../compile/metrics/attested-parts.ts'
import { grantsThatLift } from './grants-that-lift.ts'
import { listed, type ReasonedSight, reasonedSight } from './sight-reasons.ts'
import { type ReadersParts, readableTable } from './who-can-read.ts'

/** What a line of the list is about, in the order of the list. */
export const readerKinds = [
  ...(['anyone', 'role', 'break_glass', 'grant', 'attestation', 'session', 'person'] as const),
] as const

/** Days after which a person counts as not seen. */
export const seenDays = 90

/** One line: who can read the table, or by what it can be read, and why. */
interface Line extends Partial<Omit<ReasonedSight, 'reasons'>> {
  readonly kind: (typeof readerKinds)[number]
  readonly name: string
  readonly reasons: readonly string[]
  readonly roles?: readonly string[] | undefined
  /** Of a service session. */
  readonly sessionId?: string | undefined
  readonly sub?: string | undefined
  readonly lastSeenAt?: Date | undefined
  readonly surface?: string | undefined
  readonly by?: string | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
}

/** A line, with the place at which a page after it begins. */
export interface ReaderLine extends Line {
  readonly place: string
}

interface Asked extends PageRequest {
  readonly table: TableRef
  /** A top-level column; absent: all. */
  readonly column?: string | undefined
}

interface Placed {
  readonly place: string
  readonly line: Line
}

interface Context extends ReadersParts {
  readonly tenant: TenantId
  readonly governance: Governance
  readonly schema: readonly SchemaColumn[]
  readonly names: readonly string[]
}

/** The lines of one kind after a place, at most so many. `next`: there may be more, and it looked at enough. */
type Part = (
  context: Context,
  after: string | undefined,
  count: number,
) => Promise<{ readonly lines: readonly Placed[]; readonly next?: string }>

/**
 * A page of the list.
 * @throws Fault `not_found` for a table or column that there is not, and for a table that nobody reads; `bad_request` for
 *   a bad page
 */
export async function listReaders(
  parts: ReadersParts,
  tenant: TenantId,
  { table, column, ...page }: Asked,
): Promise<Page<ReaderLine>> {
  const limit = pageLimit(page)
  const [first, begin] = placeOf(page.after)
  const context = { ...parts, tenant, ...(await readableTable(parts.store, tenant, table, column)) }
  const found: ReaderLine[] = []
  for (const [at, kind] of readerKinds.entries()) {
    if (at < first) continue
    const after = at === first ? begin : undefined
    const { lines, next } = await partOf[kind](context, after, limit + 1 - found.length)
    found.push(...lines.map(({ place, line }) => ({ ...line, place: `${at}.${place}` })))
    if (found.length > limit) break
    if (next !== undefined) return { items: found, next: `${at}.${next}` }
  }
  return toPage(found, limit, ({ place }) => place)
}

/** @throws Fault `bad_request` */
function placeOf(after: string | undefined): readonly [number, string | undefined] {
  if (after === undefined) return [0, undefined]
  const [, at, place] = /^([0-6])\.(.*)$/s.exec(after) ?? []
  if (at === undefined || place === undefined) throw new Fault('bad_request', 'The page token is not valid.')
  return [Number(at), place]
}

/** A part whose lines are few, and all at hand. */
function whole(load: (context: Context) => Promise<readonly Placed[]> | readonly Placed[]): Part {
  return async (context, after = '', count) => {
    const lines = (await load(context)).toSorted((one, other) => (one.place < other.place ? -1 : 1))
    return { lines: lines.filter(({ place }) => place > after).slice(0, count) }
  }
}

const partOf: Readonly<Record<Line['kind'], Part>> = {
  anyone: whole((context) => [
    { place: 'anyone', line: { kind: 'anyone', name: 'anyone', ...sightOf(context, 'anyone') } },
  ]),
  role: whole(roleLines),
  break_glass: whole(async ({ store, tenant, governance, clock }) => {
    const facts = { contract: governance.contract?.id, nowMs: clock.now() }
    const found = await brokenGlassOf(store, tenant, governance.ref, facts)
    return found.map((one) => ({ place: `${one.contract} ${one.number}`, line: brokenGlassLine(one) }))
  }),
  grant: whole(({ governance, names, clock }) =>
    grantsThatLift(governance, names, clock.now()).map(({ id, grantee, lifted, purpose, from, until }) => ({
      place: id,
      line: {
        ...{ kind: 'grant', name: 'sub' in grantee ? grantee.sub : grantee.role, since: from, until },
        ...('sub' in grantee ? { sub: grantee.sub } : { roles: [grantee.role] }),
        reasons: [`a grant lifts ${listed(lifted)}`, `purpose given: ${purpose}`],
      },
    })),
  ),
  attestation: whole(attestationLines),
  session: async (context, after, count) => {
    const { store, tenant, clock } = context
    const from = after === undefined ? {} : { after }
    const sessions = await listReadingSessions(store, tenant, { nowMs: clock.now(), count, ...from })
    return {
      lines: sessions.map(({ id, name, principal, createdAt, expiresAt }) => ({
        place: id,
        line: {
          ...{ kind: 'session', name, sessionId: id, sub: principal.sub, roles: principal.roles },
          ...{ since: createdAt, until: expiresAt, ...sightOf(context, principal) },
        },
      })),
    }
  },
  person: peopleLines,
}

function sightOf({ governance, schema, names }: Context, viewer: Parameters<typeof reasonedSight>[2]) {
  return reasonedSight(governance, schema, viewer, names)
}

/** People of one group that a line names. */
const groupNamesMax = 20

/** A role; where provisioned groups give the roles, with the people whom its group has. */
async function roleLines(context: Context): Promise<readonly Placed[]> {
  const { store, tenant } = context
  const roles = rolesNamed(context)
  const people = await peopleInGroups(store, tenant, roles, groupNamesMax)
  return roles.map((role) => {
    const { reasons, ...sight } = sightOf(context, { roles: [role] })
    const group = people.get(role)
    return {
      place: role,
      line: {
        kind: 'role',
        name: role,
        ...sight,
        reasons: group ? [...reasons, groupReason(group)] : reasons,
      },
    }
  })
}

function groupReason({ names, count }: GroupPeople): string {
  if (count === 0) return 'its provisioned group has nobody'
  const more = count - names.length
  return `its provisioned group has ${listed(names)}${more > 0 ? ` and ${more} more` : ''}`
}

/** The roles that exempt from something of the table, or to which protected values are revealed. */
function rolesNamed({ governance: { rowFilters, columns, reveals = [] }, names }: Context) {
  const masks = columns
    .filter(({ current, name }) => current && names.some((one) => one === name || name.startsWith(`${one}.`)))
    .flatMap((column) => column.masks)
  const exempted = [...rowFilters, ...masks].flatMap(({ exemptRoles }) => exemptRoles)
  return [...new Set([...exempted, ...reveals.flatMap(({ roles }) => roles)])]
}

function brokenGlassLine({ contract, number, state, until, by, at, reason }: BrokenGlass): Line {
  const isInForce = state === 'active' || state === 'deprecated'
  return {
    ...{ kind: 'break_glass', name: `${contract} ${number}`, by, since: at },
    ...(!isInForce && { until }),
    reasons: [
      isInForce
        ? 'the version is in force, and was approved by break-glass'
        : 'the version was approved by break-glass, and may come in force',
      ...(reason === undefined ? [] : [`reason given: ${reason}`]),
    ],
  }
}

/** Attestations that lift a mask which is still what they cover. */
async function attestationLines({ store, tenant, clock, governance, names }: Context) {
  const { model } = await loadSemanticModel(store, tenant, clock.now())
  const lifting = [...model.attestations.values()].flatMap((attestation) => {
    const base = baseOf(model, attestation.metric)
    if (base === undefined || tableKey(base.table) !== tableKey(governance.ref)) return []
    const lifted = governance.columns.flatMap(({ current, name, fieldId, masks }) => {
      const covered = masks.filter((mask) =>
        attestation.masks.some(
          (one) =>
            one.fieldId === fieldId &&
            one.policyId === mask.policyId &&
            one.action === mask.action &&
            one.expression === mask.expression,
        ),
      )
      const isAsked = current && names.includes(name)
      return isAsked ? covered.map(({ policyId }) => `${policyId} on ${name}`) : []
    })
    return lifted.length === 0 ? [] : [{ attestation, lifted }]
  })
  const made = await attestationsNamed(
    store,
    tenant,
    lifting.map(({ attestation }) => attestation.id),
  )
  return lifting.map(({ attestation: { id, metric, minGroupSize, untilMs }, lifted }): Placed => {
    const { by, at: since, reason } = made.get(id) ?? {}
    return {
      place: metric,
      line: {
        ...{ kind: 'attestation', name: metric, by, since, until: new Date(untilMs) },
        reasons: [
          `the metric is computed from behind mask ${listed(lifted)}, in groups of ${minGroupSize} values or more`,
          ...(reason === undefined ? [] : [`reason given: ${reason}`]),
        ],
      },
    }
  })
}

/** Principals that are looked at in one step, and steps of one page. */
const peopleStep = 500
const peopleSteps = 10

async function peopleLines(context: Context, after: string | undefined, count: number): ReturnType<Part> {
  const { store, tenant, clock } = context
  const since = new Date(clock.now() - seenDays * 24 * 3_600_000)
  if (after !== undefined && !/^[0-9a-f]{32}$/.test(after))
    throw new Fault('bad_request', 'The page token is not valid.')
  const lines: Placed[] = []
  let from = after
  for (let step = 0; step < peopleSteps && lines.length < count; step += 1) {
    const page = { since, count: peopleStep, ...(from !== undefined && { after: from }) }
    const { items, next } = await listPeopleSeen(store, tenant, page)
    const people = items.filter(({ person }) => !isReservedSubject(person.sub))
    const standings = await standingsOf(
      store,
      tenant,
      people.map(({ person }) => person.sub),
    )
    for (const { place, person } of people) {
      const standing = standings.get(person.sub)
      if (standing?.kind !== 'refused') lines.push({ place, line: personLine(context, person, standing) })
    }
    from = next
    if (next === undefined) break
  }
  if (lines.length >= count) return { lines: lines.slice(0, count) }
  return { lines, ...(from !== undefined && { next: from }) }
}

interface Roles {
  readonly names: readonly string[]
  readonly of: keyof typeof rolesFrom
}

const rolesFrom = {
  groups: 'judged by the groups in which the person is provisioned',
  login: 'judged by the roles of the last login',
  commit: 'judged by the roles that the last change of a table named',
  session: 'judged by the roles of a service session of that subject',
}

function personLine(context: Context, person: SeenPerson, standing: Standing | undefined): Line {
  const { sub, lastSeenAt, surface } = person
  const roles: Roles | undefined =
    standing?.kind === 'by groups' ? { names: standing.roles, of: 'groups' } : person.roles
  const { reasons, ...sight } = sightOf(context, roles === undefined ? 'anyone' : { roles: roles.names })
  const judged =
    roles === undefined
      ? 'judged without any role, because none was recorded: a role may show more'
      : `${rolesFrom[roles.of]}: ${roles.names.length === 0 ? 'none' : listed(roles.names)}`
  return {
    ...{ kind: 'person', name: sub, sub, roles: roles?.names, lastSeenAt, surface },
    ...{ ...sight, reasons: [...reasons, judged] },
  }
}
