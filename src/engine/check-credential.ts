/** Checks a catalog credential when it is written, so that commits and queries do not fail on it later. */

import { Fault, toFault } from '../base/fault.ts'
import { parseRestCatalogConfig } from '../catalog/config.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { readEngineOf } from '../core/read-engine.ts'
import { parseTrinoSettings } from './trino/settings.ts'

/**
 * Checks that the catalog adapter and the read engine can use a credential's endpoint and configuration.
 * @throws Fault `bad_request` where they cannot; its message names settings, never their values
 */
export function checkCatalogSettings(credential: Omit<CatalogCredential, 'id' | 'version'>): void {
  const { config } = credential
  try {
    parseRestCatalogConfig({ ...credential, id: '', version: 0 }, undefined)
    const settings = parseTrinoSettings({ config })
    if (readEngineOf(config) === 'trino' && settings === undefined)
      throw new Fault('bad_request', 'The read engine trino requires the setting `trino.uri`.')
  } catch (thrown) {
    const fault = toFault(thrown)
    throw fault.kind === 'misconfigured' ? new Fault('bad_request', fault.publicMessage) : fault
  }
}
