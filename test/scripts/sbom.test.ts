/** The bill of materials is valid by CycloneDX' schema, and holds what production needs with hashes and licenses. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { devDependencies, version, dependencies as wanted } from '../../package.json'

const root = new URL('../../', import.meta.url).pathname

interface Bom {
  readonly metadata: { readonly timestamp: string; readonly component: { readonly version: string } }
  readonly components: readonly {
    readonly 'bom-ref': string
    readonly version: string
    readonly purl: string
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
    readonly licenses?: readonly unknown[]
  }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

function sbom(...args: readonly string[]) {
  const command = [process.execPath, 'scripts/sbom.ts', ...args]
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd: root,
    env: { ...process.env, SOURCE_DATE_EPOCH: '1767225600' },
  })
  return { exitCode, out: stdout.toString(), err: stderr.toString() }
}

const { out: text } = sbom()
const bom = JSON.parse(text) as Bom
const byRef = new Map(bom.components.map((one) => [one['bom-ref'], one]))

test('it is valid by the schema of CycloneDX, and something wrong is found', async () => {
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  expect(await validator.validate(text)).toBeNull()
  expect(await validator.validate(text.replace('"library"', '"books"'))).not.toBeNull()
})

test('every dependency of production is in it, as pinned, and none that only development needs', () => {
  for (const [name, pinned] of Object.entries(wanted))
    expect([name, byRef.get(name)?.version]).toEqual([name, pinned])
  for (const name of ['@biomejs/biome', 'fast-check', '@cyclonedx/cyclonedx-library']) {
    expect(Object.keys(devDependencies)).toContain(name)
    expect(byRef.has(name)).toBe(false)
  }
})

test('every package has its hash of the lock file, a license and an address', () => {
  const lock = readFileSync(`${root}bun.lock`, 'utf8')
  expect(bom.components.length).toBeGreaterThan(100)
  for (const { 'bom-ref': ref, purl, hashes = [], licenses = [] } of bom.components) {
    expect(purl).toStartWith('pkg:npm/')
    expect([ref, licenses.length > 0]).toEqual([ref, true])
    if (ref.startsWith('bun@')) continue
    expect([ref, hashes.map(({ alg }) => alg)]).toEqual([ref, ['SHA-512']])
    const content = hashes[0]?.content ?? ''
    expect(lock).toContain(`sha512-${Buffer.from(content, 'hex').toString('base64')}`)
  }
})

test('what depends on what leads from the service to every package', () => {
  const edges = new Map(bom.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]))
  const seen = new Set<string>()
  const walk = (ref: string) => {
    if (seen.has(ref)) return
    seen.add(ref)
    for (const next of edges.get(ref) ?? []) walk(next)
  }
  walk(`covenant@${version}`)
  expect([...byRef.keys()].filter((ref) => !seen.has(ref))).toEqual([])
})

test('the same sources give the same text', () => {
  expect(bom.metadata.timestamp).toBe('2026-01-01T00:00:00.000Z')
  expect(bom.metadata.component.version).toBe(version)
  expect(sbom().out).toBe(text)
})
