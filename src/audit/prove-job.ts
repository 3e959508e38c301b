/** The job that brings what was committed into each tenant's tree, and signs it. */

import type { TenantId } from '../core/tenant.ts'
import type { Core, Job } from '../http/feature.ts'
import { tenantsOnRecord } from '../store/jobs/due-tenants.ts'
import { type CheckpointSigner, makeCheckpoint } from '../store/proof/checkpoints.ts'
import { growTree, importProgress } from '../store/proof/grow-tree.ts'
import type { Store } from '../store/store.ts'

/** What the job is made with. */
export interface ProofParts extends Pick<Core, 'store' | 'clock' | 'log' | 'metrics'> {
  readonly signer: CheckpointSigner
  /** The address of the service, whose host names the logs. */
  readonly publicUrl: () => URL
}

/** How the tree of a tenant is. */
interface TreeState {
  readonly done: number
  readonly all: number
  readonly waitsSeconds: number
  readonly isSigned: boolean
}

/** Milliseconds after which the next tenant has its turn, so that a large import holds up no other tenant. */
const turnMs = 5_000

/** The job, once a minute. */
export function proveJob(parts: ProofParts): Job {
  const { auditUnsigned, auditImported, auditWaiting } = parts.metrics
  const states = new Map<TenantId, TreeState>()
  return {
    ...{ name: 'prove-audit', schedule: '* * * * *' },
    gauge: [auditUnsigned, auditImported, auditWaiting],
    run: (signal) => proveAudit(parts, states, signal),
  }
}

/** One run over all tenants, in rounds while there is more to add. A tenant whose tree or key fails holds up no other. */
async function proveAudit(
  parts: ProofParts,
  states: Map<TenantId, TreeState>,
  signal: AbortSignal,
): Promise<void> {
  const tenants = await tenantsOnRecord(parts.store)
  for (const tenant of states.keys()) if (!tenants.includes(tenant)) states.delete(tenant)
  let round = tenants
  do {
    const next: TenantId[] = []
    for (const tenant of round) {
      signal.throwIfAborted()
      if (await proveTenant(parts, states, tenant, signal)) next.push(tenant)
      show(parts, tenants, states)
    }
    round = next
  } while (round.length > 0)
  show(parts, tenants, states)
}

/** @returns whether there is more to add */
async function proveTenant(
  { store, clock, log, metrics, signer, publicUrl }: ProofParts,
  states: Map<TenantId, TreeState>,
  tenant: TenantId,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { added, goesOn } = await growTree(store, tenant, signal, turnMs)
    metrics.auditLeaves.inc(added)
    const origin = `${publicUrl().host}/audit/${tenant}`
    await makeCheckpoint(store, tenant, { at: new Date(clock.now()), signer, origin })
    states.set(tenant, { ...(await progressOf(store, tenant)), isSigned: true })
    return goesOn
  } catch (err) {
    signal.throwIfAborted()
    const last = states.get(tenant) ?? { done: 0, all: 0, waitsSeconds: 0 }
    const found = await progressOf(store, tenant).catch(() => last)
    states.set(tenant, { ...found, isSigned: false })
    log.error({ err, tenant }, 'the audit of a tenant could not be proven; the next run retries')
    return false
  }
}

async function progressOf(store: Store, tenant: TenantId): Promise<Omit<TreeState, 'isSigned'>> {
  const { done, all, waitsSeconds } = await importProgress(store, tenant)
  return { done: Number(done), all: Number(all), waitsSeconds }
}

/** Sets the gauges by what there is of each tenant. One that had no turn yet, or failed, is not done. */
function show(
  { metrics }: ProofParts,
  tenants: readonly TenantId[],
  states: ReadonlyMap<TenantId, TreeState>,
): void {
  let [done, all, unsigned, waits] = [0, 0, 0, 0]
  for (const tenant of tenants) {
    const state = states.get(tenant)
    // One more for each tenant, so that also one without a history counts.
    all += (state?.all ?? 0) + 1
    done += (state?.done ?? 0) + (state?.isSigned === true ? 1 : 0)
    if (state?.isSigned === false) unsigned += 1
    waits = Math.max(waits, state?.waitsSeconds ?? 0)
  }
  metrics.auditImported.set(all === 0 ? 1 : done / all)
  metrics.auditUnsigned.set(unsigned)
  metrics.auditWaiting.set(waits)
}
