/** What may run here and now: the license, or its absence, as answers to features. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { type Capability, type CommercialCapability, isCommunity } from '../core/capability.ts'
import type { License } from './license.ts'

/** The ErrorModel type of a refusal by which a client tells it from a lack of rights. */
export const notLicensedType = 'CapabilityNotLicensedException'

export type LicenseState = 'none' | 'valid' | 'grace' | 'expired'

export interface Licensed {
  readonly license: License | undefined
  /** `grace`: expired, and its capabilities still run. */
  state(): LicenseState
  /**
   * Lets a capability through. Asked after the caller's session and scope, and never by a check (ADR 5).
   * @throws Fault `forbidden` of the type `notLicensedType`, with a sentence that says which capability and why
   */
  require(capability: Capability): void
  /**
   * Lets one more tenant be made.
   * @param count tenants that exist
   * @throws Fault `forbidden` where the license's limit is reached
   */
  readonly requireRoomForTenant: (count: number) => void
}

/** The answers for a license, or for none. */
export function licensedBy(license: License | undefined, clock: Clock): Licensed {
  const state = (): LicenseState => {
    if (license === undefined) return 'none'
    const lateMs = clock.now() - license.expiresAtMs
    return lateMs < 0 ? 'valid' : lateMs < license.graceMs ? 'grace' : 'expired'
  }
  const refusal = (capability: Capability): string | undefined => {
    if (isCommunity(capability)) return undefined
    const now = state()
    if (now === 'none') return 'needs a license, and none is installed'
    if (now === 'expired') return 'needs a license, and the installed one has expired'
    const named = license?.capabilities.includes(capability as CommercialCapability)
    return named ? undefined : 'is not part of the installed license'
  }
  return {
    license,
    state,
    require(capability) {
      const why = refusal(capability)
      if (why === undefined) return
      throw new Fault('forbidden', `The capability \`${capability}\` ${why}.`, { type: notLicensedType })
    },
    requireRoomForTenant(count) {
      const max = license?.tenantsMax
      if (max !== undefined && count >= max)
        throw new Fault('forbidden', `The installed license is for ${max} tenants, and there are ${count}.`)
    },
  }
}
