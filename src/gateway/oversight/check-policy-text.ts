/** Checks the text of a policy for its author, without saving it. */

import { described, flag, maybe, text } from '../../http/schemas.ts'
import type { PolicyReads } from '../../policy/reads.ts'

export const problemKinds = ['error', 'hint'] as const

/** The problems of a text, each with its place; none where a put would take it. */
export async function checkPolicyText(definitionCel: string) {
  // Loaded here, because the command line declares this operation and does not wait for the parser of policies.
  const { checkPolicy, checkPolicyToSave, readsOfText } = await import('../../policy/check.ts')
  const errors = new Set(checkPolicy(definitionCel).map(({ offset }) => offset))
  const problems = checkPolicyToSave(definitionCel).map(({ message, offset }) => ({
    kind: errors.has(offset) ? ('error' as const) : ('hint' as const),
    message,
    offset,
    ...placeOf(definitionCel, offset),
  }))
  return { saveable: problems.length === 0, problems, ...pinningView(readsOfText(definitionCel)) }
}

/** Whether what a policy reads of a table can be pinned, and what keeps it from that; nothing of one that does not compile. */
export function pinningView(reads: PolicyReads | undefined) {
  return {
    ...(reads !== undefined && { pinnable: reads.unpinnable === undefined }),
    ...(reads?.unpinnable !== undefined && { unpinnable: reads.unpinnable }),
  }
}

/** The schema of {@link pinningView}. */
export const pinningMembers = {
  pinnable: maybe(
    described(
      flag,
      'whether requirements can pin all that it reads of the table, so that a commit of an engine need not load it',
    ),
  ),
  unpinnable: maybe(described(text, 'what it reads that no requirement pins')),
}

function placeOf(text: string, offset: number) {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}
