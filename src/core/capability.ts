/**
 * What a license opens (docs/reference/license.md 1). Checks are no capabilities: no license, valid or not, switches
 * one off. docs/license.md says which routes each opens today; most are of parts that are not there yet.
 */

/** Run without a license, with what the read path of `pgwire` needs: contracts, pins, explain, usage. */
export const communityCapabilities = ['gateway', 'lineage', 'policies', 'pgwire'] as const

/** Run where a license names them. */
export const commercialCapabilities = [
  'xmla',
  'graphql',
  'mcp',
  'vending',
  'transform',
  /** Runs, findings, decisions and rescans over REST. Scanning and alerting is a check. */
  'detection',
  /** The life cycle of contracts; putting a table under one is the community's. */
  'contracts',
  'semantic-layer',
  'metrics',
  'compliance',
  'cost',
] as const

export type CommercialCapability = (typeof commercialCapabilities)[number]
export type Capability = (typeof communityCapabilities)[number] | CommercialCapability

const community: ReadonlySet<string> = new Set(communityCapabilities)

/** Whether the capability runs without a license. */
export function isCommunity(capability: Capability): boolean {
  return community.has(capability)
}
