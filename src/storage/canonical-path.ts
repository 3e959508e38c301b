/**
 * Gives each location one canonical text, so that ownership of files can be judged by comparing texts. A location that
 * storage readers would open as different objects has none. Pure: it knows neither endpoints nor symbolic links, and
 * does not see that two stores or two buckets serve the same bytes.
 */

import type { Territory } from '../core/territory.ts'
import { readLocation, textOf } from './location-syntax.ts'

type CanonicalPath =
  | { readonly isClear: true; readonly path: string }
  /** `reason` completes "the location …" and quotes nothing of it. */
  | { readonly isClear: false; readonly reason: string }

/**
 * The canonical text of a file's location: `s3://bucket/key`, `gs://bucket/key`,
 * `abfss://container@account.dfs.core.windows.net/path` or `file:///path`. It is its own canonical text.
 * @param text as metadata, manifests and clients write it
 */
export function canonicalPath(text: string): CanonicalPath {
  const canonical = canonicalText(text)
  return canonical.isClear && canonical.path.endsWith('/')
    ? { isClear: false, reason: 'names no file' }
    : canonical
}

/** The canonical text of a folder's location, with exactly one trailing slash. */
export function canonicalPrefix(text: string): CanonicalPath {
  // Iceberg's clients strip every trailing slash of a location before they append to it.
  const canonical = canonicalText(text.replace(/(?<=[^/:])\/+$/, ''))
  return canonical.isClear && !canonical.path.endsWith('/')
    ? { isClear: true, path: `${canonical.path}/` }
    : canonical
}

function canonicalText(text: string): CanonicalPath {
  const reading = readLocation(text)
  if ('refusal' in reading) return { isClear: false, reason: reading.refusal }
  if (reading.doubt !== undefined) return { isClear: false, reason: reading.doubt }
  return { isClear: true, path: textOf(reading.location) }
}

/** A canonical prefix and all that lie above it, from the bucket, container or root folder down. */
export function ancestorsOf(prefix: string): readonly string[] {
  const ancestors: string[] = []
  let at = prefix.indexOf('/', prefix.indexOf('://') + 3)
  for (; at >= 0; at = prefix.indexOf('/', at + 1)) ancestors.push(prefix.slice(0, at + 1))
  return ancestors
}

/** Whether a canonical path, or a longer canonical prefix, lies below a canonical prefix. */
export function isWithin(prefix: string, path: string): boolean {
  return prefix.endsWith('/') && path.length > prefix.length && path.startsWith(prefix)
}

/** `unclear`: the location has no canonical text, so it is not certain what a reader opens. */
type Whereabouts = 'inside' | 'outside' | 'unclear'

/**
 * Judges many locations by one territory.
 * @returns a function that says of a text what {@link canonicalPath} and {@link isWithin} say, without building the
 *   canonical text of a path that is plain
 */
export function whereaboutsIn({ prefixes }: Pick<Territory, 'prefixes'>): (text: string) => Whereabouts {
  const spellings = prefixes.filter((prefix) => prefix.endsWith('/')).flatMap(spellingsOf)
  // Both are tried first, because the files of one manifest mostly lie in one folder of one bucket.
  let last = spellings[0]
  let lastBucket: string | undefined
  const startsPlainly = (text: string, prefix: string) =>
    text.startsWith(prefix) && isPlain(text, prefix.length)
  const lies = (path: string): Whereabouts =>
    prefixes.some((prefix) => isWithin(prefix, path)) ? 'inside' : 'outside'
  return (text) => {
    if (last !== undefined && startsPlainly(text, last)) return 'inside'
    const found = spellings.find((prefix) => startsPlainly(text, prefix))
    if (found !== undefined) {
      last = found
      return 'inside'
    }
    if (lastBucket !== undefined && startsPlainly(text, lastBucket)) return lies(text)
    const canonical = canonicalPath(text)
    if (!canonical.isClear) return 'unclear'
    if (canonical.path === text && !isAzure(text)) lastBucket = ancestorsOf(text)[0]
    return lies(canonical.path)
  }
}

/** Azure drops a dot at the end of a name, so every one of its paths is read in full. */
const isAzure = (text: string) => text.startsWith('abfss://')

/** Spellings of a prefix after which the rest of a plain path stands as in its canonical text. */
function spellingsOf(prefix: string): readonly string[] {
  if (isAzure(prefix)) return []
  if (prefix.startsWith('s3://')) return [prefix, `s3a${prefix.slice(2)}`]
  if (!prefix.startsWith('file://') || prefix.includes('%')) return [prefix]
  const path = prefix.slice('file://'.length)
  return path === '/' ? [prefix] : [prefix, path, `file:${path}`]
}

const charactersMax = 2048
const slash = 47
const percent = 37
/** By character code: 1 may stand anywhere in a name, 2 anywhere but at its start. */
const plainCodes = new Uint8Array(128)
for (const mark of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-=+')
  plainCodes[mark.charCodeAt(0)] = 1
for (const mark of '.:') plainCodes[mark.charCodeAt(0)] = 2
/** Escapes that stand for a dot, a slash or a backslash where a reader decodes them. */
const unsafeEscapes: ReadonlySet<string> = new Set(['2e', '2E', '2f', '2F', '5c', '5C'])

/** Whether the rest of a text is a file below folders, in characters that every reader takes as they stand. */
function isPlain(text: string, from: number): boolean {
  if (text.length > charactersMax) return false
  // Escapes stand for themselves in the keys of object stores, and for characters in the URLs of local files.
  const mayEscape = text.charCodeAt(0) !== slash && !text.startsWith('file:')
  let isStart = true
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === slash) {
      if (isStart) return false
      isStart = true
    } else if (code === percent) {
      if (!mayEscape || unsafeEscapes.has(text.slice(at + 1, at + 3))) return false
      isStart = false
    } else {
      const plain = plainCodes[code]
      if (plain !== 1 && (plain !== 2 || isStart)) return false
      isStart = false
    }
  }
  return !isStart
}
