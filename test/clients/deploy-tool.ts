/** Builds what reads files of a deployment, with the machine's own Go, once into .cache/clients. */

import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runClient } from './processes.ts'

const cache = new URL('../../.cache/clients/', import.meta.url).pathname
const buildSeconds = 1_500

/** The program of deploy/main.go; its modules are pinned in go.sum. @throws Error with the end of the output */
export async function deployTool(): Promise<string> {
  const sources = join(import.meta.dir, 'deploy')
  const hasher = new Bun.CryptoHasher('sha256')
  for (const file of ['main.go', 'go.sum']) hasher.update(await Bun.file(join(sources, file)).text())
  const target = join(cache, `deploy-${hasher.digest('hex').slice(0, 12)}`)
  const program = join(target, 'deploy')
  if (existsSync(program)) return program
  const copy = mkdtempSync(join(tmpdir(), 'covenant-deploy-tool-'))
  mkdirSync(target, { recursive: true })
  cpSync(sources, copy, { recursive: true })
  await build('deploy-build', ['go', 'build', '-C', copy, '-o', program, '.'], {})
  rmSync(copy, { recursive: true })
  return program
}

/** A program of a Go module, such as helm. @throws Error with the end of the output */
export async function goProgram(name: string, path: string, version: string): Promise<string> {
  const target = join(cache, `${name}-${version}`)
  const program = join(target, name)
  if (!existsSync(program))
    await build(`${name}-build`, ['go', 'install', `${path}@v${version}`], { GOBIN: target })
  return program
}

async function build(name: string, command: readonly string[], env: Record<string, string>): Promise<void> {
  const { exitCode, output } = await runClient(name, command, { env, seconds: buildSeconds })
  if (exitCode !== 0) throw new Error(`${name} failed:\n${output.slice(-2000)}`)
}
