/** Where the version of the product stands: each place is found by a pattern that must match as often as said. */

interface Place {
  readonly file: string
  /** Its one group is the version. */
  readonly pattern: RegExp
  readonly count: number
}

const places: readonly Place[] = [
  { file: 'package.json', pattern: /^ {2}"version": "([^"]+)",$/gm, count: 1 },
  { file: 'Dockerfile', pattern: /^ARG VERSION=(\S+)$/gm, count: 1 },
  { file: 'compose.yaml', pattern: /\$\{COVENANT_VERSION:-([^}]+)\}/g, count: 1 },
  { file: '.env.example', pattern: /^# COVENANT_VERSION=(\S+)$/gm, count: 1 },
  { file: 'deploy/helm/covenant/Chart.yaml', pattern: /^(?:version|appVersion): "?([^"\s]+)"?$/gm, count: 2 },
  { file: 'clients/python/pyproject.toml', pattern: /^version = "([^"]+)"$/gm, count: 1 },
]

export const versionedFiles = places.map(({ file }) => file)

/** The versions that a file names. */
export function versionsIn(file: string, text: string): readonly string[] {
  const place = placeOf(file)
  return [...text.matchAll(place.pattern)].map(([, version = '']) => version)
}

/** @throws Error where the file does not name the version as often as it should */
export function withVersion(file: string, text: string, version: string): string {
  const { pattern, count } = placeOf(file)
  const found = versionsIn(file, text).length
  if (found !== count) throw new Error(`${file} names the version ${found} times, not ${count}.`)
  return text.replace(pattern, (whole, old: string) => whole.replace(old, version))
}

function placeOf(file: string): Place {
  const place = places.find((one) => one.file === file)
  if (place === undefined) throw new Error(`${file} does not name the version.`)
  return place
}
