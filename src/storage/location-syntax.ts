/**
 * Reads the text of a location: local files, S3, Google Cloud Storage and Azure, in the spellings that Iceberg's
 * clients write. It says what the service's own reader opens, and whether another reader would open something else.
 * Pure; canonical-path.ts and locations.ts decide by it.
 */

export type Location =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly key: string }
  | { readonly kind: 'gs'; readonly bucket: string; readonly key: string }
  | {
      readonly kind: 'azure'
      readonly container: string
      readonly account: string
      /** Such as `core.windows.net`. */
      readonly domain: string
      readonly key: string
    }

type LocationReading =
  | {
      readonly location: Location
      /** Whether it was written as the URL of an object, which Iceberg's readers do not open. */
      readonly isWebUrl: boolean
      /** Why another reader may open something else; completes "the location …". */
      readonly doubt: string | undefined
    }
  /** Why it is no location; completes "the location …". */
  | { readonly refusal: string }

const bucketPattern = /^[a-z0-9][a-z0-9._-]{1,62}$/i
const clearBucketPattern = /^[a-z0-9](?:[a-z0-9_-]|\.(?!\.)){1,61}[a-z0-9]$/
/** Names by which S3 serves another bucket's objects. */
const aliasPattern = /(?:-s3alias|--ol-s3|--xa-s3|\.mrap)$/
const controlCharacter = /\p{Cc}/u
/** S3 allows keys of 1024 bytes, Linux paths of 4096. */
const charactersMax = 4096

const notClear = {
  spaces: 'begins or ends with a space, which some readers drop',
  query: 'holds ? or #, where some readers end it',
  backslash: 'holds a backslash, which some readers take for a slash',
  slashes: 'holds a doubled slash, which some readers take for one',
  folder: 'ends with a slash, which some readers drop',
  dots: 'holds an encoded dot segment',
  bucket: 'names a bucket in a form that readers take in different ways',
  alias: 'names an access point, which stands for a bucket that it does not name',
  escapes: 'holds percent escapes, which readers of this store take in different ways',
  long: `is longer than ${charactersMax} characters`,
  dot: 'holds a name that ends with a dot, which the store drops',
} as const

/** Reads one location. It never throws. */
export function readLocation(text: string): LocationReading {
  if (!text.isWellFormed() || controlCharacter.test(text)) return { refusal: 'holds control characters' }
  const reading = text.startsWith('/') ? readFile(text) : readUrl(text)
  if ('refusal' in reading || reading.doubt !== undefined) return reading
  const doubt = doubtOfText(text)
  return doubt === undefined ? reading : { ...reading, doubt }
}

function doubtOfText(text: string): string | undefined {
  if (text.length > charactersMax) return notClear.long
  if (/^\s|\s$/u.test(text)) return notClear.spaces
  if (/[?#]/.test(text)) return notClear.query
  if (text.includes('\\')) return notClear.backslash
  return undefined
}

function readUrl(text: string): LocationReading {
  const scheme = /^([a-z][a-z0-9+.-]{0,15}):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return { refusal: 'has no scheme' }
  const rest = text.slice(scheme.length + 1)
  if (scheme === 'file') return readFileUrl(rest)
  const parts = /^\/\/([^/]+)(?:\/(.*))?$/s.exec(rest)
  if (parts === null) return { refusal: 'names no bucket' }
  const [, authority = '', key = ''] = parts
  if (/^s3[an]?$/.test(scheme)) return readObject('s3', authority, key)
  if (scheme === 'gs') return readObject('gs', authority, key)
  if (/^(?:abfs|wasb)s?$/.test(scheme)) return readAzure(authority, key)
  if (scheme === 'https' || scheme === 'http') return readWebUrl(authority, key)
  return { refusal: 'is of a store that is not supported' }
}

function readObject(kind: 's3' | 'gs', bucket: string, key: string): LocationReading {
  if (/^arn:/i.test(bucket)) return { refusal: notClear.alias }
  if (!bucketPattern.test(bucket)) return { refusal: 'names no bucket' }
  if (hasDotSegment(key)) return { refusal: 'holds a dot segment' }
  return { location: { kind, bucket, key }, isWebUrl: false, doubt: doubtOfObject(bucket, key) }
}

function doubtOfObject(bucket: string, key: string): string | undefined {
  if (aliasPattern.test(bucket)) return notClear.alias
  if (!clearBucketPattern.test(bucket)) return notClear.bucket
  return doubtOfKey(key)
}

function doubtOfKey(key: string): string | undefined {
  if (key.startsWith('/') || key.includes('//')) return notClear.slashes
  if (key.endsWith('/')) return notClear.folder
  return hasEncodedDotSegment(key) ? notClear.dots : undefined
}

/** `container@account.dfs.core.windows.net`; an address without an account means a different one for each client. */
const azurePattern =
  /^([a-z0-9](?:-?[a-z0-9]){2,62})@([a-z0-9]{3,24})\.(?:dfs|blob)\.(core\.(?:windows\.net|chinacloudapi\.cn|usgovcloudapi\.net))$/

function readAzure(authority: string, key: string): LocationReading {
  const at = authority.indexOf('@')
  // A host's letters have no case.
  const address = `${authority.slice(0, at + 1)}${authority.slice(at + 1).toLowerCase()}`
  const [, container = '', account = '', domain = ''] = azurePattern.exec(address) ?? []
  if (container === '') return { refusal: 'names no container of an account' }
  if (hasDotSegment(key)) return { refusal: 'holds a dot segment' }
  const location = { kind: 'azure', container, account, domain, key } as const
  return { location, isWebUrl: false, doubt: doubtOfAzureKey(key) }
}

function doubtOfAzureKey(key: string): string | undefined {
  if (/%[0-9a-f]{2}/i.test(key)) return notClear.escapes
  return /\.(?:\/|$)/.test(key) ? notClear.dot : doubtOfKey(key)
}

const s3Host =
  /^(?:(.+)\.)?s3(?:[.-](?:dualstack\.|fips\.)?[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2})?\.amazonaws\.com(?:\.cn)?$/
const gsHost = /^(?:(.+)\.)?storage\.googleapis\.com$/
const azureHost = /^([a-z0-9]{3,24})\.((?:dfs|blob)\..+)$/

/** The URL of an object at a provider. Any other host may serve any bucket. */
function readWebUrl(authority: string, escaped: string): LocationReading {
  const host = authority.toLowerCase()
  // S3 has read a plus sign in a URL as a space.
  if (/[?#+]/.test(escaped)) return { refusal: 'is a URL that does not name one object' }
  const path = unescaped(escaped)
  if (path === undefined || controlCharacter.test(path) || hasEncodedDotSegment(path))
    return { refusal: 'is a URL that does not name one object' }
  const [first = '', ...others] = path.split('/')
  const inPath = others.join('/')
  const s3 = s3Host.exec(host)
  const gs = gsHost.exec(host)
  const azure = azureHost.exec(host)
  const reading =
    s3 !== null
      ? readObject('s3', s3[1] ?? first, s3[1] === undefined ? inPath : path)
      : gs !== null
        ? readObject('gs', gs[1] ?? first, gs[1] === undefined ? inPath : path)
        : azure !== null
          ? readAzure(`${first}@${host}`, inPath)
          : ({ refusal: 'is a URL of an unknown host' } as const)
  if ('refusal' in reading) return reading
  const doubt = reading.doubt ?? doubtOfText(path)
  return { ...reading, isWebUrl: true, doubt }
}

/** `file:/path` and `file:///path`, whose escapes the service's reader decodes once. */
function readFileUrl(rest: string): LocationReading {
  if (!/^\/(?:\/\/)?[^/]/.test(rest) && rest !== '///' && rest !== '/')
    return { refusal: 'is a file on another host' }
  const escaped = rest.startsWith('///') ? rest.slice(2) : rest
  // An encoded slash would be a slash to some and a part of a name to others.
  if (/%(?:2f|5c)/i.test(escaped)) return { refusal: 'holds an encoded slash' }
  const path = unescaped(escaped)
  if (path === undefined || controlCharacter.test(path)) return { refusal: 'holds broken percent escapes' }
  const reading = readFile(path)
  return 'refusal' in reading ? reading : { ...reading, doubt: reading.doubt ?? doubtOfText(path) }
}

function readFile(path: string): LocationReading {
  if (hasDotSegment(path)) return { refusal: 'holds a dot segment' }
  const plain = path.replace(/\/{2,}/g, '/')
  const doubt = plain !== '/' && plain.endsWith('/') ? notClear.folder : undefined
  return { location: { kind: 'file', path: plain }, isWebUrl: false, doubt }
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function hasDotSegment(path: string): boolean {
  return /(?:^|[/\\])\.\.?(?:[/\\]|$)/.test(path)
}

/** Also where only escapes make one, because some readers decode keys. */
function hasEncodedDotSegment(key: string): boolean {
  return /%(?:2e|2f|5c)/i.test(key) && hasDotSegment(key.replace(/%2e/gi, '.').replace(/%2f|%5c/gi, '/'))
}

/** The text of a location that `readLocation` reads as the same location, without doubt where it has none. */
export function textOf(location: Location): string {
  switch (location.kind) {
    case 'file':
      return `file://${location.path.replaceAll('%', '%25')}`
    case 'azure':
      return `abfss://${location.container}@${location.account}.dfs.${location.domain}/${location.key}`
    default:
      return `${location.kind}://${location.bucket}/${location.key}`
  }
}
