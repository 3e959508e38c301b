/**
 * Whether a catalog keeps apart names that differ in case only, and the one form of a name where it does not. Keys,
 * policies, records and audit rows hold that form. It is pure: src/catalog/ask-name-case.ts asks the catalog.
 */

import type { CatalogCredential } from './catalog.ts'
import type { TableRef } from './table-ref.ts'

/** `exact`: `Orders` and `orders` are two tables. `folded`: they are one. `unknown`: the catalog was not asked yet. */
export type NameCase = 'exact' | 'folded' | 'unknown'

/** The setting of a catalog credential, and what the service found out where it says `ask`. */
export const nameCaseSetting = 'case_sensitive_names'
export const nameCaseFound = 'case_sensitive_names.found'

/** What a credential says of its catalog's names. */
export function nameCaseOf({ config }: Pick<CatalogCredential, 'config'>): NameCase {
  const set = config[nameCaseSetting]
  const said = typeof set === 'boolean' ? set : config[nameCaseFound]
  return said === true ? 'exact' : said === false ? 'folded' : 'unknown'
}

/** The credential with what was found out of its catalog. */
export function withNameCase<C extends Pick<CatalogCredential, 'config'>>(
  credential: C,
  found: 'exact' | 'folded',
): C {
  return { ...credential, config: { ...credential.config, [nameCaseFound]: found === 'exact' } }
}

/** What is wrong with the setting; undefined where nothing is. */
export function nameCaseProblem(config: CatalogCredential['config']): string | undefined {
  const set = config[nameCaseSetting] ?? 'ask'
  const found = config[nameCaseFound]
  if (set !== 'ask' && typeof set !== 'boolean') return 'The case_sensitive_names must be true, false or ask.'
  if (found !== undefined && typeof found !== 'boolean')
    return 'The case_sensitive_names.found must be true or false.'
  return undefined
}

/** The one form of a name in a catalog that folds. Names are ASCII (core/table-ref.ts). */
export function foldName(name: string): string {
  return name.toLowerCase()
}

/** The one form of a namespace. It is the same object where nothing changes. */
export function foldNamespace(namespace: readonly string[]): readonly string[] {
  return namespace.every(isFolded) ? namespace : namespace.map(foldName)
}

/** The one form of a table's name. It is the same object where nothing changes. */
export function foldTable(table: TableRef): TableRef {
  const { namespace, name } = table
  if (isFolded(name) && namespace.every(isFolded)) return table
  return { namespace: foldNamespace(namespace), name: foldName(name) }
}

/** Whether a name is the same in every catalog, whether it folds or not. */
export function isFolded(name: string): boolean {
  return foldName(name) === name
}

/** The same name in another spelling; undefined where it has no letter. */
export function otherSpelling(name: string): string | undefined {
  const other = isFolded(name) ? name.toUpperCase() : foldName(name)
  return other === name ? undefined : other
}
