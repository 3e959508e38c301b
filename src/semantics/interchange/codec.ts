/** Reads documents of other formats off the HTTP thread, in one worker that starts with the first of them. */

import { Fault } from '../../base/fault.ts'
import { SingleWorker } from '../../base/single-worker.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { describeProblem } from '../../wire/odcs/problem.ts'
import type { SemanticDraft } from './draft.ts'
import type { InterchangeOutcome, InterchangeTask } from './read-interchange.ts'

/** Problems that the message of a refusal names. */
const namedMax = 3

export class InterchangeCodec {
  readonly #worker = new SingleWorker<InterchangeTask, InterchangeOutcome>({
    url: new URL('./worker.ts', import.meta.url),
    taskMs: limits.contractDocumentMs,
    waitingMax: 8,
    busy: 'Too many documents wait. Retry.',
    crashed: 'The document cannot be read.',
    late: 'The document takes too long to read.',
  })

  /** @throws Fault `unprocessable` for a document that cannot be read, `unavailable` where too many wait */
  async read(tenant: TenantId, task: InterchangeTask): Promise<SemanticDraft> {
    const outcome = await this.#worker.perform(tenant, task)
    if (outcome.kind === 'read') return outcome.draft
    const { problems } = outcome
    throw new Fault('unprocessable', problems.slice(0, namedMax).map(describeProblem).join(' '), {
      members: { problems },
    })
  }

  /** Ends the worker. Documents that wait fail. */
  close(): void {
    this.#worker.close()
  }
}
