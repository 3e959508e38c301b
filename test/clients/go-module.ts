/** The Go client of `go.clients.ts`: as its go.mod pins it, or with the newest release of Iceberg's module. */

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const module = 'github.com/apache/iceberg-go'
const pinned = join(import.meta.dir, 'go')

export function pinnedGoVersion(): string {
  const found = new RegExp(`^require ${module} (\\S+)$`, 'm').exec(
    readFileSync(join(pinned, 'go.mod'), 'utf8'),
  )
  if (found?.[1] === undefined) throw new Error(`test/clients/go/go.mod does not require ${module}`)
  return found[1]
}

/** @returns undefined where the module proxy cannot be asked */
export function newestGoVersion(): string | undefined {
  if (Bun.which('go') === null) return undefined
  const { exitCode, stdout } = Bun.spawnSync(['go', 'list', '-m', '-f', '{{.Version}}', `${module}@latest`], {
    cwd: pinned,
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  })
  return exitCode === 0 ? stdout.toString().trim() : undefined
}

/** A folder with the client, whose module is that of SVC_TEST_RELEASE. */
export function goClient(): { readonly folder: string } & Disposable {
  if (process.env.SVC_TEST_RELEASE !== 'newest') return { folder: pinned, [Symbol.dispose]: () => undefined }
  const folder = mkdtempSync(join(tmpdir(), 'covenant-go-'))
  cpSync(pinned, folder, { recursive: true })
  for (const command of [
    ['go', 'get', `${module}@latest`],
    ['go', 'mod', 'tidy'],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder })
    if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`)
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
