/** Gives locations that metadata names their canonical place, and decides which of them can be a table's territory. */

import { type TableRef, tableName } from '../core/table-ref.ts'
import type { TerritoryRow } from '../core/territory-owner.ts'
import type { ClaimedPrefix, FoundConflict } from '../store/territory/territory-rows.ts'
import type { NamedLocation } from '../wire/iceberg/named-locations.ts'
import { ancestorsOf, canonicalPath, canonicalPrefix, isWithin } from './canonical-path.ts'
import { isOutOfBounds } from './roots.ts'

export interface PlacedLocation {
  readonly use: NamedLocation['use']
  /** As written. */
  readonly text: string
  /** The canonical path of a file, or prefix of a folder; of a metadata file, its folder's. Undefined where it has none. */
  readonly path: string | undefined
  /** Why it has none; completes "the location …". */
  readonly refusal: string | undefined
}

const prefixBytesMax = 2000
/** Characters of a location that are shown or kept where it has no canonical form. */
export const shownCharsMax = 1000

/** A location with its canonical text. */
export function placeLocation({ use, text }: NamedLocation): PlacedLocation {
  const isFile = use === 'file' || use === 'metadata-file'
  const canonical = isFile ? canonicalPath(text) : canonicalPrefix(text)
  if (!canonical.isClear) return { use, text, path: undefined, refusal: canonical.reason }
  const path = use === 'metadata-file' ? folderOf(canonical.path) : canonical.path
  if (use !== 'file' && Buffer.byteLength(path) > prefixBytesMax)
    return { use, text, path: undefined, refusal: 'is too long' }
  return { use, text, path, refusal: undefined }
}

/** Whether a canonical path lies below one of the prefixes, or is one. */
export function isCovered(prefixes: readonly string[], path: string): boolean {
  return prefixes.some((prefix) => prefix === path || isWithin(prefix, path))
}

/** The folder of a canonical path; a prefix is its own. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** The row that a location lies in, of those of other tables. A derived row shares its source's files. */
export function rowAround(
  { path }: PlacedLocation,
  others: readonly TerritoryRow[],
): TerritoryRow | undefined {
  if (path === undefined) return undefined
  return others.find(({ prefix, kind }) => kind !== 'derived' && isCovered([prefix], path))
}

/** A location outside a table's territory as a conflict. @param row of the table that it belongs to, if any */
export function conflictOf({ path, text }: PlacedLocation, row: TerritoryRow | undefined): FoundConflict {
  if (path === undefined)
    return { prefix: text.slice(0, shownCharsMax), reason: 'malformed', owner: undefined }
  return { prefix: folderOf(path), reason: row === undefined ? 'unowned' : 'foreign', owner: row?.table }
}

/**
 * A folder as a prefix that the table may take.
 * @param roots of the table's catalog credential
 * @returns why it may not, completing "the location …", where it may not. A whole bucket never may, nor what lies outside
 *   of the roots. A path that several tables could share may only where it holds the table's name or uuid as a folder
 */
export function claimOf(
  placed: PlacedLocation,
  table: TableRef,
  tableUuid: string | undefined,
  roots: readonly string[],
): ClaimedPrefix | string {
  const { use, path, refusal } = placed
  if (path === undefined || use === 'file') return refusal ?? 'is no folder'
  if (isOutOfBounds(path, roots)) return 'lies outside of the storage roots of its catalog credential'
  const ancestors = ancestorsOf(path)
  if (ancestors.length < 2) return 'is a whole bucket or root folder'
  if (use === 'metadata-file') return { prefix: path, kind: 'metadata-path', ancestors }
  if (use === 'location' || holdsTable(path, table, tableUuid)) return { prefix: path, kind: use, ancestors }
  return `could be shared: it names neither the table nor its uuid as a folder, so ${tableName(table)} needs a grant of it`
}

function holdsTable(prefix: string, { name }: TableRef, tableUuid: string | undefined): boolean {
  return prefix
    .split('/')
    .some((folder) => folder === name || (tableUuid !== undefined && folder.includes(tableUuid)))
}
