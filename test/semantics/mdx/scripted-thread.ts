/** An MDX thread for tests: what it does with a statement is the name of its first property of cells. */

import { parentPort } from 'node:worker_threads'
import type { EvaluatorReply, EvaluatorRequest } from '../../../src/semantics/mdx/evaluator-protocol.ts'

const send = (reply: EvaluatorReply) => parentPort?.postMessage(reply)

parentPort?.on('message', (request: EvaluatorRequest) => {
  const { jobId } = request
  if (request.kind === 'more' || request.kind === 'end') send({ jobId, kind: 'whole' })
  if (request.kind !== 'start' || request.task.statement.kind !== 'select') return
  switch (request.task.statement.cellProperties[0]) {
    case 'HANG':
      for (;;);
    case 'CRASH':
      throw new Error('a statement crashed its thread')
    case 'EXIT':
      process.exit(1)
      break
    case 'NEED':
      send({ jobId, kind: 'needs', needs: [] })
      break
    case 'ERROR':
      send({ jobId, kind: 'error', message: 'an error of ours with user1@example.com' })
      break
    default:
      send({ jobId, kind: 'tabular', columns: [] })
  }
})
