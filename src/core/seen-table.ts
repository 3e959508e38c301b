/**
 * What one principal sees of a table: the only home of exemption, nesting and the order of columns. Every surface that
 * names columns, shows values or counts rows asks here. Reads nothing, and chooses no mask where several apply.
 */

import { isGrantedTo, type LiftedBy, type StoredGrant } from './access-grant.ts'
import type { Gives } from './gives.ts'
import type {
  Governance,
  StoredColumn,
  StoredMask,
  StoredProtection,
  StoredReveal,
  StoredRowFilter,
} from './governance.ts'
import { type GovernedColumn, type GovernedTable, isMasked, type NestedMasks } from './governed-table.ts'
import { fieldsIn, type IcebergType } from './iceberg-type.ts'
import type { Principal } from './principal.ts'
import { effectOf } from './protection-effect.ts'
import type { Reveal } from './reveal.ts'
import type { SchemaColumn } from './table-schema.ts'

/**
 * Whose roles exempt; `'anyone'`: what everybody sees at least, because no role exempts. Grants lift nothing for a viewer
 * whose subject or time is not given.
 */
export type Viewer = (Pick<Principal, 'roles'> & Partial<GrantedAt>) | 'anyone'

/** Whose grants lift, and when. */
interface GrantedAt {
  readonly sub: string
  /** Milliseconds since the Unix epoch, by the clock of the service. */
  readonly atMs: number
}

/** A principal at a time: the viewer for whom grants lift filters and masks. */
export function viewerAt({ sub, roles }: Pick<Principal, 'sub' | 'roles'>, atMs: number): Viewer {
  return { sub, roles, atMs }
}

export interface SeenColumn extends GovernedColumn {
  /** Field ids of all fields nested in it. */
  readonly nestedIds: readonly number[]
}

/** A table as the read path receives it, with what it leaves out. */
export interface SeenTable extends GovernedTable {
  readonly columns: readonly SeenColumn[]
  /**
   * Left out: with a field that is not in the graph, which no steward could have masked, or with a masked one that
   * cannot be masked by itself: see {@link masksInside}.
   */
  readonly hidden: readonly SchemaColumn[]
}

/**
 * A table with the columns of one schema. Masks are matched to columns and nested fields by field id. What the graph does
 * not know is hidden.
 * @param schema of the snapshot that is read: the pin's, else the current one
 */
export function seenTable(
  governance: Governance,
  schema: readonly SchemaColumn[],
  viewer: Viewer,
): SeenTable {
  const { ref, contract } = governance
  const remaining = remainingFor(governance, viewer)
  const filters = remaining.filters(governance.rowFilters)
  const known = new Map(governance.columns.map((column) => [column.fieldId, column]))
  const relation = [...ref.namespace, ref.name]
  const columns: SeenColumn[] = []
  const hidden: SchemaColumn[] = []
  for (const column of schema) {
    const stored = known.get(column.fieldId)
    const inside = stored && masksInside(column, known, remaining.masks)
    if (stored === undefined || inside === undefined) {
      hidden.push(column)
      continue
    }
    const policyName = nameInPolicies(governance, stored)
    const own = remaining.masks(stored)
    const masks = own.applying.map(withoutExemption)
    const nestedMasks = inside.masks
    const liftedBy = eachOnce([...own.liftedBy, ...inside.liftedBy])
    const reveal = masks.length === 0 ? revealOf(governance, column, viewer) : undefined
    columns.push({
      ...column,
      ...(policyName !== column.name && { policyName }),
      masks,
      ...(nestedMasks.length > 0 && { nestedMasks }),
      ...(reveal && { reveal }),
      ...(liftedBy.length > 0 && { liftedBy }),
    })
  }
  return {
    ref,
    schemaName: ref.namespace.join('.'),
    tableName: ref.name,
    relation: { duckdb: relation, trino: relation },
    columns,
    hidden,
    rowFilters: filters.applying.map(withoutExemption),
    ...(filters.liftedBy.length > 0 && { filtersLiftedBy: eachOnce(filters.liftedBy) }),
    ...(contract && { contract }),
    ...(governance.readableWithoutContract && { readableWithoutContract: true }),
    ...(governance.purposeDemands && { purposeDemands: governance.purposeDemands }),
  }
}

/** What still applies to a viewer, and the grants that lifted the rest. */
interface Remaining<P> {
  readonly applying: readonly P[]
  readonly liftedBy: readonly LiftedBy[]
}

interface RemainingFor {
  readonly filters: (filters: readonly StoredRowFilter[]) => Remaining<StoredRowFilter>
  readonly masks: (column: StoredColumn) => Remaining<StoredMask>
}

/**
 * What applies to a viewer, after exempt roles and grants. A grant lifts a filter or mask only as it stood when access was
 * granted, and a column's masks only while the column has no tag that it did not have then: a stricter contract applies
 * at once. What a clone inherits is not lifted.
 */
function remainingFor(governance: Governance, viewer: Viewer): RemainingFor {
  const applies = appliesTo(viewer)
  const grants = governance.isClone === true ? [] : grantsFor(governance.grants, viewer)
  const split = <P extends StoredProtection>(
    protections: readonly P[],
    lifts: (grant: StoredGrant, one: P) => boolean,
  ): Remaining<P> => {
    const applying: P[] = []
    const liftedBy: LiftedBy[] = []
    for (const one of protections.filter(applies)) {
      // The one that ends last, so that a shorter one beside it takes nothing away.
      const grant = grants.findLast((candidate) => lifts(candidate, one))
      if (grant === undefined) applying.push(one)
      else {
        const { id, untilMs, purpose } = grant
        liftedBy.push({ grant: id, table: governance.ref, untilMs, purpose })
      }
    }
    return { applying, liftedBy }
  }
  return {
    filters: (filters) => split(filters, ({ lifts }, one) => lifts.filters.includes(effectOf(one))),
    masks: ({ fieldId, tags, masks }) =>
      split(masks, ({ lifts }, one) =>
        lifts.columns.some(
          (column) =>
            column.fieldId === fieldId &&
            column.masks.includes(effectOf(one)) &&
            tags.every((tag) => column.tags.includes(tag)),
        ),
      ),
  }
}

/** The grants of a viewer that hold at its time, the one that ends last at the end. */
function grantsFor(grants: Governance['grants'], viewer: Viewer): readonly StoredGrant[] {
  if (grants === undefined || viewer === 'anyone') return []
  const { sub, atMs, roles } = viewer
  if (sub === undefined || atMs === undefined) return []
  return grants
    .filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs)
    .filter(({ grantee }) => isGrantedTo(grantee, { sub, roles }))
    .toSorted((a, b) => a.untilMs - b.untilMs || (a.id < b.id ? -1 : 1))
}

/**
 * The filters and masks that apply to a viewer, whatever the schema, and the grants that lifted others. Two viewers, or
 * one at two times, with equal ones see the same of a table.
 */
export function protectionsFor(governance: Governance, viewer: Viewer) {
  const remaining = remainingFor(governance, viewer)
  const filters = remaining.filters(governance.rowFilters)
  const columns = governance.columns.map((column) => ({ column, ...remaining.masks(column) }))
  return {
    filters: filters.applying,
    masks: columns.flatMap(({ column: { fieldId }, applying }) =>
      applying.map((mask) => ({ fieldId, ...mask })),
    ),
    lifted: eachOnce([filters, ...columns].flatMap(({ liftedBy }) => liftedBy)),
  }
}

/**
 * When the sight of a viewer may next change by itself: the first moment after its time at which a grant begins or ends.
 * Infinity where no grant does.
 */
export function seenUntilMs({ grants = [] }: Governance, atMs: number): number {
  const moments = grants.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs])
  return Math.min(Number.POSITIVE_INFINITY, ...moments.filter((ms) => ms > atMs))
}

/** Each grant once. */
export function eachOnce(lifted: readonly LiftedBy[]): readonly LiftedBy[] {
  return [...new Map(lifted.map((one) => [one.grant, one])).values()]
}

/**
 * The masks of the fields inside a column, and the grants that lifted others.
 * @returns undefined where a field is not known, or a masked one is a map's key, whose masked values need not differ, or
 *   is not in the column's type
 */
function masksInside(
  { type, nestedIds }: SchemaColumn,
  known: ReadonlyMap<number, StoredColumn>,
  remaining: RemainingFor['masks'],
): { readonly masks: readonly NestedMasks[]; readonly liftedBy: readonly LiftedBy[] } | undefined {
  const found: NestedMasks[] = []
  const lifted: LiftedBy[] = []
  const open = nestedIds.length === 0 ? undefined : new Set(openIds(type))
  for (const fieldId of nestedIds) {
    const field = known.get(fieldId)
    if (field === undefined) return undefined
    const { applying, liftedBy } = remaining(field)
    lifted.push(...liftedBy)
    if (applying.length === 0) continue
    if (open?.has(fieldId) !== true) return undefined
    found.push({ fieldId, masks: applying.map(withoutExemption) })
  }
  return { masks: found, liftedBy: lifted }
}

/** The ids of the fields inside a type, without those in keys of maps. */
function openIds(type: IcebergType): readonly number[] {
  const isMap = typeof type !== 'string' && type.type === 'map'
  return fieldsIn(type)
    .filter(({ name }) => !isMap || name !== 'key')
    .flatMap((field) => [field.fieldId, ...openIds(field.type)])
}

/** Whether anybody reads the table at all: it has an active contract, or the tenant reads tables without one. */
export function isReadable(
  table: Pick<Governance, 'contract' | 'readableWithoutContract'> | GovernedTable | undefined,
): boolean {
  return table !== undefined && (table.contract !== undefined || table.readableWithoutContract === true)
}

/**
 * Whether a principal may see this of a table. A table that may not be read is not there at all.
 * @param fieldIds of columns and nested fields that it is about; absent: of every column
 */
export function maySee(seen: SeenTable, what: Gives, fieldIds?: readonly number[]): boolean {
  if (!isReadable(seen)) return false
  switch (what) {
    case 'existence':
    case 'description':
      return true
    case 'columns':
      return fieldIds === undefined ? seen.hidden.length === 0 : fieldIds.every((id) => columnOf(seen, id))
    case 'counts':
      return seen.rowFilters.length === 0
    case 'values':
      return fieldIds === undefined ? isWhole(seen) : showsValues(seen, fieldIds)
  }
}

/** Whether no filter and no mask hides anything of the table's columns and rows. Says nothing about its contract. */
export function isWhole({ rowFilters, columns, hidden }: SeenTable): boolean {
  return rowFilters.length === 0 && hidden.length === 0 && !columns.some(isMasked)
}

/** Whether the values of these fields are seen in all rows. Says nothing about the table's contract. */
export function showsValues(seen: SeenTable, fieldIds: readonly number[]): boolean {
  const isShown = (id: number) => {
    const column = columnOf(seen, id)
    return column !== undefined && !isMasked(column)
  }
  return seen.rowFilters.length === 0 && fieldIds.every(isShown)
}

/** The column that has this field id, or in which the field is nested; undefined where it is hidden. */
function columnOf({ columns }: SeenTable, fieldId: number): SeenColumn | undefined {
  return columns.find((column) => column.fieldId === fieldId || column.nestedIds.includes(fieldId))
}

/** The roles of which each shows a reader more columns than it sees without them. */
export function rolesThatShow(governance: Governance, { hidden }: SeenTable): readonly string[] {
  const nested = new Set(hidden.flatMap(({ nestedIds }) => nestedIds))
  const masks = governance.columns.filter(({ fieldId }) => nested.has(fieldId)).flatMap((one) => one.masks)
  return [...new Set(masks.flatMap(({ exemptRoles }) => exemptRoles))]
}

/** The present columns in the schema's order, as `SELECT *` gives them; by field id where no commit said it. */
export function currentSchema({ columns }: Pick<Governance, 'columns'>): readonly SchemaColumn[] {
  return schemaOf(columns.filter(({ current }) => current))
}

/** The present columns and those that only older snapshots have. */
export function everySchema(governance: Pick<Governance, 'columns'>): readonly SchemaColumn[] {
  return [...currentSchema(governance), ...schemaOf(governance.columns.filter(({ current }) => !current))]
}

function schemaOf(columns: readonly StoredColumn[]): readonly SchemaColumn[] {
  return topColumns(columns)
    .toSorted(byPlace)
    .map(({ fieldId, name, type, required }) => ({
      ...{ fieldId, name, type, required },
      nestedIds:
        typeof type === 'string'
          ? []
          : columns.filter((one) => one.name.startsWith(`${name}.`)).map((one) => one.fieldId),
    }))
}

function byPlace(a: StoredColumn, b: StoredColumn): number {
  const [first = Number.MAX_SAFE_INTEGER, second = Number.MAX_SAFE_INTEGER] = [a.place, b.place]
  return first - second || a.fieldId - b.fieldId
}

/**
 * The columns that are not fields of others. A name with a dot is left out where it could also be a field of a
 * struct.
 */
function topColumns(columns: readonly StoredColumn[]): readonly StoredColumn[] {
  const nesting = new Set(columns.filter(({ type }) => typeof type !== 'string').map(({ name }) => name))
  return columns.filter(
    ({ name }) => ![...name.matchAll(/\./g)].some(({ index }) => nesting.has(name.slice(0, index))),
  )
}

/** Tells which filters and masks apply to a viewer. */
export function appliesTo(viewer: Viewer): (policy: Pick<StoredProtection, 'exemptRoles'>) => boolean {
  const roles = viewer === 'anyone' ? [] : viewer.roles
  return ({ exemptRoles }) => !exemptRoles.some((role) => roles.includes(role))
}

function withoutExemption<P extends StoredProtection>({ exemptRoles: _, ...policy }: P) {
  return policy
}

/** The reveal rules that name a role of the viewer. */
export function revealsFor(reveals: Governance['reveals'], viewer: Viewer): readonly StoredReveal[] {
  const held = viewer === 'anyone' ? [] : viewer.roles
  return (reveals ?? []).filter(({ roles }) => roles.some((role) => held.includes(role)))
}

/** How the viewer reads a protected column in clear; undefined where it does not. */
function revealOf(
  { ref, reveals }: Governance,
  { fieldId, name, type }: SchemaColumn,
  viewer: Viewer,
): Reveal | undefined {
  const rule = revealsFor(reveals, viewer).find((one) => one.fieldId === fieldId)
  if (rule === undefined || (type !== 'string' && type !== 'binary')) return undefined
  const { roles: _, fieldId: __, ...values } = rule
  return { ...values, table: ref, column: name, type }
}

/** Filters and masks use current names. A dropped column keeps its last name unless another column has it. */
function nameInPolicies({ columns }: Governance, { current, name }: StoredColumn): string | null {
  if (current) return name
  return columns.filter((column) => column.name === name).length === 1 ? name : null
}
