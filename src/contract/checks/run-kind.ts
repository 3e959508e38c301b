/**
 * What a kind of check run is. A second kind joins in four places: its name in `checkKinds` (core/check-run.ts), a
 * {@link RunKind} that opens a claimed run as steps, its place in the list that app/assemble-checks.ts gives to the
 * runner, and, where it is part of a deployment, a `planDeployment` that requests its runs. Lease, progress, cancel,
 * resume, history, the gate of a deployment and the report of a breach are the runner's, the same for all kinds.
 */

import type { CheckKind, CheckSubject, ClaimedCheckRun, StepResult } from '../../core/check-run.ts'
import type { SystemTable } from '../../core/system-read.ts'
import type { GoverningSchema } from '../../store/contract/put-in-force.ts'
import type { ContractVersion } from '../../store/contract/versions.ts'

/** One part of a run: small enough to be repeated where its process dies, and named so that it is not repeated else. */
export interface RunStep {
  /** Unique in the run, and the same whenever the run is opened. */
  readonly key: string
  /**
   * Measures. What cannot be measured is a finding with the outcome `error`.
   * @throws only where the step should be tried again: the signal fired, or store or upstream fail for a while
   */
  run(signal: AbortSignal): Promise<StepResult>
}

export interface RunKind {
  readonly name: CheckKind
  /**
   * The steps of a run, in their order. All of them run whatever they find, so that neither their number nor their time
   * tells an outcome.
   * @param version the version of the contract, whose document never changes
   * @param table the snapshot of the run
   * @throws Fault where the run cannot be opened: it is tried again, and ends in error after the last try
   */
  open(
    run: ClaimedCheckRun,
    version: ContractVersion,
    table: SystemTable,
    signal: AbortSignal,
  ): Promise<readonly RunStep[]>
  /**
   * The input of the run that a deployment of the version needs for one of its tables; undefined: it needs none.
   * The run's snapshot is chosen for it. Absent: the kind is no part of deployments.
   */
  readonly deployInput?: (
    version: ContractVersion,
    schema: GoverningSchema,
    subject: Pick<CheckSubject, 'catalog' | 'snapshotId'>,
  ) => Readonly<Record<string, unknown>> | undefined
}
