/** Reads the installed license from the environment or a file. */

import { Fault } from '../base/fault.ts'
import type { Secret } from '../base/secret.ts'
import type { LicenseKey } from './keys.ts'
import { type License, verifyLicense } from './license.ts'

export type LicenseSource = { readonly text: Secret } | { readonly file: string }

/**
 * Reads and verifies the installed license.
 * @param development whether a license signed with the development key is valid
 * @param keys the program's keys; a test passes its own
 * @returns undefined where none is installed
 * @throws Fault `misconfigured` for a license that cannot be read or does not verify
 */
export async function readInstalledLicense(
  source: LicenseSource | undefined,
  development: boolean,
  keys?: readonly LicenseKey[],
): Promise<License | undefined> {
  if (source === undefined) return undefined
  const text = 'text' in source ? source.text.reveal() : await textOf(source.file)
  return verifyLicense(text, development, keys)
}

async function textOf(file: string): Promise<string> {
  try {
    return await Bun.file(file).text()
  } catch (cause) {
    throw new Fault('misconfigured', 'The file that SVC_LICENSE_FILE names cannot be read.', { cause })
  }
}
