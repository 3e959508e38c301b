/** The job that brings what was committed into each tenant's tree, and signs it. */

import type { Core, Job } from '../http/feature.ts'
import { activeTenants } from '../store/jobs/due-tenants.ts'
import { type CheckpointSigner, makeCheckpoint } from '../store/proof/checkpoints.ts'
import { growTree, importProgress } from '../store/proof/grow-tree.ts'

/** What the job is made with. */
export interface ProofParts extends Pick<Core, 'store' | 'clock' | 'log' | 'metrics'> {
  readonly signer: CheckpointSigner
  /** The address of the service, whose host names the logs. */
  readonly publicUrl: () => URL
}

/** The job, once a minute. */
export function proveJob(parts: ProofParts): Job {
  return { name: 'prove-audit', schedule: '* * * * *', run: (signal) => proveAudit(parts, signal) }
}

/** One run over all tenants. A tenant whose tree or key fails holds up no other. */
async function proveAudit(parts: ProofParts, signal: AbortSignal): Promise<void> {
  const { store, clock, log, metrics, signer, publicUrl } = parts
  let [done, all, unsigned] = [0, 0, 0]
  for (const tenant of await activeTenants(store)) {
    signal.throwIfAborted()
    try {
      metrics.auditLeaves.inc(await growTree(store, tenant, signal))
      const progress = await importProgress(store, tenant)
      done += Number(progress.done)
      all += Number(progress.all)
      const origin = `${publicUrl().host}/audit/${tenant}`
      await makeCheckpoint(store, tenant, { at: new Date(clock.now()), signer, origin })
    } catch (err) {
      signal.throwIfAborted()
      unsigned += 1
      log.error({ err, tenant }, 'the audit of a tenant could not be proven; the next run retries')
    }
  }
  metrics.auditImported.set(all === 0 ? 1 : done / all)
  metrics.auditUnsigned.set(unsigned)
}
