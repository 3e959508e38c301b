/** The audit that proves itself: its tree, its checkpoints, and the proofs of its rows. */

import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { auditOperations } from './operations.ts'
import { type ProofParts, proveJob } from './prove-job.ts'

/** The audit that proves itself. @param needs what signs, and the address that names the logs */
export function auditFeature(core: Core, needs: Pick<ProofParts, 'signer' | 'publicUrl'>): Feature {
  return { operations: bind(auditOperations, core), jobs: [proveJob({ ...core, ...needs })] }
}
