/** Reads, edits and converts contract documents off the HTTP thread, in one worker that starts with the first task. */

import { SingleWorker } from '../../base/single-worker.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { DocumentOutcome, DocumentTask } from '../../wire/odcs/document-task.ts'

export class DocumentCodec {
  readonly #worker = new SingleWorker<DocumentTask, DocumentOutcome>({
    url: new URL('./document-worker.ts', import.meta.url),
    taskMs: limits.contractDocumentMs,
    waitingMax: 32,
    busy: 'Too many contract documents wait. Retry.',
    crashed: 'The document cannot be read.',
    late: 'The document takes too long to read.',
  })

  /**
   * Performs a task when the turn of its tenant comes; a document that is refused is an outcome.
   * @throws Fault `unavailable` where too many tasks wait or the service is stopping, `unprocessable` for a document
   * on which the worker crashed or took too long
   */
  perform(tenant: TenantId, task: DocumentTask): Promise<DocumentOutcome> {
    return this.#worker.perform(tenant, task)
  }

  /** Ends the worker. Tasks that wait or run fail. */
  close(): void {
    this.#worker.close()
  }
}
