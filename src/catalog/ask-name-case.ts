/**
 * Asks a catalog whether it folds names: a name that it lists is asked for in another spelling, which it does not list.
 * Changes nothing, and records nothing.
 */

import { Fault } from '../base/fault.ts'
import { type NameCase, otherSpelling } from '../core/name-case.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import { parseLoadTableResult, tableUuidOf } from '../wire/iceberg/table-metadata.ts'
import { type Catalog, CatalogError } from './catalog.ts'
import { listNamespaces } from './list-namespaces.ts'

/**
 * Pages of namespaces that are read, and namespaces in which a table is looked for. Where there are more pages, only tables tell:
 * a namespace in another spelling may be on a page that was not read.
 */
const pagesMax = 100
const namespacesMax = 20
/** Tables of a namespace that are tried. */
const tablesMax = 5

/**
 * Whether the catalog folds names; `unknown` where it holds nothing by which to tell.
 * @throws CatalogError, Fault of the upstream; the signal's reason
 */
export async function askNameCase(catalog: Catalog, signal: AbortSignal): Promise<NameCase> {
  const { listed, isWhole } = await rootNamespaces(catalog, signal)
  const names = new Set(listed)
  const usable = listed.filter((name) => isPathIdentifier(name))
  const asked = isWhole ? usable.find((name) => isUnlisted(otherSpelling(name), names)) : undefined
  if (asked !== undefined && (await hasNamespace(catalog, otherSpelling(asked) ?? asked, signal)))
    return 'folded'
  for (const name of usable.slice(0, namespacesMax)) {
    const found = await askInNamespace(catalog, [name], signal)
    if (found !== undefined) return found
  }
  return 'unknown'
}

const isUnlisted = (name: string | undefined, listed: ReadonlySet<string>) =>
  name !== undefined && !listed.has(name)

/** Asks with a table of a namespace; undefined where it has none that tells. */
async function askInNamespace(
  catalog: Catalog,
  namespace: readonly string[],
  signal: AbortSignal,
): Promise<NameCase | undefined> {
  const { identifiers, nextPageToken } = await catalog.listTables(namespace, { signal })
  const names = new Set(identifiers.map(({ name }) => name))
  const usable = identifiers.filter(
    ({ name }) => isPathIdentifier(name) && isUnlisted(otherSpelling(name), names),
  )
  for (const { name } of usable.slice(0, tablesMax)) {
    const other = await uuidOf(catalog, { namespace, name: otherSpelling(name) ?? name }, signal)
    if (other === undefined) continue
    const own = await uuidOf(catalog, { namespace, name }, signal)
    // One that cannot be loaded by its own name, such as a view of another kind, tells nothing.
    if (own === undefined || own === 'absent') continue
    if (other === 'absent') return 'exact'
    // A page that is not the last may hide a table with this very name.
    if (other === own || nextPageToken === undefined) return 'folded'
  }
  return undefined
}

async function uuidOf(
  catalog: Catalog,
  table: TableRef,
  signal: AbortSignal,
): Promise<string | 'absent' | undefined> {
  try {
    const loaded = await catalog.loadTable(table, { snapshots: 'refs', signal })
    if (loaded.status !== 'loaded') throw new Error('the upstream answered 304 to an unconditional load')
    return tableUuidOf(parseLoadTableResult(loaded.body).metadata)
  } catch (thrown) {
    if (thrown instanceof CatalogError && thrown.code === 'ErrTableNotFound') return 'absent'
    if (isForbidden(thrown)) return undefined
    throw thrown
  }
}

/** Some catalogs forbid what they do not have. Then it tells nothing. */
const isForbidden = (thrown: unknown) => thrown instanceof Fault && thrown.kind === 'upstream_forbidden'

async function hasNamespace(catalog: Catalog, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await catalog.forward({ ...reading, path: ['namespaces', [name]], subject: `namespace ${name}`, signal })
    return true
  } catch (thrown) {
    if (isForbidden(thrown) || (thrown instanceof Fault && thrown.kind === 'not_found')) return false
    throw thrown
  }
}

const reading = { method: 'GET', mutates: false, whole: true } as const

interface Listed {
  readonly listed: readonly string[]
  /** Whether there are no others. */
  readonly isWhole: boolean
}

async function rootNamespaces(catalog: Catalog, signal: AbortSignal): Promise<Listed> {
  const names: string[] = []
  let pages = 0
  for await (const page of listNamespaces(catalog, [], signal)) {
    names.push(...page.map((levels) => levels[0] ?? ''))
    if (++pages === pagesMax) return { listed: names, isWhole: false }
  }
  return { listed: names, isWhole: true }
}
