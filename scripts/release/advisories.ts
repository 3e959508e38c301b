/**
 * What published advisories say about the packages of production, and which of them somebody has accepted, for how
 * long. It asks nobody: scripts/audit.ts does.
 */

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

export interface Advisory {
  readonly package: string
  /** Such as `GHSA-….`; the registry's number where it names no such id. */
  readonly id: string
  readonly severity: string
  readonly title: string
  readonly url: string
}

/** An advisory that does not fail the check, up to and including the day `until`. */
export interface Accepted {
  readonly id: string
  readonly package: string
  readonly reason: string
  readonly until: string
}

/** Severities that do not fail the check. One that is not known does. */
const minor: ReadonlySet<string> = new Set(['info', 'low', 'moderate'])

const answerShape = Type.Record(
  Type.String(),
  Type.Array(
    Type.Object({
      id: Type.Union([Type.Number(), Type.String()]),
      url: Type.String(),
      title: Type.String(),
      severity: Type.String(),
    }),
  ),
)

const acceptedShape = Type.Array(
  Type.Object(
    {
      id: Type.String({ minLength: 1 }),
      package: Type.String({ minLength: 1 }),
      reason: Type.String({ minLength: 10 }),
      until: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    },
    { additionalProperties: false },
  ),
)

/** The registry's answer, by packages. @throws Error where it is of another form */
export function advisoriesIn(answer: unknown): readonly Advisory[] {
  if (!Value.Check(answerShape, answer)) throw new Error('The answer about advisories is not of their form.')
  return Object.entries(answer).flatMap(([name, list]) =>
    list.map(({ id, severity, title, url }) => ({
      package: name,
      id: /GHSA(-\w{4}){3}/.exec(url)?.[0] ?? String(id),
      ...{ severity, title, url },
    })),
  )
}

/** @throws Error where an entry lacks a member, has one too many, or names no day */
export function acceptedIn(list: unknown): readonly Accepted[] {
  const [wrong] = Value.Errors(acceptedShape, list)
  if (wrong !== undefined) throw new Error(`Accepted advisories: ${wrong.path || 'all'}: ${wrong.message}.`)
  const accepted = list as readonly Accepted[]
  for (const { id, until } of accepted)
    if (Number.isNaN(Date.parse(until))) throw new Error(`Accepted advisories: ${id}: ${until} is no day.`)
  return accepted
}

/** Entries whose day is over: each fails the check, whether its advisory is still there or not. */
export const expired = (accepted: readonly Accepted[], today: string): readonly Accepted[] =>
  accepted.filter(({ until }) => until < today)

export interface Verdict {
  /** Neither minor nor accepted. */
  readonly failing: readonly Advisory[]
  readonly accepted: readonly Advisory[]
  readonly minor: readonly Advisory[]
  /** What somebody accepted and nobody reports. */
  readonly unused: readonly Accepted[]
}

export function judge(advisories: readonly Advisory[], entries: readonly Accepted[], today: string): Verdict {
  const valid = entries.filter(({ until }) => until >= today)
  const speaksOf = (entry: Accepted, advisory: Advisory) =>
    entry.id === advisory.id && entry.package === advisory.package
  const major = advisories.filter(({ severity }) => !minor.has(severity))
  const isAccepted = (advisory: Advisory) => valid.some((entry) => speaksOf(entry, advisory))
  return {
    failing: major.filter((advisory) => !isAccepted(advisory)),
    accepted: major.filter(isAccepted),
    minor: advisories.filter(({ severity }) => minor.has(severity)),
    unused: valid.filter((entry) => !advisories.some((advisory) => speaksOf(entry, advisory))),
  }
}
