/** The upstream addresses that a test allows, parsed like an operator's setting. */

import { type AddressRules, addressRules } from '../../src/catalog/address.ts'
import { parseConfig } from '../../src/config.ts'

/** @param items ranges, addresses and host names, as SVC_UPSTREAM_ALLOW takes them */
export function allowing(...items: readonly string[]): AddressRules {
  return addressRules(parseConfig({ SVC_UPSTREAM_ALLOW: items.join(',') }).upstreamAllow)
}
