/** The verbs of `covenant` in processes of their own. */

import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeTemplate, testCatalogDirectory, testSecretsKey } from './store.ts'

const root = join(import.meta.dir, '../..')

export const anyPorts = {
  SVC_LISTEN_ADDR: '127.0.0.1:0',
  SVC_METRICS_ADDR: '127.0.0.1:0',
  SVC_PGWIRE_ADDR: '127.0.0.1:0',
  SVC_XMLA_ADDR: '127.0.0.1:0',
} as const

export function start(env: Readonly<Record<string, string>>, words: readonly string[] = ['serve']) {
  return Bun.spawn([process.execPath, 'src/main.ts', ...words], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Waits until a service listens. @returns what it has logged, and its address */
export async function listening(service: ReturnType<typeof start>) {
  let log = ''
  for await (const chunk of service.stdout.pipeThrough(new TextDecoderStream())) {
    log += chunk
    if (log.includes('"msg":"listening"')) break
  }
  const line = log.split('\n').find((each) => each.includes('"listening"'))
  if (line === undefined) throw new Error(`the service does not listen: ${log}`)
  return { log, url: (JSON.parse(line) as { url: string }).url }
}

/** A data directory with what a start would make first: a migrated store, and the database of pg_catalog. */
export async function preparedDirectory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-main-'))
  cpSync(await storeTemplate(), join(folder, 'store', 'pg'), { recursive: true })
  writeFileSync(join(folder, 'secrets.key'), testSecretsKey, { mode: 0o600 })
  mkdirSync(join(folder, 'pg-catalog'), { mode: 0o700 })
  for (const name of readdirSync(testCatalogDirectory).filter((each) => /^catalog-\w+\.tar$/.test(each)))
    cpSync(join(testCatalogDirectory, name), join(folder, 'pg-catalog', name))
  return folder
}
