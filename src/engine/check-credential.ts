/** What commits and queries would stumble over in a catalog credential, refused where it can be mended. */

import { Fault, toFault } from '../base/fault.ts'
import { parseRestCatalogConfig } from '../catalog/config.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { readEngineOf } from '../core/read-engine.ts'
import { parseTrinoSettings } from './trino/settings.ts'

/**
 * Checks that adapter and read engine can use a credential's endpoint and configuration.
 * @throws Fault `bad_request` where they cannot; it names settings, never their values
 */
export function checkCatalogSettings(credential: Omit<CatalogCredential, 'id' | 'version'>): void {
  const { config } = credential
  try {
    parseRestCatalogConfig({ ...credential, id: '', version: 0 }, undefined)
    const settings = parseTrinoSettings({ config })
    if (readEngineOf(config) === 'trino' && settings === undefined)
      throw new Fault('bad_request', 'The read engine trino needs a trino.uri.')
  } catch (thrown) {
    const fault = toFault(thrown)
    throw fault.kind === 'misconfigured' ? new Fault('bad_request', fault.publicMessage) : fault
  }
}
