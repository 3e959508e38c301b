/** Which upstream addresses a test allows, read as an operator's setting is. */

import { type AddressRules, addressRules } from '../../src/catalog/address.ts'
import { parseConfig } from '../../src/config.ts'

/** @param items ranges, addresses and host names, as SVC_UPSTREAM_ALLOW takes them */
export function allowing(...items: readonly string[]): AddressRules {
  return addressRules(parseConfig({ SVC_UPSTREAM_ALLOW: items.join(',') }).upstreamAllow)
}
