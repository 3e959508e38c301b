/**
 * The command `bun run test:clients`: runs real catalogs and clients, pinned in test/clients/pins.ts, through the
 * gateway. Each suite is a process group, so its timeout, or the end of this script, ends all of its processes.
 */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isCatalogKind, isLiveCatalogKind, liveCatalogKinds } from '../src/core/catalog-kinds.ts'
import type { Upstream } from '../test/clients/gateway.ts'
import { newestGoVersion, pinnedGoVersion } from '../test/clients/go-module.ts'
import { newest } from '../test/clients/newest.ts'
import {
  CannotFetch,
  fetchedVersions,
  fetchPackage,
  type Release,
  releases,
} from '../test/clients/packages.ts'
import { type Suite, suites } from '../test/clients/pins.ts'

const help = `Usage: bun run test:clients [--quick] [--only NAME]… [--release RELEASE] [--help]
       bun run test:clients --catalog-url URL [--catalog-kind KIND] [--catalog-config FILE] [--only NAME]…

  --quick      only what continuous integration runs: ${names(([, suite]) => suite.quick)}
  --only NAME  only this suite: ${names(() => true)}
               These run only where they are named, for they take long: ${names(([, suite]) => suite.byName === true)}
  --release RELEASE
               pinned: the versions of test/clients/pins.ts. newest: the newest releases that the registries have of
               ${newestNames()}.
               Without it, a suite runs with both where they differ, and --quick with the pinned ones alone.

  --catalog-url URL      runs suites on the Iceberg REST catalog there: ${names(([, suite]) => suite.anyCatalog === true)}.
                         They make namespaces and tables in it: use an empty one.
  --catalog-kind KIND    its catalog_kind: ${liveCatalogKinds.join(' or ')}; default ${liveCatalogKinds[0]}
  --catalog-config FILE  its config_json (docs/catalogs.md), which may hold secrets

Servers and clients are fetched once into .cache/clients by pip, mvn, npm and apt-get as this machine has them set up
(about 3.6 GB for everything). Logs are in .cache/logs. What cannot be had is skipped, with the reason.`

const root = fileURLToPath(new URL('..', import.meta.url))
/** One package may be a few hundred megabytes. */
const fetchSeconds = 600

/** Whose newest releases are run. */
function newestNames(): string {
  return [...new Set(Object.keys(newest).map((name) => name.split(':')[1]))].join(', ')
}

function names(keep: (entry: [string, Suite]) => boolean): string {
  return Object.entries(suites)
    .filter(keep)
    .map(([name]) => name)
    .join(', ')
}

interface Result {
  readonly passed: number
  readonly failed: number
  readonly skipped: boolean
}

const running = new Set<number>()

/** A process group exists as long as one member does, and this script started every member. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended already.
  }
  running.delete(pid)
}

/** What a suite needs is fetched. @returns whether it can run; where it cannot, why was said */
async function fetchNeeds(name: string, needs: Suite['needs'], release: Release): Promise<boolean> {
  for (const needed of needs) {
    try {
      // Servers are as pinned, also where they share a package with the clients.
      await fetchPackage(needed, AbortSignal.timeout(fetchSeconds * 1000))
      if (release === 'newest') await fetchPackage(needed, AbortSignal.timeout(fetchSeconds * 1000), release)
    } catch (error) {
      if (!(error instanceof CannotFetch)) throw error
      console.log(`Skipped ${name}: ${needed} cannot be fetched: ${error.message}`)
      return false
    }
  }
  return true
}

async function runSuite(
  name: string,
  suite: Suite,
  catalog: Upstream | undefined,
  release: Release,
): Promise<Result> {
  // The fixture is not started beside a named catalog.
  const needs = suite.needs.filter((one) => catalog === undefined || one !== 'maven:iceberg-rest')
  if (!(await fetchNeeds(name, needs, release))) return { passed: 0, failed: 0, skipped: true }
  const versions = needs.flatMap((needed) => (needed in newest ? fetchedVersions(needed, release) : []))
  console.log(`\n== ${name}${release === 'newest' ? `, newest releases: ${versions.join(', ')}` : ''}`)
  const child = Bun.spawn(
    [process.execPath, 'test', `--timeout=${suite.seconds * 1000}`, `./test/clients/${suite.file}`],
    {
      cwd: root,
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'pipe',
      detached: true,
      env: {
        ...process.env,
        SVC_TEST_CATALOG: catalog && JSON.stringify(catalog),
        SVC_TEST_RELEASE: release,
      },
    },
  )
  running.add(child.pid)
  let late = false
  const timer = setTimeout(() => {
    late = true
    endGroup(child.pid)
  }, suite.seconds * 1000)
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk)
    text += decoder.decode(chunk, { stream: true })
  }
  const status = await child.exited
  clearTimeout(timer)
  endGroup(child.pid)
  const count = (word: string) => Number(new RegExp(`^ (\\d+) ${word}$`, 'm').exec(text)?.[1] ?? 0)
  if (late) console.log(`${name} was ended after ${suite.seconds} s; its logs are in .cache/logs`)
  const passed = count('pass')
  const failed = count('fail')
  return { passed, failed: status !== 0 && failed === 0 ? 1 : failed, skipped: false }
}

/** Whether the pins of a suite's clients are the newest releases; undefined where it runs no client of newest.ts. */
async function isNewest(name: string, { needs }: Suite): Promise<boolean | undefined> {
  if (name === 'go') return [undefined, pinnedGoVersion()].includes(newestGoVersion())
  const clients = needs.filter((needed) => needed in newest)
  if (clients.length === 0) return undefined
  if (!(await fetchNeeds(`the newest releases of ${name}`, clients, 'newest'))) return true
  return clients.every((one) =>
    Bun.deepEquals(fetchedVersions(one, 'pinned'), fetchedVersions(one, 'newest')),
  )
}

/** With which releases a suite runs: where none was asked for, the newest ones only where they are not the pinned ones. */
async function releasesOf(
  name: string,
  suite: Suite,
  { release: asked, quick }: { readonly release?: string | undefined; readonly quick: boolean },
): Promise<readonly Release[]> {
  if (asked === 'pinned' || (asked === undefined && quick)) return ['pinned']
  const isSame = await isNewest(name, suite)
  if (asked === 'newest') return isSame === undefined ? [] : ['newest']
  if (isSame === true) console.log(`\n== ${name}: no newer release than the pinned ones`)
  return isSame === false ? releases : ['pinned']
}

/** @returns undefined for invalid arguments */
function readArguments() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        release: { type: 'string' },
        'catalog-url': { type: 'string' },
        'catalog-kind': { type: 'string', default: liveCatalogKinds[0] },
        'catalog-config': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch {
    return undefined
  }
}

/** @returns a sentence for arguments that are wrong */
async function namedCatalog(
  values: NonNullable<ReturnType<typeof readArguments>>,
): Promise<Upstream | string | undefined> {
  const { 'catalog-url': url, 'catalog-kind': kind = '', 'catalog-config': file } = values
  if (url === undefined) return file === undefined ? undefined : '--catalog-config goes with --catalog-url'
  if (!/^https?:/.test(url) || !URL.canParse(url)) return '--catalog-url must be an http or https URL'
  if (!isCatalogKind(kind) || !isLiveCatalogKind(kind))
    return `--catalog-kind must be one of ${liveCatalogKinds.join(', ')}`
  const other = values.only.find((name) => suites[name]?.anyCatalog !== true)
  if (other !== undefined)
    return `The suite ${other} starts the catalogs that it needs: leave out --catalog-url`
  try {
    const config = file === undefined ? {} : ((await Bun.file(file).json()) as Upstream['config'])
    return { kind, url, ...(config && { config }) }
  } catch {
    return '--catalog-config must name a file with a JSON object'
  }
}

async function main(): Promise<number> {
  const values = readArguments()
  if (values === undefined || values.help) {
    console[values === undefined ? 'error' : 'log'](help)
    return values === undefined ? 64 : 0
  }
  const unknown = values.only.filter((name) => suites[name] === undefined)
  if (unknown.length > 0) {
    console.error(`There is no suite ${unknown.join(', ')}; there are: ${names(() => true)}`)
    return 64
  }
  if (values.release !== undefined && !releases.some((one) => one === values.release)) {
    console.error(`--release must be one of ${releases.join(', ')}\n\n${help}`)
    return 64
  }
  const catalog = await namedCatalog(values)
  if (typeof catalog === 'string') {
    console.error(`${catalog}\n\n${help}`)
    return 64
  }
  mkdirSync(new URL('../.cache/logs', import.meta.url), { recursive: true })
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const [name, suite] of Object.entries(suites)) {
    const isWanted = values.quick ? suite.quick : suite.byName !== true
    if (values.only.length > 0 ? !values.only.includes(name) : !isWanted) continue
    if (catalog !== undefined && suite.anyCatalog !== true) continue
    for (const release of await releasesOf(name, suite, values)) {
      const result = await runSuite(name, suite, catalog, release)
      total.passed += result.passed
      total.failed += result.failed
      total.skipped += result.skipped ? 1 : 0
    }
  }
  if (total.skipped > 0) console.log(`Suites skipped, see above: ${total.skipped}`)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  return total.failed === 0 ? 0 : 1
}

function endAll(): void {
  for (const pid of running) endGroup(pid)
}
process.on('exit', endAll)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    endAll()
    process.exit(1)
  })
process.exit(await main())
