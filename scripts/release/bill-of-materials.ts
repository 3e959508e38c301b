/**
 * The bill of materials of the image, as a CycloneDX document: what bun.lock pins for production on Linux on one CPU, with hashes,
 * licenses and dependencies, and the Bun that runs it. It lists no package of the base image.
 */

import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import { PackageURL } from 'packageurl-js'
import parseExpression from 'spdx-expression-parse'

type Wanted = Readonly<Record<string, string>>

/** What a package, or the project itself, wants. */
interface Wants {
  readonly dependencies?: Wanted
  readonly optionalDependencies?: Wanted
  readonly peerDependencies?: Wanted
}
interface PackageInfo extends Wants {
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
}
/** `name@version`, the registry, what it wants, and its hash. */
type LockedPackage = readonly [string, string, PackageInfo, string]

interface LockFile {
  readonly workspaces: Readonly<Record<string, Wants>>
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** A package.json, as far as it is read. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly license?: string
}

export interface Materials {
  readonly project: Manifest
  /** The text of bun.lock. */
  readonly lock: string
  readonly bunVersion: string
  /** That of the image, as Node names it: `x64` or `arm64`. */
  readonly cpu: string
  readonly createdAt: Date
  /** The manifest of an installed package, by its path below node_modules; undefined where it is not installed. */
  readonly manifestOf: (path: string) => Manifest | undefined
}

const licenses = new Contrib.License.Factories.LicenseFactory(parseExpression)

/** A document of CycloneDX 1.6: the same text for the same materials. */
export function billOfMaterials({
  project,
  lock,
  bunVersion,
  cpu,
  createdAt,
  manifestOf,
}: Materials): string {
  const { workspaces, packages: locked } = Bun.JSONC.parse(lock) as LockFile
  const packages = Object.fromEntries(
    Object.entries(locked).filter(([key, [, , info]]) => runsInImage(key, info, cpu)),
  )
  const root = new Models.Component(Enums.ComponentType.Application, project.name, {
    version: project.version,
    bomRef: `${project.name}@${project.version}`,
    ...(project.description !== undefined && { description: project.description }),
  })
  if (project.license !== undefined) root.licenses.add(licenses.makeFromString(project.license))
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: root, timestamp: createdAt }) })

  const components = new Map<string, Models.Component>()
  /** Adds a locked package and all that it depends on. */
  const add = (key: string): Models.Component => {
    const known = components.get(key)
    if (known !== undefined) return known
    const locked = packages[key]
    if (locked === undefined) throw new Error(`bun.lock has no package ${key}`)
    const component = componentOf(key, locked, manifestOf(pathOf(key)))
    components.set(key, component)
    bom.components.add(component)
    for (const found of wantedBy(locked[2], key, packages)) component.dependencies.add(add(found).bomRef)
    return component
  }
  const own = workspaces[''] ?? {}
  const production = own.dependencies === undefined ? {} : { dependencies: own.dependencies }
  for (const key of wantedBy(production, '', packages)) root.dependencies.add(add(key).bomRef)
  const runtime = bunComponent(bunVersion)
  bom.components.add(runtime)
  root.dependencies.add(runtime.bomRef)

  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

/** The keys of what a package wants. Of what is optional, what the lock has for the image, as Bun installs it. */
function* wantedBy(info: Wants, from: string, packages: LockFile['packages']): Generator<string> {
  for (const name of Object.keys({
    ...info.dependencies,
    ...info.optionalDependencies,
    ...info.peerDependencies,
  })) {
    const key = resolve(name, from, packages)
    if (key !== undefined) yield key
    else if (info.dependencies?.[name] !== undefined)
      throw new Error(`bun.lock does not have ${name}, which ${from || 'the project'} wants`)
  }
}

/** The image is Debian, so nothing for another C library belongs to it. */
const runsInImage = (key: string, { os, cpu }: PackageInfo, wanted: string) =>
  isOneOf(os, 'linux') && isOneOf(cpu, wanted) && !key.endsWith('-musl')

const isOneOf = (allowed: string | readonly string[] | undefined, wanted: string) =>
  allowed === undefined || allowed === wanted || (typeof allowed !== 'string' && allowed.includes(wanted))

/** The key of a package as Node would find it: below the one that wants it, else below each above it. */
function resolve(name: string, from: string, packages: LockFile['packages']): string | undefined {
  const above = namesIn(from)
  for (let depth = above.length; depth >= 0; depth -= 1) {
    const key = [...above.slice(0, depth), name].join('/')
    if (packages[key] !== undefined) return key
  }
  return undefined
}

/** The names in a key: a scope belongs to the name after it. */
const namesIn = (key: string): readonly string[] => key.match(/(@[^/]+\/)?[^/]+/g) ?? []
const pathOf = (key: string) => namesIn(key).join('/node_modules/')

function componentOf(
  key: string,
  [nameAndVersion, , , integrity]: LockedPackage,
  manifest: Manifest | undefined,
): Models.Component {
  const at = nameAndVersion.lastIndexOf('@')
  const [fullName, version] = [nameAndVersion.slice(0, at), nameAndVersion.slice(at + 1)]
  const [name = '', group] = fullName.split('/').reverse()
  const component = new Models.Component(Enums.ComponentType.Library, name, {
    version,
    // Two places may have the same version.
    bomRef: key,
    purl: new PackageURL('npm', group, name, version, undefined, undefined).toString(),
    ...(group !== undefined && { group }),
  })
  const [algorithm = '', hash = ''] = integrity.split(/-(.*)/s)
  if (algorithm === 'sha512')
    component.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(hash, 'base64').toString('hex'))
  // Some packages have an object there, as npm once allowed.
  if (typeof manifest?.license === 'string') component.licenses.add(licenses.makeFromString(manifest.license))
  return component
}

function bunComponent(version: string): Models.Component {
  const component = new Models.Component(Enums.ComponentType.Application, 'bun', {
    version,
    bomRef: `bun@${version}`,
    purl: new PackageURL('npm', undefined, 'bun', version, undefined, undefined).toString(),
    description: 'The runtime, with what is linked into it',
  })
  component.licenses.add(licenses.makeFromString('MIT'))
  return component
}
