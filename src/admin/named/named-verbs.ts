/** Lists the verbs by name in the order of the help, and what the groups are for. */

import { auditorNamed } from './auditor-named.ts'
import { contractNamed } from './contract-named.ts'
import type { NamedVerb } from './named-verb.ts'
import { operatorNamed } from './operator-named.ts'
import { stewardNamed } from './steward-named.ts'

export const namedVerbs: readonly NamedVerb[] = [
  ...contractNamed,
  ...stewardNamed,
  ...auditorNamed,
  ...operatorNamed,
]

/** The verb that these words begin with; the one with the most words. */
export function findNamed(words: readonly string[]): NamedVerb | undefined {
  const given = `${words.join(' ')} `
  return namedVerbs
    .filter((verb) => given.startsWith(`${verb.words} `))
    .toSorted((a, b) => b.words.length - a.words.length)[0]
}
