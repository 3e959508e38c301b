/**
 * Decides which locations may be read (docs/reference/catalogs.md 5.1): only those below a storage root that an
 * administrator registered with the catalog credential. Pure: location-syntax.ts reads their texts, and storage.ts resolves symbolic links.
 */

import { isWithin } from './canonical-path.ts'
import { type Location as AnyLocation, readLocation, textOf } from './location-syntax.ts'
import { ReadFailure } from './read-failure.ts'

/** A location that the service's storage can open. */
export type Location = Extract<AnyLocation, { kind: 'file' } | { kind: 's3' }>

/**
 * What storage opens for a location's text.
 * @param text `file:` URL, absolute path, or `s3:`, `s3a:`, `s3n:` address
 * @returns undefined for anything else, or where it holds dot segments or control characters
 */
export function parseLocation(text: string): Location | undefined {
  const reading = readLocation(text)
  if ('refusal' in reading || reading.isWebUrl) return undefined
  const { location } = reading
  return location.kind === 'file' || location.kind === 's3' ? location : undefined
}

/** The roots as locations; roots that are no location are left out. */
export function parseRoots(texts: readonly string[]): readonly Location[] {
  return texts.map((text) => parseLocation(text.replace(/\/+$/, ''))).filter((root) => root !== undefined)
}

/** Whether `location` lies below `root`, on a boundary between segments. */
export function isBelow(location: Location, root: Location): boolean {
  const prefix = textOf(root)
  return isWithin(prefix.endsWith('/') ? prefix : `${prefix}/`, textOf(location))
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
