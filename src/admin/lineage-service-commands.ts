/** Commands that send events of lineage and ask for it. They need a service, because what they may see depends on the session. */

import { Fault } from '../base/fault.ts'
import { limits } from '../limits.ts'
import { splitBatch } from '../lineage/split-batch.ts'
import { type Command, requireService, type Wanted } from './command.ts'
import type { Flags } from './flags.ts'

export const lineageServiceCommands: readonly Command[] = [
  {
    words: 'lineage send',
    usage: '--file FILE',
    summary:
      'Sends the OpenLineage events of a file: a JSON array, or one event a line. - is standard input.',
    details:
      'Prints how many were received and accepted, and of each other its place in the file, from 1, and why. The session has the scope lineage. To send a file again does no harm.',
    fields: ['received', 'accepted'],
    async prepare(flags) {
      requireService(flags)
      const texts = batchesOf(await flags.file('file', limits.lineageBatchBytesMax))
      return { operation: 'receive_lineage_batch', input: {}, bodies: { texts, together } }
    },
  },
  {
    words: 'lineage walk',
    usage: '--node NODE [--direction upstream|downstream|both] [--depth N] [--as-of TIME]',
    summary: 'Lists the edges of lineage around a dataset, job, column, table or contract, nearest first.',
    prepare(flags) {
      const more = { depth: flags.integer('depth', 1, limits.graphHopsMax), as_of: flags.optional('as-of') }
      return asked(flags, 'walk_lineage', ['upstream', 'downstream', 'both'], more)
    },
  },
  {
    words: 'lineage reach',
    usage: '--node NODE [--direction upstream|downstream]',
    summary: 'Lists every dataset that lineage reaches from a node, at any distance.',
    prepare: (flags) => asked(flags, 'list_lineage_reach', ['upstream', 'downstream']),
  },
]

function asked(flags: Flags, operation: string, directions: readonly string[], more: object = {}): Wanted {
  requireService(flags)
  const direction = flags.choice('direction', directions)
  const input = { node: flags.required('node'), direction, ...more, limit: 1000 }
  return { operation, input, everyItem: true }
}

/** The events of a file as the bodies of batches. @throws Fault `bad_request` where an array has no end or too many items */
function batchesOf(text: string): readonly string[] {
  const events = text.trimStart().startsWith('[')
    ? splitBatch(Buffer.from(text), Number.MAX_SAFE_INTEGER).map((event) => Buffer.from(event).toString())
    : text.split('\n').filter((line) => line.trim() !== '')
  const batches: string[] = []
  for (let from = 0; from < events.length; from += limits.lineageBatchEventsMax)
    batches.push(`[${events.slice(from, from + limits.lineageBatchEventsMax).join(',')}]`)
  return batches
}

interface BatchAnswer {
  readonly received: number
  readonly accepted: number
  readonly events: readonly { readonly status: number; readonly message?: string }[]
}

function together(answers: readonly unknown[]) {
  const batches = answers as readonly BatchAnswer[]
  const events = batches.flatMap((batch) => batch.events)
  const not_accepted = events.flatMap(({ status, message }, index) =>
    status === 202 ? [] : { event: index + 1, status, message },
  )
  const answer = { received: events.length, accepted: events.length - not_accepted.length, not_accepted }
  if (not_accepted.length === 0) return { answer }
  const problem = `${not_accepted.length} of ${events.length} events were not accepted.`
  return { answer, problem: new Fault('unprocessable', problem) }
}
