/** Reads the TLS certificate of a listener from the files that its settings name. */

import { createSecureContext } from 'node:tls'
import { Fault } from '../../base/fault.ts'
import type { TlsOptions } from './listen.ts'

export interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** The settings that name the files. */
interface CertificateVariables {
  readonly cert: string
  readonly key: string
}

/**
 * Reads the certificate and checks that TLS can start with it, because a bad one must fail at startup.
 * @throws Fault `misconfigured` where a file cannot be read, or they hold no certificate with its key
 */
export async function readCertificate(
  files: CertificateFiles,
  variables: CertificateVariables,
): Promise<TlsOptions> {
  const tls = {
    cert: await textOf(variables.cert, files.certFile),
    key: await textOf(variables.key, files.keyFile),
  }
  const detail = problemOf(tls)
  if (detail === undefined) return tls
  const message = `${variables.cert} and ${variables.key} name no certificate with its private key.`
  throw new Fault('misconfigured', message, { detail })
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
