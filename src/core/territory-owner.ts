/** Whose territory a location is (docs/reference/territory.md 1). Compares owners; paths are not taken apart here. */

import { type TableRef, tableKey } from './table-ref.ts'
import type { Territory } from './territory.ts'

/** The name and id under which denials for territory stand among those of policies. No policy may have it. */
export const territoryPolicy = 'territory'

export const territoryModes = ['observe', 'enforce'] as const

/**
 * Why a table has a prefix: its metadata names it (`location`, `data-path`, `metadata-path`), a steward granted it, or
 * it is another table's of which this one is a clone.
 */
export const territoryKinds = ['location', 'data-path', 'metadata-path', 'granted', 'derived'] as const
export type TerritoryKind = (typeof territoryKinds)[number]

export interface TerritoryOwner {
  /** From `catalogOf`. */
  readonly catalog: string
  readonly table: TableRef
  /** Undefined where it is not known, as before the table has been created. */
  readonly tableUuid: string | undefined
}

export interface TerritoryRow extends TerritoryOwner {
  /** Canonical, with one trailing slash. */
  readonly prefix: string
  readonly kind: TerritoryKind
}

/**
 * What is done about the manifests that commits bring (docs/reference/territory.md 5): nothing, a check after the
 * commit, or one before it for every caller.
 */
export const manifestModes = ['off', 'audit', 'enforce'] as const
export type ManifestMode = (typeof manifestModes)[number]

/** A snapshot that nobody may read until a steward releases it. */
interface QuarantinedSnapshot extends TerritoryOwner {
  readonly snapshotId: bigint
}

/** What the store says of a tenant's territory: the rows that a caller needs. */
export interface TerritoryFound extends Pick<Territory, 'mode' | 'version'> {
  readonly manifests: ManifestMode
  /** The exempt roles of each row filter and column mask of the tenant. Undefined where the modes make them idle. */
  readonly restricting?: readonly (readonly string[])[] | undefined
  readonly quarantined: readonly QuarantinedSnapshot[]
  readonly rows: readonly TerritoryRow[]
}

/** Whether a snapshot of the table is quarantined. */
export function isQuarantined(
  { quarantined }: Pick<TerritoryFound, 'quarantined'>,
  owner: TerritoryOwner,
  snapshotId: bigint | undefined,
): boolean {
  return quarantined.some((one) => one.snapshotId === snapshotId && isOwn(one, owner))
}

/**
 * Whether a row is the table's own. The same name in another catalog is another table, unless it has the same uuid:
 * then two credentials open one catalog by different addresses.
 */
export function isOwn(row: TerritoryOwner, { catalog, table, tableUuid }: TerritoryOwner): boolean {
  if (tableKey(row.table) !== tableKey(table)) return false
  return row.catalog === catalog || (tableUuid !== undefined && row.tableUuid === tableUuid)
}

/** The prefixes in which the folders of one table may lie. A clone's files may lie in its source's, its folders not. */
export function folderPrefixesOf({ rows }: TerritoryFound, owner: TerritoryOwner): readonly string[] {
  return rows.filter((row) => row.kind !== 'derived' && isOwn(row, owner)).map(({ prefix }) => prefix)
}

/** The territory of one table. */
export function territoryOf({ mode, version, rows }: TerritoryFound, owner: TerritoryOwner): Territory {
  const own = rows.filter((row) => isOwn(row, owner)).map(({ prefix }) => prefix)
  return { mode, version, prefixes: [...new Set(own)] }
}
