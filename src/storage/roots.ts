/**
 * Decides what lies below the storage roots that an administrator registered with a catalog credential. Territory, keys,
 * signatures, plans and reads are bounded by it. Pure: it compares canonical texts, and resolves no symbolic links.
 */

import { canonicalPrefix, isWithin } from './canonical-path.ts'
import { readLocation } from './location-syntax.ts'

type Config = Readonly<Record<string, unknown>>

/** The registered roots of a credential, as configured. */
export function storageRoots(config: Config): readonly string[] {
  const roots = config.storage_roots
  return Array.isArray(roots) ? roots.filter((root) => typeof root === 'string') : []
}

/**
 * Why a text cannot be a root; completes "the root …". Undefined where it can. Readers must agree on what a root means,
 * so one that has no canonical text bounds nothing.
 */
export function rootProblem(root: string): string | undefined {
  const reading = readLocation(root)
  if (!('refusal' in reading) && reading.isWebUrl) return 'is a URL of an object'
  const canonical = canonicalPrefix(root)
  return canonical.isClear ? undefined : canonical.reason
}

/** The roots as canonical prefixes; what can be no root is left out. */
export function rootPrefixes(roots: readonly string[]): readonly string[] {
  return roots
    .filter((root) => rootProblem(root) === undefined)
    .map(canonicalPrefix)
    .flatMap((root) => (root.isClear ? [root.path] : []))
}

/** Whether a file or folder, in any spelling, is one of the roots or lies below one. False where there are no roots. */
export function withinRoots(location: string, roots: readonly string[]): boolean {
  const canonical = canonicalPrefix(location)
  if (!canonical.isClear) return false
  const { path } = canonical
  return rootPrefixes(roots).some((root) => root === path || isWithin(root, path))
}

/** Those of a table's canonical prefixes for which its credential may give out keys, signatures and plans. */
export function givenOut(prefixes: readonly string[], config: Config): readonly string[] {
  const roots = storageRoots(config)
  return prefixes.filter((prefix) => withinRoots(prefix, roots))
}

/**
 * Whether a folder lies where no table of the credential may take territory. Without roots, every table may take its
 * folders, because nothing of them is read or given out.
 */
export function isOutOfBounds(location: string, roots: readonly string[]): boolean {
  return roots.length > 0 && !withinRoots(location, roots)
}
