/** The audit that proves itself: its tree, its checkpoints, and the proofs of its rows. */

import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { auditOperations } from './operations.ts'
import { type ProofParts, proveJob } from './prove-job.ts'

/** What the feature is made with beside the core. */
interface AuditNeeds extends Pick<ProofParts, 'publicUrl'> {
  /** Undefined where no key is set: then no job runs, and nothing is read for a tree. */
  readonly signer: ProofParts['signer'] | undefined
}

/** The audit that proves itself. @param needs what signs, and the address that names the logs */
export function auditFeature(core: Core, { signer, publicUrl }: AuditNeeds): Feature {
  const jobs = signer === undefined ? [] : [proveJob({ ...core, signer, publicUrl })]
  return { operations: bind(auditOperations, core), jobs }
}
