/** Limits connections of the process, of a tenant, of a principal, and of clients that are not authenticated yet. */

import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { networkOf } from './network.ts'
import { WireError } from './wire-error.ts'

/** Connections of the process that have not authenticated yet. */
const pgwireUnauthenticatedMax = 1_000

interface SlotLimits {
  readonly connectionsMax: number
  readonly tenantMax: number
  readonly principalMax: number
  /** Connections whose client is not authenticated yet. */
  readonly strangersMax: number
}

export const defaultSlots: SlotLimits = {
  connectionsMax: limits.pgwireConnectionsMax,
  tenantMax: limits.pgwireTenantConnectionsMax,
  principalMax: limits.pgwirePrincipalConnectionsMax,
  strangersMax: pgwireUnauthenticatedMax,
}

export class ConnectionSlots {
  readonly #counts = new Map<string, number>()

  constructor(readonly max: SlotLimits) {}

  /**
   * Takes a slot for a client that is not authenticated yet. No network takes more slots than it leaves free, so
   * that none shuts out all others.
   * @returns a function that frees the slot; undefined where none is free
   */
  enter(address: string): (() => void) | undefined {
    const [all, ofNetwork] = ['strangers', `strangers ${networkOf(address)}`] as const
    const free = this.max.strangersMax - this.#count(all)
    return this.#count(ofNetwork) < free ? this.#take([all, ofNetwork]) : undefined
  }

  /** Takes a slot for a principal. @returns a function that frees it @throws WireError 53300 where none is free */
  admit(tenant: TenantId, { sub }: Principal): () => void {
    const [all, ofTenant, ofPrincipal] = ['all', `tenant ${tenant}`, `principal ${tenant} ${sub}`] as const
    if (this.#count(all) >= this.max.connectionsMax)
      throw new WireError('53300', 'sorry, too many clients already', 'FATAL')
    if (this.#count(ofTenant) >= this.max.tenantMax)
      throw new WireError('53300', 'too many connections for this tenant', 'FATAL')
    if (this.#count(ofPrincipal) >= this.max.principalMax)
      throw new WireError('53300', 'too many connections for this role', 'FATAL')
    return this.#take([all, ofTenant, ofPrincipal])
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  #take(names: readonly string[]): () => void {
    for (const name of names) this.#counts.set(name, this.#count(name) + 1)
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      for (const name of names) {
        const left = this.#count(name) - 1
        if (left === 0) this.#counts.delete(name)
        else this.#counts.set(name, left)
      }
    }
  }
}
