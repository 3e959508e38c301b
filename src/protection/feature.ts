/** The service half of the writer-side transform: rules, plans, keys, and who reads values in clear. */

import type { TableStates } from '../catalog/table-states.ts'
import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { protectionOperations } from './operations.ts'
import { planSigners } from './plan-signing.ts'
import { revealOperations } from './reveal-operations.ts'
import { subjectOperations } from './subject-operations.ts'
import type { KeyProvider } from './tenant-keys.ts'
import { turnPlanKeys } from './turn-plan-keys.ts'

interface ProtectionNeeds {
  readonly states: TableStates
  /** Wraps the tenants' keys of the transform. */
  readonly keys: KeyProvider
  readonly publicUrl: () => URL
}

/** The transform's service half. @param needs the keys, and where the service is */
export function protectionFeature(core: Core, needs: ProtectionNeeds): Feature {
  const signers = planSigners(core.store, core.clock)
  return {
    operations: bind([...protectionOperations, ...revealOperations, ...subjectOperations], {
      ...core,
      ...needs,
      signers,
    }),
    jobs: turnPlanKeys(core),
  }
}
