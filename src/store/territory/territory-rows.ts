/** Reads what SQL functions say of the territory index, and takes locations into it. */

import { Fault } from '../../base/fault.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  type ManifestMode,
  manifestModes,
  type TerritoryFound,
  type TerritoryKind,
  type TerritoryOwner,
  type TerritoryRow,
  territoryKinds,
  territoryModes,
} from '../../core/territory-owner.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'

/** As svc.territory_row gives it. */
type StoredRow = readonly [
  prefix: string,
  kind: TerritoryKind,
  catalog: string,
  tableUuid: string | null,
  tableId: string,
  namespace: readonly string[],
  name: string,
]

/** As svc.quarantined gives it. */
type StoredQuarantine = readonly [
  tableId: string,
  catalog: string,
  tableUuid: string | null,
  snapshotId: string,
  namespace: readonly string[],
  name: string,
]

interface StoredFound {
  readonly mode: TerritoryFound['mode']
  readonly version: string
  readonly manifests: ManifestMode
  /** A filter or mask that exempts nobody has null. */
  readonly restricting?: readonly (readonly string[] | null)[] | null
  readonly quarantined: readonly StoredQuarantine[]
  readonly rows: readonly StoredRow[]
}

/**
 * Parses what svc.territory_at and svc.territories return.
 * @throws Fault `unavailable` where it is missing or malformed: rows that cannot be seen must not look like none
 */
export function readTerritory(text: string | null | undefined): TerritoryFound {
  try {
    return foundOf(JSON.parse(text ?? 'null'))
  } catch (cause) {
    throw notRead(cause)
  }
}

function foundOf(stored: StoredFound): TerritoryFound {
  const { mode, version, manifests, restricting, quarantined, rows } = stored
  if (!territoryModes.includes(mode) || !manifestModes.includes(manifests))
    throw new Error('the territory has no known mode')
  return {
    mode,
    version,
    manifests,
    ...(restricting && { restricting: restricting.map((roles) => roles ?? []) }),
    quarantined: quarantined.map(([, catalog, tableUuid, snapshotId, namespace, name]) => ({
      catalog,
      table: { namespace, name },
      tableUuid: tableUuid ?? undefined,
      snapshotId: BigInt(snapshotId),
    })),
    rows: rows.map(rowOf),
  }
}

function rowOf([prefix, kind, catalog, tableUuid, , namespace, name]: StoredRow): TerritoryRow {
  if (!territoryKinds.includes(kind)) throw new Error('a row of the territory has no known kind')
  return { prefix, kind, catalog, table: { namespace, name }, tableUuid: tableUuid ?? undefined }
}

function notRead(cause: unknown): Fault {
  return new Fault('unavailable', 'The territory of the table could not be loaded. Retry.', { cause })
}

/** A prefix to take, with all that a path below it may lie in: its ancestors and itself. */
export interface ClaimedPrefix {
  readonly prefix: string
  readonly kind: TerritoryKind
  readonly ancestors: readonly string[]
}

export const conflictSources = ['commit', 'load', 'sweep'] as const
export type ConflictSource = (typeof conflictSources)[number]

/**
 * Why a path is not the table's: another table's, nobody's, in no canonical form, above or below another's, or of a table
 * that is known under another name.
 */
export const conflictReasons = ['foreign', 'unowned', 'malformed', 'overlap', 'second-name'] as const
export type ConflictReason = (typeof conflictReasons)[number]

export interface FoundConflict {
  /** The folder of the path; the path where it has no canonical form. */
  readonly prefix: string
  readonly reason: ConflictReason
  /** Undefined where it is nobody's. */
  readonly owner: TableRef | undefined
}

export interface TerritoryClaim {
  readonly owner: TerritoryOwner & { readonly credentialId: string }
  readonly source: ConflictSource
  /** Whether nothing is taken where one prefix is another table's. */
  readonly strict: boolean
  readonly prefixes: readonly ClaimedPrefix[]
  readonly conflicts?: readonly FoundConflict[]
  /** The commit for which they are taken. They go with its intent if it surely fails. */
  readonly commitId?: string
}

export interface Claimed {
  /** The table's rows afterwards. */
  readonly found: TerritoryFound
  /** Prefixes that were not taken, with the row of another table that each meets. */
  readonly overlaps: readonly { readonly prefix: string; readonly row: TerritoryRow }[]
  /** Another name under which the table was seen first in its catalog; undefined where there is none. */
  readonly knownAs: TableRef | undefined
}

/**
 * Takes prefixes for a table, as far as they overlap no other table's, and lists conflicts. Claims of a tenant that
 * overlap never pass at once.
 * @throws Fault of the store; then nothing was taken, or after a lost connection that is unknown
 */
export async function claimTerritory(
  store: Store,
  tenant: TenantId,
  claim: TerritoryClaim,
): Promise<Claimed> {
  const { owner, source, strict, prefixes, conflicts = [], commitId } = claim
  const asked = storableJson({
    owner: storedOwner(owner),
    source,
    strict,
    prefixes,
    conflicts,
    commit_id: commitId ?? null,
  })
  const [row] = await store.tenantCall<{ readonly claimed: string | null }>(tenant, 'claim_territory', [
    asked,
  ])
  try {
    const { found, overlaps, known_as } = JSON.parse(row?.claimed ?? 'null') as {
      readonly found: StoredFound
      readonly overlaps: readonly (readonly [string, StoredRow])[]
      readonly known_as: readonly [namespace: readonly string[], name: string] | null
    }
    return {
      found: foundOf(found),
      overlaps: overlaps.map(([prefix, stored]) => ({ prefix, row: rowOf(stored) })),
      knownAs: known_as === null ? undefined : { namespace: known_as[0], name: known_as[1] },
    }
  } catch (cause) {
    throw notRead(cause)
  }
}

function storedOwner({ catalog, credentialId, table, tableUuid }: TerritoryClaim['owner']) {
  const { namespace, name } = table
  const uuid = tableUuid ?? null
  return { catalog, credential_id: credentialId, table_id: territoryTableId(table), namespace, name, uuid }
}

/** What has a name: a view may have the uuid of a table, and neither tells the name of the other. */
export type NamedKind = 'table' | 'view'

/**
 * Takes a name for a table or view with an id, where it has none yet.
 * @returns the other name that it has; undefined where it is this one
 * @throws Fault of the store
 */
export async function takeTableName(
  store: Store,
  tenant: TenantId,
  kind: NamedKind,
  owner: TerritoryClaim['owner'],
): Promise<TableRef | undefined> {
  const [row] = await store.tenantQuery<{ readonly first: readonly [readonly string[], string] | null }>(
    tenant,
    `select svc.take_table_name($1::text::jsonb, '[]') as first`,
    [storableJson({ ...storedOwner(owner), kind })],
  )
  const first = row?.first ?? undefined
  return first && { namespace: first[0], name: first[1] }
}

/** A table that answers to a second name. */
interface SecondName {
  /** Under its second name. */
  readonly owner: TerritoryClaim['owner']
  readonly first: TableRef
  readonly source: ConflictSource
  /** Of the table's location. */
  readonly location: string
}

/** Lists the second name among the conflicts, and appends the event of it once. @throws Fault of the store */
export async function noteSecondName(store: Store, tenant: TenantId, named: SecondName): Promise<void> {
  const { owner, first, source, location } = named
  const asked = {
    ...{ owner: storedOwner(owner), source, prefix: location },
    ...{ first: { namespace: first.namespace, name: first.name }, first_id: territoryTableId(first) },
  }
  await store.tenantQuery(tenant, 'select svc.note_second_name($1::text::jsonb)', [storableJson(asked)])
}

/**
 * Keeps another name as the table's one name, unless it has got another one than `from` meanwhile. What is known of its
 * columns is known under that name too.
 * @throws Fault of the store
 */
export async function moveTableName(
  store: Store,
  tenant: TenantId,
  kind: NamedKind,
  { catalog, table, tableUuid }: TerritoryOwner,
  from: TableRef,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    `with moved as (
       update svc.table_name set table_id = $4, namespace = $5::text::jsonb, table_name = $6
       where tenant_id = svc.current_tenant() and table_uuid = $1 and catalog_md5 = md5($2) and table_id = $3
         and kind = $7 returning table_id, namespace, table_name)
     select svc.carry_classifications($3, jsonb_build_object('table_id', table_id, 'namespace', namespace, 'name', table_name))
     from moved`,
    [
      ...[tableUuid ?? '', catalog, territoryTableId(from)],
      ...[territoryTableId(table), storableJson(table.namespace), table.name, kind],
    ],
  )
}

/** The key of a table in the index. */
export function territoryTableId(table: TableRef): string {
  return nodeId(tableKey(table))
}
