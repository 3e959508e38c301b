/** Decides whether a feature may run now, from the installed license or its absence. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { type Capability, type CommercialCapability, isCommunity } from '../core/capability.ts'
import type { License } from './license.ts'

/** The ErrorModel type of a refusal; a client tells it from missing rights by this type. */
export const notLicensedType = 'CapabilityNotLicensedException'

type LicenseState = 'none' | 'valid' | 'grace' | 'expired'

export interface Licensed {
  readonly license: License | undefined
  /** `grace`: expired, but its capabilities still run. */
  state(): LicenseState
  /**
   * Checks that a capability is licensed. Callers check session and scope before. Detection's checks never call it (ADR
   * 5).
   * @throws Fault `forbidden` of type `notLicensedType`, with a sentence that names the capability and the reason
   */
  require(capability: Capability): void
  /**
   * Checks that one more tenant may be made.
   * @param count tenants that exist
   * @throws Fault `forbidden` where the license's limit is reached
   */
  readonly requireRoomForTenant: (count: number) => void
}

/** Makes the checks for a license, or for none. */
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
        throw new Fault('forbidden', `The installed license allows ${max} tenants, and ${count} exist.`)
    },
  }
}
