/** `bun run sbom`: writes the bill of materials of the image, valid by the schema of CycloneDX, or fails. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { billOfMaterials, type Manifest } from './release/bill-of-materials.ts'

const help = `Usage: bun run sbom [--cpu x64|arm64] [--output FILE]

Writes the bill of materials of the image (CycloneDX 1.6, JSON) from bun.lock and the installed packages.

  --cpu CPU       of which image; default: that of this machine. Packages of another one alone have no license in it
  --output FILE   where to; default: standard output
  --help          this text

The time in it is SOURCE_DATE_EPOCH (seconds), where it is set, else now.
Exit status: 0 written, 1 not valid by the schema, 64 wrong usage.`

const home = new URL('..', import.meta.url).pathname
const readManifest = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { cpu: { type: 'string' }, output: { type: 'string' }, help: { type: 'boolean' } },
    })
    const { cpu = process.arch } = values
    return cpu === 'x64' || cpu === 'arm64' ? { ...values, cpu } : undefined
  } catch {
    return undefined
  }
}

async function main(): Promise<number> {
  const values = readArguments()
  if (values === undefined || values.help) {
    console[values === undefined ? 'error' : 'log'](help)
    return values === undefined ? 64 : 0
  }
  const epoch = process.env.SOURCE_DATE_EPOCH
  const bunVersion = /^version=(\S+)$/m.exec(readFileSync(join(home, 'scripts/bun.sh'), 'utf8'))?.[1]
  if (bunVersion === undefined) throw new Error('scripts/bun.sh names no version of Bun')
  const text = billOfMaterials({
    project: readManifest(join(home, 'package.json')),
    lock: readFileSync(join(home, 'bun.lock'), 'utf8'),
    bunVersion,
    cpu: values.cpu,
    createdAt: epoch === undefined ? new Date() : new Date(Number(epoch) * 1000),
    manifestOf(path) {
      const file = join(home, 'node_modules', path, 'package.json')
      return existsSync(file) ? readManifest(file) : undefined
    },
  })
  const problems = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)
  if (problems !== null) {
    console.error('The bill of materials is not valid by the schema of CycloneDX:', problems)
    return 1
  }
  if (values.output === undefined) process.stdout.write(text)
  else writeFileSync(values.output, text)
  return 0
}

process.exit(await main())
