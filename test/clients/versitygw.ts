/**
 * Starts versitygw, an S3 server with signatures of its own, over a folder. The machine's own Go builds it once into
 * .cache/clients, which takes a quarter of an hour. It assumes no roles, so it witnesses signatures only.
 */

import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { goProgram } from './deploy-tool.ts'
import { startServer } from './processes.ts'

/** Also that of the image in compose.yaml. */
export const versitygwVersion = '1.8.0'

export interface StorageServer extends AsyncDisposable {
  readonly url: string
  /** Keys that may do everything. */
  readonly id: string
  readonly secret: string
}

/** Starts it with one bucket. @throws Error with the end of the output where it cannot be built or does not start */
export async function startVersitygw(bucket: string): Promise<StorageServer> {
  const program = await goProgram('versitygw', 'github.com/versity/versitygw/cmd/versitygw', versitygwVersion)
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
