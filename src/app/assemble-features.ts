/** Lists the parts of the product that add operations and jobs, and gives each what it needs of the others. */

import { openAuditKey } from '../audit/audit-key.ts'
import { auditFeature } from '../audit/feature.ts'
import { authFeature } from '../auth/feature.ts'
import type { IdentityProvider } from '../auth/login/identity-provider.ts'
import type { Config } from '../config.ts'
import { isLoopback } from '../config-values.ts'
import type { DocumentCodec } from '../contract/document/document-codec.ts'
import { contractFeature } from '../contract/feature.ts'
import { detectionFeature } from '../detection/feature.ts'
import type { Detection } from '../detection/start-detection.ts'
import type { GatewayParts } from '../gateway/base/parts.ts'
import { gatewayFeature } from '../gateway/feature.ts'
import type { ReplayParts } from '../gateway/replay/advance-replays.ts'
import { graphFeature } from '../graph/feature.ts'
import type { Core, Feature } from '../http/feature.ts'
import type { Licensed } from '../license/licensed.ts'
import { lineageFeature } from '../lineage/feature.ts'
import { protectionFeature } from '../protection/feature.ts'
import { checkPolicies, warnPolicy } from '../query/compile/protect/protect.ts'
import { queryFeature } from '../query/feature.ts'
import { checkStatement } from '../query/run/check-statement.ts'
import { semanticFeature } from '../semantics/feature.ts'
import type { InterchangeCodec } from '../semantics/interchange/codec.ts'
import type { MdxEvaluator } from '../semantics/mdx/evaluator.ts'
import { webhookFeature } from '../webhook/feature.ts'
import type { Checks } from './assemble-checks.ts'
import type { ReadPath } from './assemble-read-path.ts'

interface FeatureParts extends Pick<ReadPath, 'states' | 'keys' | 'queries' | 'seenRows' | 'requestPage'> {
  readonly config: Config
  readonly core: Core
  readonly gateway: GatewayParts
  readonly replayWorker: ReplayParts['replayWorker']
  /** Begins with a replay that was just started. */
  readonly wakeReplays: () => void
  readonly licensed: Licensed
  readonly provider: IdentityProvider | undefined
  readonly codec: DocumentCodec
  readonly interchange: InterchangeCodec
  readonly evaluator: MdxEvaluator
  readonly checks: Checks
  readonly detection: Detection
  /** The address that clients use; called only once the service listens. */
  readonly publicUrl: () => URL
  /** Of the XMLA listener; undefined where it is not served. */
  readonly xmlaUrl: () => URL | undefined
}

/**
 * Every capability, in the order of the OpenAPI document.
 * @throws Fault `misconfigured` where the key of the audit cannot be read
 */
export async function assembleFeatures(parts: FeatureParts): Promise<readonly Feature[]> {
  const { config, core, publicUrl, gateway } = parts
  const { internalAdminOrgId, webhookSecret } = config.idp
  return [
    lineageFeature(core),
    contractFeature(core, {
      ...parts,
      ...{ checkPolicies, warnPolicy, checkStatement, reads: parts.checks.reads },
      ...{ chatWebhookUrl: config.chatWebhookUrl, baseUrl: publicUrl },
    }),
    queryFeature(core, parts),
    semanticFeature(core, parts),
    gatewayFeature({ ...parts, addressRules: core.addressRules }),
    graphFeature(core),
    detectionFeature(core, {
      catalogs: gateway.catalogs,
      detection: parts.detection,
      alphaWebhookEnabled: config.alphaWebhookEnabled,
    }),
    webhookFeature(core, parts),
    protectionFeature(core, parts),
    auditFeature(core, { signer: await openAuditKey(config.auditKey, core.log), publicUrl }),
    authFeature(core, {
      ...parts,
      internalAdminOrgId,
      registered: config.mcpClients,
      allowsLoopback: () => isLoopback(publicUrl().hostname),
      identityProvider: { secret: webhookSecret, enabled: config.idpWebhookEnabled },
      billing: { secret: config.billingWebhookSecret, enabled: config.billingWebhookEnabled },
    }),
  ]
}
