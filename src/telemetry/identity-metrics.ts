/** Declares the metrics of credentials, keys and client certificates. */

import { Counter, Gauge, type Registry } from 'prom-client'
import { credentialKinds } from '../core/credential-kind.ts'
import { labelCounter } from './label-counter.ts'

export interface IdentityMetrics {
  /** Credentials that are wrong, unknown, expired or revoked. */
  readonly credentialsRefused: Counter<'kind'>
  /** Client certificates from trusted proxies that name no subject. */
  readonly certificatesUnreadable: Counter
  /** Verified tokens in which a configured claim yields nothing. */
  readonly claimsMissing: Counter<'issuer' | 'claim'>
  /** Seconds since the oldest present key of a kind was made or turned. */
  readonly keyAgeSeconds: Gauge<'kind'>
  /** Requests of SCIM, by what they are about, method and status. */
  readonly scimRequests: Counter<'resource' | 'method' | 'status'>
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
    claimsMissing: claimsMissing(registry),
    keyAgeSeconds: new Gauge({
      name: 'svc_key_age_seconds',
      help: 'Seconds since the oldest present key of a kind was made or turned.',
      labelNames: ['kind'],
      registers: [registry],
    }),
    scimRequests: new Counter({
      name: 'svc_scim_requests_total',
      help: 'Requests of identity providers that provision people by SCIM, by resource, method and status.',
      labelNames: ['resource', 'method', 'status'],
      registers: [registry],
    }),
  }
}

function claimsMissing(registry: Registry): Counter<'issuer' | 'claim'> {
  const counter = new Counter({
    name: 'svc_identity_claim_missing_total',
    help: 'Verified tokens and logins in which a configured claim is missing or has a shape that is not read, by issuer and claim.',
    labelNames: ['issuer', 'claim'],
    registers: [registry],
  })
  for (const issuer of ['configuration', 'tenant', 'login'])
    for (const claim of ['organization', 'roles']) counter.inc({ issuer, claim }, 0)
  return counter
}
