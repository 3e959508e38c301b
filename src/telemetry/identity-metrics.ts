/** Declares the metrics of credentials and client certificates. */

import { Counter, type Registry } from 'prom-client'
import { credentialKinds } from '../core/credential-kind.ts'
import { labelCounter } from './label-counter.ts'

export interface IdentityMetrics {
  /** Credentials that are wrong, unknown, expired or revoked. */
  readonly credentialsRefused: Counter<'kind'>
  /** Client certificates from trusted proxies that name no subject. */
  readonly certificatesUnreadable: Counter
}

/** The metrics of identity, in a registry. */
export function identityMetrics(registry: Registry): IdentityMetrics {
  return {
    credentialsRefused: labelCounter(registry)(
      'svc_credentials_refused_total',
      'Credentials that were refused because they are wrong, unknown, expired or revoked, by kind.',
      'kind',
      credentialKinds,
    ),
    certificatesUnreadable: new Counter({
      name: 'svc_client_certificates_unreadable_total',
      help: 'Client certificates that a trusted proxy forwarded without a URI or DNS name that can be read.',
      registers: [registry],
    }),
  }
}
