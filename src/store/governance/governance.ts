/** Loads what governs reading tables from the graph: contract, pin, columns, tags, row filters, column masks. */

import { Fault } from '../../base/fault.ts'
import { Lru } from '../../base/lru.ts'
import { isOfTable, type StoredGrant } from '../../core/access-grant.ts'
import type {
  Governance,
  StoredColumn,
  StoredMask,
  StoredProtection,
  StoredReveal,
  StoredRowFilter,
} from '../../core/governance.ts'
import type { BoundNames } from '../../core/governed-table.ts'
import type { PurposeDemand } from '../../core/purpose.ts'
import type { RevealRule } from '../../core/reveal.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type Uncontracted, uncontractedDefault, uncontractedModes } from '../../core/uncontracted.ts'
import { limits } from '../../limits.ts'
import { nodeId } from '../database/names.ts'
import type { Properties } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import {
  type GovernanceKind,
  governanceKinds,
  type PlacedRow,
  readGovernanceRows,
} from './governance-rows.ts'
import { kindOf, withNestedFields } from './nested-columns.ts'
import { pinOf } from './pin-event.ts'
import { sourcesOf } from './shared-sources.ts'

/** Runs one statement in the tenant's context. */
export type RunQuery = <R extends object>(text: string, params: readonly string[]) => Promise<readonly R[]>

/**
 * Everything that governs reading these tables, in one round trip.
 * @returns by tableKey, without tables that are not in the graph
 * @throws Fault `unavailable` where the tenant's sentinel is missing, because rows that cannot be seen must not look
 *   like rows that do not exist
 */
export async function readGovernances(
  run: RunQuery,
  refs: readonly TableRef[],
): Promise<ReadonlyMap<string, Governance>> {
  const [row] = await run<{ governance: string | null }>('select svc.governance($1) as governance', [
    governanceKey(refs),
  ])
  return governancesOf('', refs, row?.governance)
}

/** The parameter of svc.governance: the tables' ids and the sentinel's. */
export function governanceKey(refs: readonly TableRef[]): string {
  return JSON.stringify(['', ...refs.map(idOf)])
}

/** Cache by owner and tables: the previous result as text, and parsed. */
const read = new Lru<string, Governances & { readonly text: string }>(limits.governanceCacheBytes)
/** Measured memory of a parsed result, in multiples of its text's length. */
const readWeight = 4

/**
 * Parses the result of svc.governance. A result that equals the previous one is taken from the cache.
 * @param owner part of the cache key; results of one owner are compared with each other
 * @returns by tableKey, without tables that are not in the graph
 * @throws Fault as {@link readGovernances}
 */
export function governancesOf(
  owner: string,
  refs: readonly TableRef[],
  text: string | null | undefined,
): ReadonlyMap<string, Governance> {
  return governedBy(owner, refs, text).governances
}

export interface Governances {
  readonly governances: ReadonlyMap<string, Governance>
  readonly uncontracted: Uncontracted
}

/** As {@link governancesOf}, with the tenant's setting. @throws Fault as {@link readGovernances} */
export function governedBy(
  owner: string,
  refs: readonly TableRef[],
  text: string | null | undefined,
): Governances {
  const key = `${owner} ${governanceKey(refs)}`
  const cached = read.get(key)
  if (cached !== undefined && cached.text === text) return cached
  const found = parseGovernances(refs, text ?? '')
  read.set(key, { text: text ?? '', ...found }, key.length + readWeight * (text ?? '').length)
  return found
}

function idOf(ref: TableRef): string {
  return nodeId(tableKey(ref))
}

/** Parses the result of svc.governance. @throws Fault as {@link readGovernances} */
export function parseGovernances(refs: readonly TableRef[], text: string): Governances {
  const rows = readGovernanceRows(text)
  const isSentinel = ({ properties }: PlacedRow) => properties.sentinel === true
  const seen = new Set(rows.filter(isSentinel).map(({ kind }) => kind))
  if (governanceKinds.some((kind) => !seen.has(kind)))
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      detail: 'no tenant sentinel',
    })
  const setting = rows.find(({ kind }) => kind === 'setting')?.properties.uncontracted
  const uncontracted =
    setting === undefined
      ? uncontractedDefault
      : (uncontractedModes.find((mode) => mode === setting) ?? 'denied')
  const readable = uncontracted === 'readable'
  const byTable = Map.groupBy(
    rows.filter((row) => !isSentinel(row)),
    ({ tableId }) => tableId,
  )
  const reveals = rows.filter(({ kind }) => kind === 'reveal').map(({ properties }) => properties)
  const grants = rows.filter(({ kind }) => kind === 'grant').map(({ properties }) => properties)
  const sources = rows.flatMap(({ kind, properties }) =>
    kind === 'source' ? [[String(properties.table), String(properties.source)] as const] : [],
  )
  const spellings = rows.flatMap(({ kind, properties }) => (kind === 'spelling' ? [properties] : []))
  /** What is bound to a table's id, and to its other spellings. */
  const boundTo = (ref: TableRef, id: string): readonly Governance[] => {
    const others = spellings.filter(({ table }) => table === id)
    return [{ spelling: id, whole: true }, ...others].flatMap(({ spelling, whole }) => {
      const found = byTable.get(String(spelling)) ?? []
      if (!found.some(({ kind }) => kind === 'table')) return []
      const governance = governanceOf(ref, found, readable)
      // It may be the contract of another table, which is of a catalog that keeps names apart.
      return whole === true ? governance : { ...governance, contract: undefined }
    })
  }
  const governances = new Map(
    refs.flatMap((ref) => {
      const [first, ...others] = boundTo(ref, idOf(ref))
      if (first === undefined) return []
      const inherited = sourcesOf(idOf(ref), sources).flatMap((id) => boundTo(ref, id))
      const own = reveals.filter(({ table }) => table === idOf(ref)).map(storedReveal)
      // Tags and stand-ins of another spelling are not told apart, so nothing is lifted where one is bound to it.
      const granted = (
        others.length > 0 ? [] : grants.filter(({ table }) => table === idOf(ref)).map(storedGrant)
      ).filter((grant) => first.tableUuid === undefined || isOfTable(grant, first.tableUuid))
      const governance = {
        ...inherited.reduce(inherit, others.reduce(joinSpelling, first)),
        ...(own.length > 0 && { reveals: own }),
        ...(granted.length > 0 && { grants: granted }),
      }
      return [[tableKey(ref), governance] as const]
    }),
  )
  return { governances, uncontracted }
}

function storedReveal(properties: Properties): StoredReveal {
  const { table: _, field_id: fieldId, version, ...rule } = properties
  return { ...(rule as unknown as RevealRule), fieldId: Number(fieldId), version: Number(version) }
}

function storedGrant(properties: Properties): StoredGrant {
  const {
    id,
    grantee,
    lifts,
    purpose,
    from_ms: fromMs,
    until_ms: untilMs,
    table_uuid: tableUuid,
  } = properties
  return {
    ...({ grantee, lifts } as unknown as Pick<StoredGrant, 'grantee' | 'lifts'>),
    ...{ id: String(id), purpose: String(purpose), fromMs: Number(fromMs), untilMs: Number(untilMs) },
    ...(typeof tableUuid === 'string' && { tableUuid }),
  }
}

/**
 * Everything that governs reading one table.
 * @returns undefined for a table that is not in the graph
 * @throws Fault as {@link readGovernances}
 */
export async function readGovernance(run: RunQuery, ref: TableRef): Promise<Governance | undefined> {
  return (await readGovernances(run, [ref])).get(tableKey(ref))
}

function governanceOf(ref: TableRef, found: readonly PlacedRow[], readable: boolean): Governance {
  const of = (...wantedKinds: readonly GovernanceKind[]) =>
    found.filter(({ kind }) => wantedKinds.includes(kind))
  const uuid = of('table')[0]?.properties.table_uuid
  const contract = of('contract').find(({ properties }) => properties.state === 'active')?.properties
  const tags = Map.groupBy(of('tag'), (row) => row.columnId)
  const masks = Map.groupBy(of('mask', 'tag-mask'), (row) => row.columnId)
  const stored = of('column')
    .map(({ properties, columnId: id, current }) => ({
      id,
      fieldId: Number(properties.field_id),
      name: String(properties.name),
      type: kindOf(String(properties.type ?? 'unknown')),
      required: properties.required === true,
      current,
      ...(properties.identifier === true && { isIdentifier: true as const }),
      ...(typeof properties.place === 'number' && { place: properties.place }),
      ...docOf(properties),
      tags: [...new Set((tags.get(id) ?? []).map(({ tag }) => tag))].sort(),
      masks: distinct((masks.get(id) ?? []).map(storedMask)),
    }))
    .sort((a, b) => a.fieldId - b.fieldId)
  // A dropped column of the same name must not be taken for a field of a present one.
  const current = withNestedFields(stored.filter((column) => column.current))
  const columns = [...current, ...stored.filter((column) => !column.current)].sort(
    (a, b) => a.fieldId - b.fieldId,
  )
  const fieldIds = new Map(columns.map(({ id, fieldId }) => [id, fieldId]))
  return {
    // A copy of two members, because the result is cached and the caller's object may hold more.
    ref: { namespace: ref.namespace, name: ref.name },
    ...(typeof uuid === 'string' && { tableUuid: uuid.toLowerCase() }),
    contract: contract && { id: String(contract.id), version: Number(contract.version) },
    pin: pinOf(of('pin')[0]?.properties),
    ...demandsOf(contract),
    readableWithoutContract: readable,
    rowFilters: distinct(
      of('filter', 'column-filter', 'tag-filter').map((row) => storedFilter(row, fieldIds.get(row.columnId))),
    ),
    tags: [
      ...new Set(
        of('tag')
          .filter(({ level }) => level === 'table-tag')
          .map(({ tag }) => tag),
      ),
    ].sort(),
    columns,
  }
}

/** What a contract demands; what cannot be read lets nobody read. */
function demandsOf(contract: Properties | undefined): Pick<Governance, 'purposeDemands'> {
  const purposes = contract?.purposes ?? null
  if (purposes === null) return {}
  const isList = Array.isArray(purposes) && purposes.every((one) => typeof one === 'string')
  const demand: PurposeDemand = purposes === 'any' ? purposes : isList ? (purposes as string[]) : []
  return { purposeDemands: [demand] }
}

/** The demands of both, because the files are the same. */
function joinedDemands(one: Governance, other: Governance): Pick<Governance, 'purposeDemands'> {
  const demands = distinct([...(one.purposeDemands ?? []), ...(other.purposeDemands ?? [])])
  return demands.length === 0 ? {} : { purposeDemands: demands }
}

/** The text of a table or column in its metadata; none where it is empty. */
export function docOf({ doc }: Properties): { readonly doc?: string } {
  return typeof doc === 'string' && doc !== '' ? { doc } : {}
}

function storedProtection(properties: Properties): StoredProtection {
  const { exempt_roles: roles, names } = properties
  return {
    policyId: String(properties.policy_id),
    exemptRoles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    ...(names !== undefined && { names: names as BoundNames }),
  }
}

function storedFilter(row: PlacedRow, fieldId: number | undefined): StoredRowFilter {
  const origins = {
    filter: { kind: 'table' },
    'column-filter': { kind: 'column' },
    'tag-filter': { kind: 'tag', tag: row.tag },
  } as const
  return {
    ...storedProtection(row.properties),
    expression: String(row.properties.expression),
    origin: origins[row.kind as keyof typeof origins],
    ...(fieldId !== undefined && { fieldId }),
  }
}

function storedMask({ kind, properties, tag }: PlacedRow): StoredMask {
  const { action, expression } = properties
  return {
    ...storedProtection(properties),
    action: String(action),
    ...(expression !== undefined && { expression: String(expression) }),
    origin: kind === 'tag-mask' ? { kind: 'tag', tag } : { kind: 'column' },
  }
}

/**
 * The governance of a clone, with every filter and mask of one source by field id (docs/reference/territory.md 4). What
 * cannot be matched becomes a filter that cannot be applied, which refuses reading to those whom it concerns.
 */
function inherit(clone: Governance, source: Governance): Governance {
  const names = namesOf(source)
  const bound = <P extends { readonly names?: BoundNames }>(protection: P): P => ({ names, ...protection })
  const masked = source.columns.filter(({ masks }) => masks.length > 0)
  const unmatched = masked.filter((column) => !isMatched(column, clone.columns))
  const byId = new Map(masked.map(({ fieldId, masks }) => [fieldId, masks.map(bound)]))
  return {
    ...clone,
    isClone: true,
    ...joinedDemands(clone, source),
    rowFilters: distinct([
      ...clone.rowFilters,
      ...source.rowFilters.map(bound),
      ...unmatched.flatMap(({ masks }) => masks.map(unappliable)),
    ]),
    columns: clone.columns.map((column) => ({
      ...column,
      masks: distinct([...column.masks, ...(byId.get(column.fieldId) ?? [])]),
    })),
  }
}

/**
 * The governance of a table with what is bound to another spelling of its name, in a catalog that folds names: every
 * filter and mask of both, and one contract and pin.
 */
function joinSpelling(table: Governance, other: Governance): Governance {
  const { isClone: _, ...joined } = inherit(table, other)
  return {
    ...joined,
    contract: table.contract ?? other.contract,
    pin: table.pin ?? other.pin,
    tags: [...new Set([...table.tags, ...other.tags])].sort(),
    ...(table.isClone !== undefined && { isClone: table.isClone }),
  }
}

/** The field ids of the source's names, for expressions of tags: their names are looked up in the source. */
function namesOf({ columns }: Governance): BoundNames {
  return Object.fromEntries(
    columns.filter(({ current }) => current).map(({ name, fieldId }) => [name, fieldId]),
  )
}

/**
 * Whether a masked column of the source is one column of the clone, by its field id, and its name is no other's there. A
 * column that the source has dropped may be absent: then no schema of the clone leads to its values.
 */
function isMatched({ fieldId, name, current }: StoredColumn, columns: readonly StoredColumn[]): boolean {
  const same = columns.filter((column) => column.fieldId === fieldId)
  if (same.length === 0 && !current) return true
  const isAmbiguous =
    current && columns.some((one) => one.fieldId !== fieldId && one.name.toLowerCase() === name.toLowerCase())
  return same.length === 1 && !isAmbiguous
}

/** No column has this field id. */
const noField = -1

/** A filter in place of a mask, for the same principals, whose column is not there: it cannot be applied. */
function unappliable({ policyId, exemptRoles, origin }: StoredMask): StoredRowFilter {
  return { policyId, exemptRoles, origin, names: {}, expression: 'this_column IS NULL', fieldId: noField }
}

/** Removes duplicates: a column may have a tag from a steward and again from each finding of detection. */
function distinct<P>(policies: readonly P[]): readonly P[] {
  return [...new Map(policies.map((policy) => [JSON.stringify(policy), policy])).values()]
}

/**
 * What governs reading a table.
 * @returns undefined for a table that is not in the graph
 * @throws Fault as {@link readGovernances} and the store do
 */
export function loadGovernance(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<Governance | undefined> {
  return readGovernance((text, params) => store.tenantQuery(tenant, text, params), table)
}

/**
 * What governs reading several tables, in one round trip.
 * @throws Fault as {@link readGovernances} and the store do; the signal's reason
 */
export function loadGovernances(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Governance>> {
  return readGovernances(
    (text, params) => store.tenantQuery(tenant, text, params, signal ? { signal } : {}),
    tables,
  )
}
