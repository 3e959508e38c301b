/**
 * `bun run bases`: asks for the present digest of every image that this repository names, and writes it behind the name
 * everywhere. It raises no tag, and looks at no image: that is for who commits it.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { digestOf, NoDigest } from './release/image-digest.ts'
import { filesWithImages, isOwn, referencesIn, withDigests } from './release/image-references.ts'

const help = `Usage: npm run bases -- [--check] [--registry URL]

Writes the present digest of each image behind its name and tag, in Dockerfile, compose.yaml and workflows.

  --check         says which are behind, and changes nothing
  --registry URL  the registry of names without a host; default: the one that Docker here names
  --help          this text

Exit status: 0 all written, or none behind, 1 some behind, 64 wrong usage, 69 a registry does not tell.`

const home = new URL('..', import.meta.url).pathname
const listed = join(home, 'scripts/release/undigested-images.json')
const read = (file: string) => readFileSync(join(home, file), 'utf8')

function readArguments() {
  try {
    const options = {
      check: { type: 'boolean' },
      registry: { type: 'string' },
      help: { type: 'boolean' },
    } as const
    const { values } = parseArgs({ options })
    return values.registry === undefined || URL.canParse(values.registry) ? values : undefined
  } catch {
    return undefined
  }
}

/** Docker knows which registry a name without a host means. */
function registryOfDocker(): string | undefined {
  if (Bun.which('docker') === null) return undefined
  const command = ['docker', 'info', '--format', '{{.IndexServerAddress}}']
  const { exitCode, stdout } = Bun.spawnSync(command, { stderr: 'ignore', timeout: 10_000 })
  const address = stdout.toString().trim()
  return exitCode === 0 && URL.canParse(address) ? new URL(address).origin : undefined
}

async function raise(registry: string | undefined, isCheck: boolean): Promise<number> {
  const files = filesWithImages(home)
  const references = files
    .flatMap((file) => referencesIn(file, read(file)))
    .filter((reference) => !isOwn(reference))
  // All are known before the first is written.
  const digests = new Map<string, string>()
  for (const image of new Set(references.map((one) => one.image)))
    digests.set(image, await digestOf(image, registry))
  const behind = references.filter(({ image, digest }) => digest !== digests.get(image))
  for (const { file, line, image, digest } of behind)
    console.log(`${file}:${line}: ${image}: ${digest ?? 'no digest'} → ${digests.get(image)}`)
  console.log(`${behind.length} of ${references.length} references ${isCheck ? 'are' : 'were'} behind`)
  if (isCheck) return behind.length === 0 ? 0 : 1
  for (const file of new Set(behind.map((one) => one.file)))
    writeFileSync(join(home, file), withDigests(file, read(file), digests))
  const reasons = Object.entries(JSON.parse(readFileSync(listed, 'utf8')) as Record<string, string>)
  const left = Object.fromEntries(reasons.filter(([image]) => !digests.has(image)))
  writeFileSync(listed, `${JSON.stringify(left, null, 2)}\n`)
  return 0
}

async function main(): Promise<number> {
  const values = readArguments()
  if (values === undefined || values.help) {
    console[values === undefined ? 'error' : 'log'](help)
    return values === undefined ? 64 : 0
  }
  try {
    return await raise(values.registry ?? registryOfDocker(), values.check === true)
  } catch (error) {
    if (!(error instanceof NoDigest)) throw error
    console.error(error.message)
    return 69
  }
}

process.exit(await main())
