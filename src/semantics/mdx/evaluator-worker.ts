/** An MDX thread: evaluates statements beside each other, each in turns. It has no access to the store or to engines. */

import { parentPort } from 'node:worker_threads'
import { Fault } from '../../base/fault.ts'
import { type Evaluation, GivenUp, RunningEvaluation } from './evaluation.ts'
import {
  type EvaluatorReply,
  type EvaluatorRequest,
  type ResultPart,
  type SentRow,
  slicesOf,
  sliceValues,
} from './evaluator-protocol.ts'

interface Job {
  readonly evaluation: RunningEvaluation
  /** Slices of what is being put. */
  members: (string | null)[]
  rows: SentRow[]
  parts: Iterator<ResultPart> | undefined
}

const jobs = new Map<number, Job>()
const send = (reply: EvaluatorReply) => parentPort?.postMessage(reply)

parentPort?.on('message', (request: EvaluatorRequest) => {
  const { jobId } = request
  try {
    if (request.kind === 'start') {
      const givenUp = new Int32Array(request.givenUp)
      const evaluation = new RunningEvaluation(request.task, () => Atomics.load(givenUp, 0) !== 0)
      jobs.set(jobId, { evaluation, members: [], rows: [], parts: undefined })
      void advance(jobId, evaluation)
      return
    }
    if (request.kind === 'end') {
      jobs.delete(jobId)
      return send({ jobId, kind: 'whole' })
    }
    const job = jobs.get(jobId)
    if (job !== undefined) perform(jobId, job, request)
  } catch (thrown) {
    fail(jobId, thrown)
  }
})

function perform(
  jobId: number,
  job: Job,
  request: Exclude<EvaluatorRequest, { kind: 'start' | 'end' }>,
): void {
  switch (request.kind) {
    case 'members':
      job.members.push(...request.found)
      if (!request.isLast) return
      job.evaluation.putMembers(request.need, job.members)
      job.members = []
      return
    case 'cells': {
      job.rows.push(...request.rows)
      if (!request.isLast) return
      const names = [...request.need.measures.keys()]
      job.evaluation.putCells(
        request.need,
        job.rows.map(({ keys, values }) => ({
          keys,
          values: new Map(names.map((name, index) => [name, values[index]])),
        })),
      )
      job.rows = []
      return
    }
    case 'go':
      void advance(jobId, job.evaluation)
      return
    case 'more':
      sendNext(jobId, job)
  }
}

async function advance(jobId: number, evaluation: RunningEvaluation): Promise<void> {
  try {
    const round = await evaluation.advance()
    if (round.kind === 'needs') return send({ jobId, kind: 'needs', needs: round.needs })
    const job = jobs.get(jobId)
    if (job === undefined) return
    job.parts = partsOf(round)
    sendNext(jobId, job)
  } catch (thrown) {
    fail(jobId, thrown)
  }
}

function fail(jobId: number, thrown: unknown): void {
  jobs.delete(jobId)
  if (thrown instanceof GivenUp) return
  if (thrown instanceof Fault) {
    const { kind, publicMessage } = thrown
    send({ jobId, kind: 'fault', fault: { kind, publicMessage } })
  } else
    send({ jobId, kind: 'error', message: thrown instanceof Error ? (thrown.stack ?? '') : String(thrown) })
}

function sendNext(jobId: number, job: Job): void {
  const next = job.parts?.next()
  if (next === undefined || next.done === true) {
    jobs.delete(jobId)
    send({ jobId, kind: 'whole' })
  } else send({ jobId, ...next.value })
}

function* partsOf(found: Evaluation): Generator<ResultPart> {
  switch (found.kind) {
    case 'cellset': {
      const { axes, cells, ...head } = found.cellset
      yield { kind: 'cellset', head, axes: axes.map(({ hierarchies }) => ({ hierarchies })) }
      for (const [axis, { tuples, hierarchies }] of axes.entries())
        for (const slice of slicesOf(tuples, sliceOf(hierarchies.length)))
          yield { kind: 'tuples', axis, tuples: slice }
      for (const slice of slicesOf(cells, sliceValues)) yield { kind: 'values', cells: slice }
      return
    }
    case 'tabular': {
      const { columns, rows } = found.tabular
      yield { kind: 'tabular', columns }
      for (const slice of slicesOf(rows, sliceOf(columns.length))) yield { kind: 'rows', rows: slice }
      return
    }
    case 'drill':
      yield found
  }
}

const sliceOf = (width: number) => Math.max(1, Math.floor(sliceValues / Math.max(1, width)))
