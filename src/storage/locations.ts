/**
 * Decides which locations may be read (docs/reference/catalogs.md 5.1): only those below a storage root that an
 * administrator registered with the catalog credential. Pure: storage.ts resolves symbolic links.
 */

import { fileURLToPath } from 'node:url'
import { ReadFailure } from './read-failure.ts'

export type Location =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly key: string }

const bucketPattern = /^[a-z0-9][a-z0-9._-]{1,62}$/i
const controlCharacter = /\p{Cc}/u

/**
 * A location in canonical form.
 * @param text `file:` URL, absolute path, or `s3:`, `s3a:`, `s3n:` address
 * @returns undefined for anything else, or where it holds dot segments or control characters
 */
export function parseLocation(text: string): Location | undefined {
  if (controlCharacter.test(text) || !text.isWellFormed()) return undefined
  const s3 = /^s3[an]?:\/\/([^/]+)(?:\/(.*))?$/s.exec(text)
  if (s3 !== null) {
    const [, bucket = '', key = ''] = s3
    return bucketPattern.test(bucket) && !hasDotSegment(key) ? { kind: 's3', bucket, key } : undefined
  }
  const path = filePath(text)
  return path === undefined || hasDotSegment(path) || controlCharacter.test(path)
    ? undefined
    : { kind: 'file', path: path.replace(/\/{2,}/g, '/') }
}

function filePath(text: string): string | undefined {
  if (text.startsWith('/')) return text
  // Checked before URL parsing, which would resolve dot segments; the caller checks their encoded forms afterwards.
  if (!/^file:\/(?:\/\/)?[^/]/.test(text) || hasDotSegment(text.slice('file:'.length))) return undefined
  try {
    return fileURLToPath(text)
  } catch {
    return undefined
  }
}

function hasDotSegment(path: string): boolean {
  return path.split(/[/\\]/).some((segment) => segment === '.' || segment === '..')
}

/** The roots as locations; roots that are no location are left out. */
export function parseRoots(texts: readonly string[]): readonly Location[] {
  return texts.map((text) => parseLocation(text.replace(/\/+$/, ''))).filter((root) => root !== undefined)
}

/** Whether `location` lies below `root`, on a boundary between segments. */
export function isBelow(location: Location, root: Location): boolean {
  if (location.kind === 'file') return root.kind === 'file' && isPathBelow(location.path, root.path)
  return (
    root.kind === 's3' &&
    location.bucket === root.bucket &&
    (root.key === '' || isPathBelow(location.key, root.key))
  )
}

function isPathBelow(path: string, root: string): boolean {
  return (
    path.length > root.length && path.startsWith(root) && (root.endsWith('/') || path[root.length] === '/')
  )
}

/**
 * Parses a location and checks that it may be read.
 * @throws ReadFailure where it is malformed, of an unsupported store, or below none of the roots
 */
export function admitLocation(text: string, roots: readonly Location[]): Location {
  const location = parseLocation(text)
  if (location === undefined) {
    const scheme = /^([a-z][a-z0-9+.-]{0,15}):/i.exec(text)?.[1]?.toLowerCase()
    const supported = scheme === undefined || /^(s3[an]?|file)$/.test(scheme)
    throw new ReadFailure(
      supported ? 'a location is malformed' : `the storage scheme ${scheme} is not supported`,
    )
  }
  if (roots.length === 0)
    throw new ReadFailure('the catalog credential registers no storage_roots: nothing may be read')
  if (!roots.some((root) => isBelow(location, root)))
    throw new ReadFailure('a location lies outside the storage_roots of the catalog credential')
  return location
}

/** Length in characters of the longest root above a location; 0 where there is none. */
export function rootMatchLength(text: string, roots: readonly string[]): number {
  const location = parseLocation(text)
  if (location === undefined) return 0
  return Math.max(
    0,
    ...roots.map((root) => (parseRoots([root]).some((one) => isBelow(location, one)) ? root.length : 0)),
  )
}
