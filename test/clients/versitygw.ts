/**
 * Starts versitygw, an S3 server with signatures of its own, over a folder. The machine's own Go builds it once into
 * .cache/clients, which takes a quarter of an hour. It assumes no roles, so it witnesses signatures only.
 */

import { existsSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { runClient, startServer } from './processes.ts'

const version = '1.8.0'
const folder = new URL(`../../.cache/clients/versitygw-${version}/`, import.meta.url).pathname

export interface StorageServer extends AsyncDisposable {
  readonly url: string
  /** Keys that may do everything. */
  readonly id: string
  readonly secret: string
}

/** Starts it with one bucket. @throws Error with the end of the output where it cannot be built or does not start */
export async function startVersitygw(bucket: string): Promise<StorageServer> {
  const program = join(folder, 'versitygw')
  if (!existsSync(program)) await build()
  const data = await mkdtemp(join(tmpdir(), 'covenant-versitygw-'))
  mkdirSync(join(data, bucket))
  const url = `http://127.0.0.1:${freePort()}`
  const keys = { id: 'witness', secret: 'witness-secret' }
  const login = ['--access', keys.id, '--secret', keys.secret]
  const at = ['--port', new URL(url).host, '--region', 'us-east-1']
  const server = await startServer('versitygw', [program, ...login, ...at, 'posix', data], `${url}/${bucket}`)
  return {
    ...{ url, ...keys },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(data, { recursive: true, force: true })
    },
  }
}

async function build(): Promise<void> {
  const command = ['go', 'install', `github.com/versity/versitygw/cmd/versitygw@v${version}`]
  const { exitCode, output } = await runClient('versitygw-build', command, {
    env: { GOBIN: folder },
    seconds: 2_400,
  })
  if (exitCode !== 0) throw new Error(`versitygw was not built:\n${output.slice(-2000)}`)
}
