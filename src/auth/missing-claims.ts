/**
 * Tells the operator of configured claims that yield nothing: by a metric each time, and by a line of the log once in a
 * while. Neither holds anything of a token beyond its issuer. Decides nothing about a token.
 */

import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { Lru } from '../base/lru.ts'
import type { TenantId } from '../core/tenant.ts'
import type { IdentityMetrics } from '../telemetry/identity-metrics.ts'
import type { VerifyToken } from './bearer.ts'
import { type ClaimNames, yieldingNothing } from './claims.ts'

/** Whose claims are looked at. */
interface ClaimsFrom {
  /** The issuer of bearers in the configuration, one of a tenant, or the identity provider of logins. */
  readonly kind: 'configuration' | 'tenant' | 'login'
  /** As it is configured. */
  readonly issuer: string
  readonly tenant?: TenantId
}

/** Tells of the configured claims that verified claims lack. */
export type TellMissingClaims = (
  claims: Readonly<Record<string, unknown>>,
  names: ClaimNames,
  from: ClaimsFrom,
) => void

interface TellerParts {
  readonly clock: Clock
  readonly metrics: Pick<IdentityMetrics, 'claimsMissing'>
  readonly log: Logger
}

/** Milliseconds between two lines about the same claim of an issuer. */
const warnEveryMs = 600_000
const rememberedMax = 1_000

/** The teller of one process. */
export function missingClaimsTeller({ clock, metrics, log }: TellerParts): TellMissingClaims {
  const warned = new Lru<string, number>(rememberedMax)
  return (claims, names, { kind, issuer, tenant }) => {
    for (const claim of yieldingNothing(claims, names)) {
      metrics.claimsMissing.inc({ issuer: kind, claim })
      const key = JSON.stringify([kind, issuer, tenant, claim])
      const lastMs = warned.get(key)
      if (lastMs !== undefined && clock.now() - lastMs < warnEveryMs) continue
      warned.set(key, clock.now())
      log.warn(
        { issuer, tenant, claim, path: names[claim] },
        'tokens of an issuer lack the claim that is set for them, or it has a shape that is not read',
      )
    }
  }
}

/** The verifier of the configuration's issuer, which tells of claims that its tokens lack. */
export function tellingVerifier(
  verify: VerifyToken,
  tell: TellMissingClaims,
  { names, issuer }: { readonly names: ClaimNames; readonly issuer: string },
): VerifyToken {
  return async (token) => {
    const claims = await verify(token)
    tell(claims, names, { kind: 'configuration', issuer })
    return claims
  }
}
