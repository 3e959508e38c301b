/** Checks a catalog credential when it is written, so that commits and queries do not fail on it later. */

import { Fault, toFault } from '../base/fault.ts'
import { parseRestCatalogConfig } from '../catalog/config.ts'
import type { CatalogCredential } from '../core/catalog.ts'
import { catalogKindDescriptors } from '../core/catalog-kinds.ts'
import { settingNamed } from '../core/catalog-settings.ts'
import { readEngineOf } from '../core/read-engine.ts'
import { rootProblem, storageRoots } from '../storage/roots.ts'
import { type VendingMode, vendingSettings } from '../vending/settings.ts'
import { parseTrinoSettings } from './trino/settings.ts'

/** Refuses names that nothing reads, because a misspelt setting would be without effect. */
function assertSettings({ kind, config }: Omit<CatalogCredential, 'id' | 'version'>): void {
  const { settings } = catalogKindDescriptors[kind]
  const unknown = Object.keys(config).filter((name) => settingNamed(settings, name) === undefined)
  if (unknown.length === 0) return
  const names = unknown.map((name) => `\`${name.slice(0, 64)}\``).join(', ')
  throw new Fault(
    'bad_request',
    `A catalog of kind ${kind} has no setting ${names}. \`covenant admin catalog --help\` lists those that there are.`,
  )
}

/** @throws Fault `bad_request` for a root that bounds nothing, and for a catalog that would give out nothing */
function assertRoots(config: CatalogCredential['config'], mode: VendingMode): void {
  const { storage_roots: given } = config
  const roots = storageRoots(config)
  if (given !== undefined && (!Array.isArray(given) || given.length !== roots.length))
    throw new Fault('bad_request', 'The storage_roots must be a list of locations.')
  const problem = roots.map(rootProblem).find((one) => one !== undefined)
  if (problem !== undefined) throw new Fault('bad_request', `A location of storage_roots ${problem}.`)
  if ((mode === 'vend' || mode === 'sign') && roots.length === 0)
    throw new Fault(
      'bad_request',
      `The storage_roots are missing: with the vending.mode ${mode}, nothing is given out outside of them.`,
    )
}

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
    assertSettings(credential)
    assertRoots(config, vendingSettings(credential).mode)
  } catch (thrown) {
    const fault = toFault(thrown)
    throw fault.kind === 'misconfigured' ? new Fault('bad_request', fault.publicMessage) : fault
  }
}
