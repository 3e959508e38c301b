/**
 * `npm run images VERSION --push NAME`: builds the image of a release for each architecture from its tag, pushes it with
 * its bills of materials, and signs it. It makes no release: scripts/release.ts does.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { architectures, digestIn, pushedBuild } from './release/image.ts'
import { git, home, Refused, run } from './release/run.ts'
import { versionsIn } from './release/versions.ts'

const help = `Usage: npm run images -- VERSION --push NAME [--sign] [--source URL]

Builds the image of a release for ${architectures.map(({ docker }) => docker).join(' and ')}, and pushes it as NAME:VERSION, from a clean working tree at the
tag v<VERSION>. Each architecture has a bill of materials (SPDX, of all its packages) and the provenance of its build
attached. It writes to dist/: covenant-<VERSION>-<ARCHITECTURE>.cdx.json (bills of materials, CycloneDX), and
covenant-<VERSION>.digest (the image by its digest).

  --push NAME    the image in its registry, in which Docker is logged in
  --sign         signs the digest by cosign, and attests the bills of materials; without a key, by the identity of the
                 machine that runs it (OpenID Connect), else by that of COSIGN_KEY
  --source URL   the address of the repository, for the label of the image
  --help         this text

Exit status: 0 pushed, 1 refused or failed, 64 wrong usage.`

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        push: { type: 'string' },
        sign: { type: 'boolean', default: false },
        source: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
      allowPositionals: true,
    })
    const [version = '', ...more] = positionals
    const isWhole = version !== '' && more.length === 0 && /^[a-z0-9][a-z0-9._:/-]*$/.test(values.push ?? '')
    return values.help || isWhole ? { ...values, version, name: values.push ?? '' } : undefined
  } catch {
    return undefined
  }
}

/** @returns the commit of the tag */
function assertAtTag(version: string): string {
  const [current = ''] = versionsIn('package.json', readFileSync(join(home, 'package.json'), 'utf8'))
  if (current !== version) throw new Refused(`The working tree is version ${current}.`)
  const revision = git('rev-parse', 'HEAD')
  if (git('tag', '--points-at', revision, '--list', `v${version}`) === '')
    throw new Refused(`The tag v${version} is not at what is checked out.`)
  if (git('status', '--porcelain') !== '') throw new Refused('The working tree has changes.')
  return revision
}

function publish(version: string, name: string, isSigned: boolean, source: string | undefined): void {
  const revision = assertAtTag(version)
  mkdirSync(join(home, 'dist'), { recursive: true })
  const bills = architectures.map(({ docker, node }) => {
    const file = join('dist', `covenant-${version}-${docker}.cdx.json`)
    run('bill of materials', process.execPath, 'scripts/sbom.ts', '--cpu', node, '--output', file)
    return file
  })
  const metadata = join('dist', 'image.json')
  run('image', ...pushedBuild({ version, revision, createdAt: new Date(), source }, name, metadata))
  const image = `${name}@${digestIn(readFileSync(join(home, metadata), 'utf8'))}`
  writeFileSync(join(home, 'dist', `covenant-${version}.digest`), `${image}\n`)
  if (isSigned) {
    const key = process.env.COSIGN_KEY ? ['--key', process.env.COSIGN_KEY] : []
    run('signature', 'cosign', 'sign', '--yes', '--recursive', ...key, image)
    for (const bill of bills)
      run(
        'attestation',
        ...['cosign', 'attest', '--yes', ...key, '--type', 'cyclonedx', '--predicate', bill, image],
      )
  }
  console.log(`Pushed ${name}:${version} as ${image}`)
}

function main(): number {
  const values = readArguments()
  if (values === undefined || values.help) {
    console[values === undefined ? 'error' : 'log'](help)
    return values === undefined ? 64 : 0
  }
  try {
    publish(values.version, values.name, values.sign, values.source)
    return 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 1
  }
}

process.exit(main())
