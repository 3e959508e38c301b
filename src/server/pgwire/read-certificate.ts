/** Reads the TLS certificate of the PostgreSQL wire from the files that the settings name. */

import { createSecureContext } from 'node:tls'
import { Fault } from '../../base/fault.ts'
import type { TlsOptions } from './listen.ts'

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
  throw new Fault('misconfigured', 'SVC_PGWIRE_TLS_… name no certificate with its private key.', { detail })
}

async function readBoth({ certFile, keyFile }: { certFile: string; keyFile: string }): Promise<TlsOptions> {
  try {
    return { cert: await Bun.file(certFile).text(), key: await Bun.file(keyFile).text() }
  } catch (cause) {
    throw new Fault('misconfigured', 'The files that SVC_PGWIRE_TLS_… name cannot be read.', { cause })
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
