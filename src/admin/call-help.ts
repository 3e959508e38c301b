/** Writes the operations of a service, and the members of one, as help for `covenant call`. */

import { UsageError } from './exit-status.ts'
import { membersOf, type ServedMember, type ServedOperation } from './served-operations.ts'

/**
 * All operations by tag, or those that have a word in their name, tag or summary.
 * @throws UsageError where none has it
 */
export function listText(operations: readonly ServedOperation[], word: string | undefined): string {
  const wanted = word?.toLowerCase().replaceAll('-', '_')
  const shown = operations.filter(
    ({ name, tag, summary }) =>
      wanted === undefined || [name, tag, summary.toLowerCase()].some((text) => text.includes(wanted)),
  )
  if (shown.length === 0)
    throw new UsageError(
      'No operation has that name, and none has that word in it; covenant call lists them all',
    )
  const tags = [...new Set(shown.map(({ tag }) => tag))].toSorted()
  const width = Math.max(...shown.map(({ name }) => name.length))
  return tags
    .map((tag) => {
      const lines = shown
        .filter((one) => one.tag === tag)
        .map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
      return `${tag === '' ? 'other' : tag}\n${lines.join('\n')}`
    })
    .join('\n\n')
}

/** What an operation is for, and what it takes. */
export function operationText(operation: ServedOperation): string {
  const { name, method, path, summary, description, media } = operation
  const members = membersOf(operation)
  const usage = members.map((one) => (one.required ? `--${one.name} VALUE` : `[--${one.name} VALUE]`))
  const document = media.length > 0 && operation.members.length === 0
  const width = Math.max(0, ...members.map((one) => one.name.length)) + 2
  return [
    `Usage: covenant call ${[name, ...usage, ...(document ? ['--file FILE'] : [])].join(' ')}`,
    '',
    `${summary}.`,
    ...(description === undefined ? [] : [description]),
    `${method} ${path}`,
    ...(media.length === 0 ? [] : [`The body is ${media.join(' or ')}.`]),
    ...(members.length === 0
      ? []
      : ['', ...members.map((one) => `  --${one.name.padEnd(width)}${about(one)}`)]),
  ].join('\n')
}

function about({ type, choices, description, required }: ServedMember): string {
  const kind = choices.length > 0 ? choices.join(' | ') : (type ?? 'JSON')
  return [`${kind}${required ? ', required' : ''}`, ...(description === undefined ? [] : [description])].join(
    ': ',
  )
}
