/**
 * Lists the capabilities that a license enables (docs/reference/license.md 1). Detection's checks are not capabilities:
 * no license switches them off. docs/license.md lists the routes of each; most capabilities are not built yet.
 */

/** Available without a license, with what the read path of `pgwire` needs: contracts, pins, explain, usage. */
export const communityCapabilities = ['gateway', 'lineage', 'policies', 'pgwire'] as const

/** Available where a license names them. */
export const commercialCapabilities = [
  'xmla',
  'graphql',
  'mcp',
  'vending',
  'transform',
  /** Runs, findings, decisions and rescans over REST. Scanning and alerting need no license. */
  'detection',
  /** The life cycle of contracts. Putting a table under a contract needs no license. */
  'contracts',
  /** What tables can be grouped by, and the glossary. */
  'semantic-layer',
  /** Definitions of metrics, attestations and queries for metrics over REST. */
  'metrics',
  'compliance',
  'cost',
] as const

export type CommercialCapability = (typeof commercialCapabilities)[number]
export type Capability = (typeof communityCapabilities)[number] | CommercialCapability

const community: ReadonlySet<string> = new Set(communityCapabilities)

/** Whether the capability is available without a license. */
export function isCommunity(capability: Capability): boolean {
  return community.has(capability)
}
