/** Writes the help of the verbs by name: of one, or of those that begin with the same words. */

import { exitStatusHelp } from '../exit-status.ts'
import type { NamedVerb } from './named-verb.ts'
import { commonUsage, pageUsage } from './read-words.ts'

const common = `  --json       the result as the service answers it, instead of text for people

The service is that of --url or COVENANT_URL. The session is the secret in COVENANT_SESSION, or in the file that
--session-file or COVENANT_SESSION_FILE names. Without them, both are those of a profile: --profile NAME,
COVENANT_PROFILE, or the one that covenant login put in use.
${exitStatusHelp}`

const pages = `  --limit N    how many items; page after page is asked for. Left out: one page, as long as the service makes it
  --all        all items
  --page-token the next page, after the token that the last one ended with`

/** Its words and flags on one line. */
export function usageOf({ words, usage, lists }: NamedVerb): string {
  return [words, usage, lists === 'pages' ? pageUsage : '', commonUsage]
    .filter((part) => part !== '')
    .join(' ')
}

/** The help of one verb. */
export function verbHelp(verb: NamedVerb): string {
  const { usage, summary, details, examples = [], lists } = verb
  const about = [
    ...(/(?:^|[ .[])TABLE\b/.test(usage) && !usage.includes('CATALOG.')
      ? ['TABLE is namespace.table; levels of a namespace are joined by dots.']
      : []),
    ...(usage.includes('CATALOG.TABLE') ? ['CATALOG.TABLE is catalog.namespace.table.'] : []),
    ...(/\bFILE\b/.test(usage) ? ['FILE is a file, or - for standard input.'] : []),
  ]
  return [
    `Usage: covenant ${usageOf(verb)}`,
    [`${summary}.`, ...(details === undefined ? [] : [details]), ...about].join('\n'),
    ...(examples.length === 0
      ? []
      : [`Examples:\n${examples.map((words) => `  covenant ${words}`).join('\n')}`]),
    [...(lists === 'pages' ? [pages] : []), common].join('\n'),
  ].join('\n\n')
}

/** The help of a group: each verb with what it does. */
export function groupHelp(group: string, verbs: readonly NamedVerb[]): string {
  const lines = verbs.map(
    ({ words, usage, summary }) => `  ${`${words} ${usage}`.trimEnd()}\n      ${summary}.`,
  )
  return [`Usage: covenant ${group} …`, lines.join('\n'), `--help after a verb says more.\n\n${common}`].join(
    '\n\n',
  )
}
