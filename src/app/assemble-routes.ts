/** Puts all routes of the public listener together; what each does is in its feature. */

import { administrationRoutes } from '../auth/administration/routes.ts'
import { IdentityProvider } from '../auth/login/identity-provider.ts'
import { loginRoutes } from '../auth/login/routes.ts'
import { webhookRoutes } from '../auth/webhooks/routes.ts'
import type { TableStates } from '../catalog/table-states.ts'
import type { Config } from '../config.ts'
import { contractRoutes } from '../contract/routes.ts'
import { detectionRoutes } from '../detection/routes.ts'
import type { Detection } from '../detection/start-detection.ts'
import type { GatewayParts } from '../gateway/parts.ts'
import { gatewayRoutes } from '../gateway/routes.ts'
import type { Licensed } from '../license/licensed.ts'
import type { LineageReceiver } from '../lineage/receiver.ts'
import { lineageRoutes } from '../lineage/routes.ts'
import { checkPolicies } from '../query/protect.ts'
import { queryRoutes } from '../query/routes.ts'
import { usageRoutes } from '../query/usage-routes.ts'
import { composeRoutes, type Routes } from '../server/compose.ts'
import type { Drain } from '../server/drain.ts'
import { opsRoutes } from '../server/ops.ts'
import type { Auth } from './assemble-auth.ts'

interface RouteParts {
  readonly config: Config
  readonly gateway: GatewayParts
  readonly auth: Auth
  readonly licensed: Licensed
  readonly lineage: LineageReceiver
  readonly states: TableStates
  readonly detection: Detection
  readonly drain: Drain
  /** Where clients reach the service; asked once it listens. */
  readonly publicUrl: () => URL
}

/** Every route of the service. */
export function assembleRoutes(parts: RouteParts): Routes {
  const { config, gateway, auth, licensed, lineage, states, detection, drain, publicUrl } = parts
  const { store, policies, log, clock } = gateway
  const { internalAdminOrgId } = config.idp
  return composeRoutes(
    [
      gatewayRoutes(gateway, auth),
      lineageRoutes({ receiver: lineage, clock }, auth),
      contractRoutes({ ...auth, store, log, clock, states, checkPolicies }),
      queryRoutes({ ...auth, store, states, log }),
      usageRoutes({ ...auth, store, log }),
      detectionRoutes({
        ...auth,
        store,
        log,
        licensed,
        queue: detection.queue,
        enabled: config.alphaWebhookEnabled,
        wake: () => detection.detector.wake(),
      }),
      administrationRoutes({ ...auth, store, licensed, clock, log, internalAdminOrgId }),
      loginRoutes({
        store,
        provider: identityProvider(config),
        publicUrl,
        internalAdminOrgId,
        clock,
        log,
      }),
      webhookRoutes({
        store,
        clock,
        log,
        identityProvider: { secret: config.idp.webhookSecret, enabled: config.idpWebhookEnabled },
        billing: { secret: config.billingWebhookSecret, enabled: config.billingWebhookEnabled },
      }),
      opsRoutes({
        healthy: () => store.healthy(),
        ready: () => ({
          policies: policies.ready(),
          detection: detection.ready(),
          accepting: !drain.draining,
        }),
      }),
    ],
    (fault) => log.error({ err: fault.cause ?? fault, faultId: fault.id }, 'a handler failed'),
  )
}

function identityProvider({ idp }: Config): IdentityProvider | undefined {
  const { issuerUrl, clientId, apiKey, organizationClaim } = idp
  if (issuerUrl === undefined || clientId === undefined) return undefined
  return new IdentityProvider({ issuerUrl, clientId, clientSecret: apiKey, organizationClaim })
}
