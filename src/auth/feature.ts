/** Identity and administration over HTTP: sessions, tenants, logins, trust, provider webhooks, retention, and their jobs. */

import type { CredentialKind } from '../core/credential-kind.ts'
import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import type { Licensed } from '../license/licensed.ts'
import { keepMonths } from '../store/history/months.ts'
import { rotateSigningKeys } from '../store/session/signing-keys.ts'
import { adminOperations } from './administration/admin-operations.ts'
import { exportOperations } from './administration/export-operations.ts'
import { graphOperations } from './administration/graph-operations.ts'
import { holdOperations } from './administration/hold-operations.ts'
import { keyOperations } from './administration/key-operations.ts'
import { monthOperations } from './administration/month-operations.ts'
import { ownOperations } from './administration/own-operations.ts'
import { removalOperations } from './administration/removal-operations.ts'
import { removeAllExpired } from './administration/remove-expired.ts'
import { removeTenants } from './administration/remove-tenants.ts'
import { retentionOperations } from './administration/retention-operations.ts'
import { type ClientParts, clientFinder } from './authorization/clients.ts'
import { authorizationOperations } from './authorization/operations.ts'
import { tokenIssuerOperations } from './issuer-operations.ts'
import type { IdentityProvider } from './login/identity-provider.ts'
import { loginOperations } from './login/operations.ts'
import { measureKeys } from './measure-keys.ts'
import { provisioningOperations } from './provisioning-operations.ts'
import { turnSecretsKey } from './turn-secrets-key.ts'
import { type WebhookParts, webhookOperations } from './webhooks/operations.ts'
import { workloadTrustOperations } from './workload/operations.ts'

interface AuthNeeds extends Pick<WebhookParts, 'identityProvider' | 'billing'> {
  readonly licensed: Licensed
  /** Undefined where nobody can log in by a browser. */
  readonly provider: IdentityProvider | undefined
  readonly internalAdminOrgId: string | undefined
  /** The clients of the authorization server that the settings name. */
  readonly registered: ClientParts['registered']
  readonly allowsLoopback: () => boolean
  readonly publicUrl: () => URL
}

/** Identity and administration. @param needs what the settings say of logins and webhooks */
export function authFeature(core: Core, needs: AuthNeeds): Feature {
  const { store, metrics } = core
  return {
    operations: [
      ...bind([...graphOperations, ...retentionOperations, ...holdOperations, ...monthOperations], core),
      ...bind([...removalOperations, ...exportOperations], core),
      ...bind(keyOperations, core),
      ...bind(adminOperations, { ...core, ...needs }),
      ...bind(ownOperations, core),
      ...bind([...workloadTrustOperations, ...tokenIssuerOperations, ...provisioningOperations], core),
      ...bind([...loginOperations, ...authorizationOperations], {
        ...core,
        ...needs,
        onRefused: (kind: CredentialKind) => metrics.credentialsRefused.inc({ kind }),
        findClient: clientFinder({ ...core, ...needs }),
      }),
      ...bind(webhookOperations, { ...core, ...needs }),
    ],
    jobs: [
      turnSecretsKey(core),
      measureKeys(core),
      {
        name: 'rotate-signing-keys',
        schedule: '23 3 * * *',
        run: async () => void (await rotateSigningKeys(store)),
      },
      {
        name: 'keep-months',
        schedule: '11 2 * * *',
        run: async () => void (await keepMonths(store)),
      },
      {
        name: 'remove-expired',
        schedule: '29 * * * *',
        run: (signal) => removeAllExpired(core, signal),
      },
      removeTenants(core),
    ],
  }
}
