/**
 * What administration changes, and who changed it (docs/reference/identity.md 5.6). The actor is the person, service or
 * program that really acted, with the session through which it did.
 */

import type { PrincipalSource } from './principal.ts'
import type { SessionKind } from './session.ts'

/** Changes of what governs reading a table. */
export const contractActions = [
  'put-contract',
  'delete-contract',
  'put-contract-document',
  'edit-contract-document',
  'delete-contract-document',
  'add-contract-version',
  'move-contract-version',
  'sign-off-contract-version',
  'put-life-cycle-settings',
  'request-checks',
  'cancel-checks',
  'resume-checks',
  'report-check-results',
  'put-row-filter',
  'delete-row-filter',
  'put-mask',
  'delete-mask',
  'put-tag',
  'delete-tag',
  'pin',
  'unpin',
  'put-settings',
  'put-table-model',
  'put-term',
  'delete-term',
  'put-metric',
  'import-semantics',
  'move-metric',
  'attest-metric',
  'end-attestation',
  'put-transform-rule',
  'delete-transform-rule',
  'rotate-transform-scope',
  'put-transform-reveal',
  'delete-transform-reveal',
  'shred-transform-subject',
  'request-loosening',
  'sign-off-loosening',
  'request-access',
  'decide-access',
  'withdraw-access',
  'revoke-access',
  'break-glass-access',
  'review-access',
] as const
export type ContractAction = (typeof contractActions)[number]

export const administrationActions = [
  'create-tenant',
  'suspend-tenant',
  'resume-tenant',
  'ask-tenant-removal',
  'confirm-tenant-removal',
  'withdraw-tenant-removal',
  'create-session',
  'turn-session-secret',
  'revoke-session',
  'exchange-session',
  'deny-session',
  'put-trusted-engine',
  'put-workload-trust',
  'delete-workload-trust',
  'put-token-issuer',
  'delete-token-issuer',
  'put-provisioning',
  'put-scim-user',
  'delete-scim-user',
  'put-scim-group',
  'delete-scim-group',
  'put-catalog',
  'change-catalog',
  'remove-catalog',
  'store-graphql-operation',
  'delete-graphql-operation',
  'put-graphql-settings',
  'put-policy',
  'delete-policy',
  'unbind-policy',
  'start-policy-replay',
  'cancel-policy-replay',
  ...contractActions,
  'put-territory-mode',
  'put-territory-manifests',
  'release-snapshot',
  'grant-territory',
  'derive-territory',
  'revoke-territory',
  'release-territory',
  'hand-over-territory',
  'decide-finding',
  'rescan-table',
  'settle-intent',
  'issue-subject-keys',
  'read-as-principal',
  'create-webhook',
  'change-webhook',
  'rotate-webhook-secret',
  'replay-webhook',
  'delete-webhook',
  'put-reconciliation-source',
  'remove-reconciliation-source',
  'map-dataset-namespace',
  'unmap-dataset-namespace',
  'retire-lineage',
  'restore-lineage',
  'set-lineage-staleness',
  'put-retention',
  'delete-retention',
  'set-hold',
  'release-hold',
  'put-classifier',
  'delete-classifier',
  'try-classifier',
  'activate-classifier',
  'deactivate-classifier',
  'detach-month',
  'lose-key',
] as const
export type AdministrationAction = (typeof administrationActions)[number]

/** How the actor was identified: by the principal chain, by a login, by the exchange of a
 * workload's token, by a provider's signature, or by the store. */
export const actorSources = [
  'mtls_san',
  'auth_header',
  'session',
  'login',
  'exchange',
  'webhook',
  'command_line',
] as const satisfies readonly (PrincipalSource | string)[]
type ActorSource = (typeof actorSources)[number]

export interface Actor {
  /** Of the verified principal. */
  readonly sub: string
  readonly email?: string
  readonly roles: readonly string[]
  readonly source: ActorSource
  /** Absent for the command line and for providers. */
  readonly session?: {
    readonly id: string
    readonly kind: SessionKind
    /** Subject of who made the session; absent where it was made before that was recorded. */
    readonly createdBy?: string
  }
  readonly requestId: string
}

/** The operator, who has the store at hand and so owns every tenant. Each call is a request of its own. */
export function operator(): Actor {
  return { sub: 'operator', roles: [], source: 'command_line', requestId: crypto.randomUUID() }
}

/** An identity or billing provider, whose signed event has an effect. */
export function providerActor(provider: string, requestId: string): Actor {
  return { sub: provider, roles: [], source: 'webhook', requestId }
}
