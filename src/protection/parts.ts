/** What the operations of the transform share: dependencies and permissions. */

import type { Clock } from '../base/clock.ts'
import type { TableStates } from '../catalog/table-states.ts'
import { operationsOf } from '../http/declare.ts'
import type { Store } from '../store/store.ts'
import type { PlanSigners } from './plan-signing.ts'
import type { KeyProvider } from './tenant-keys.ts'

export interface ProtectionParts {
  readonly store: Store
  readonly clock: Clock
  readonly states: TableStates
  readonly keys: KeyProvider
  readonly signers: PlanSigners
  /** The issuer of plans. */
  readonly publicUrl: () => URL
}

export const operation = operationsOf<ProtectionParts>()

/** Writers ask for plans. */
export const writing = { scope: 'commit', capability: 'transform' } as const
export const changing = { scope: 'admin', roles: ['steward'], capability: 'transform' } as const
export const overseeing = {
  scope: 'read',
  roles: ['steward', 'administrator'],
  capability: 'transform',
} as const
