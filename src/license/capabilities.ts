/** What a license opens (SPEC 1). Checks are no capabilities: no license, valid or not, switches one off. */

/** Run without a license. */
export const communityCapabilities = ['gateway', 'lineage', 'policies', 'pgwire'] as const

/** Run where a license names them. */
export const commercialCapabilities = [
  'xmla',
  'graphql',
  'mcp',
  'vending',
  'transform',
  'detection',
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
