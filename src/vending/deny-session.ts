/** Has the cloud refuse at once what an ended session still holds. */

import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { AddressRules } from '../catalog/address.ts'
import type { Actor } from '../core/administration.ts'
import type { TenantId } from '../core/tenant.ts'
import { findCatalogCredentialById } from '../store/catalog-credential/catalog-credentials.ts'
import type { Store } from '../store/store.ts'
import { deniedNames, markDenied } from '../store/vended/vended-credentials.ts'
import { awsIssuer } from './aws/aws-issuer.ts'
import { vendingSettings } from './settings.ts'

export interface DenyParts {
  readonly store: Store
  readonly clock: Clock
  readonly addressRules: AddressRules
}

/** Times that a denial is put again because others were asked for meanwhile. */
const attemptsMax = 8

/**
 * Denies what an ended session still holds, on every role for which it was issued. It may be repeated.
 * @returns the roles
 * @throws Fault as `markDenied`, and `upstream_failed` where the cloud did not take a denial: then repeat it
 */
export async function denySession(
  { store, clock, addressRules }: DenyParts,
  tenant: TenantId,
  sessionId: string,
  by: Actor,
): Promise<readonly string[]> {
  const targets = await markDenied(store, tenant, sessionId, by)
  for (const { credentialId, issuedFor } of targets) {
    const credential = await findCatalogCredentialById(store, tenant, credentialId)
    const settings = credential && vendingSettings(credential)
    if (settings?.mode !== 'vend')
      throw new Fault('conflict', `The catalog credential that can deny sessions of ${issuedFor} is gone.`)
    const issuer = awsIssuer(settings, { addressRules, clock })
    let put = ''
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const names = await deniedNames(store, tenant, issuedFor)
      // One denial replaces another, so what others asked for meanwhile is put too.
      if (names.length === 0 || names.join() === put) break
      await issuer.deny(issuedFor, `covenant-quarantine-${tenant}`, names)
      put = names.join()
    }
  }
  return targets.map(({ issuedFor }) => issuedFor)
}
