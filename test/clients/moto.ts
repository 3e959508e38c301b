/** Starts moto with its IAM enforced: a bucket, a role over it, and a user that may assume the role. */

import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { packageFolder } from './packages.ts'
import { runClient, startServer } from './processes.ts'
import type { StorageServer } from './versitygw.ts'

/** Its keys are the user's. */
export interface EnforcingMoto extends StorageServer {
  /** ARN. */
  readonly role: string
}

export interface MotoOptions {
  /** Seconds after which the credentials of a role end, whatever was asked for. */
  readonly roleSeconds?: number
}

/** Starts it. */
export async function startEnforcingMoto(
  bucket: string,
  { roleSeconds }: MotoOptions = {},
): Promise<EnforcingMoto> {
  const url = `http://127.0.0.1:${freePort()}`
  const python = join(packageFolder('python:moto'), 'bin/python')
  const script = (name: string) => join(import.meta.dir, 'scripts', name)
  const server = await startServer(
    'moto-enforcing',
    [python, script('moto_enforcing.py'), '-H', '127.0.0.1', '-p', new URL(url).port],
    `${url}/moto-api/`,
    {
      env: {
        INITIAL_NO_AUTH_ACTION_COUNT: '1000',
        ...(roleSeconds !== undefined && { ROLE_SECONDS: String(roleSeconds) }),
      },
    },
  )
  const command = [python, script('moto_setup.py'), url, bucket, 'lake']
  const { output, exitCode } = await runClient('moto-setup', command, { seconds: 60 })
  const keys = /^\{.*\}$/m.exec(output)?.[0]
  if (exitCode !== 0 || keys === undefined) {
    await server[Symbol.asyncDispose]()
    throw new Error(`moto was not set up:\n${output}`)
  }
  const made = JSON.parse(keys) as Pick<EnforcingMoto, 'id' | 'secret' | 'role'>
  return { url, ...made, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
