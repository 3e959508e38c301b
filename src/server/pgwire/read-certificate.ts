/** Reads the TLS certificate of the PostgreSQL wire from the files that the settings name. */

import { createSecureContext } from 'node:tls'
import { Fault } from '../../base/fault.ts'
import type { TlsOptions } from './listen.ts'

const noPair =
  'SVC_PGWIRE_TLS_CERT_FILE and SVC_PGWIRE_TLS_KEY_FILE name no certificate with its private key.'

/**
 * Reads the certificate and checks that TLS can start with it, because a bad one must fail at startup.
 * @throws Fault `misconfigured` where a file cannot be read, or they hold no certificate with its key
 */
export async function readCertificate(files: {
  readonly certFile: string
  readonly keyFile: string
}): Promise<TlsOptions> {
  const tls = await readBoth(files)
  const detail = problemOf(tls)
  if (detail === undefined) return tls
  throw new Fault('misconfigured', noPair, { detail })
}

async function readBoth({ certFile, keyFile }: { certFile: string; keyFile: string }): Promise<TlsOptions> {
  return {
    cert: await textOf('SVC_PGWIRE_TLS_CERT_FILE', certFile),
    key: await textOf('SVC_PGWIRE_TLS_KEY_FILE', keyFile),
  }
}

async function textOf(variable: string, path: string): Promise<string> {
  try {
    return await Bun.file(path).text()
  } catch (cause) {
    throw new Fault('misconfigured', `${variable}: the file cannot be read.`, { cause })
  }
}

function problemOf({ cert, key }: TlsOptions): string | undefined {
  // The TLS library treats an empty text as if none were given.
  if (cert.trim() === '' || key.trim() === '') return 'a file is empty'
  try {
    createSecureContext({ cert, key })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
