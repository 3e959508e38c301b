/** The nouns of keys: which there are, what becomes of one, and what may be shown of it (docs/operations.md). */

import { about, choice, maybe, type Static, text, time, whole } from './record.ts'

/**
 * Keys that no tenant owns. `sessions`: the root from which session secrets and the salts of SQL passwords are derived;
 * `plan-signing`: that of the transform's plans.
 */
export const installationKeyKinds = ['secrets', 'token-signing', 'plan-signing', 'sessions'] as const

/**
 * A tenant's own. `transform`: the key below which those of scopes and subjects are; `session`: the secrets of service
 * sessions, with what SQL passwords are checked by.
 */
const tenantKeyKinds = ['webhook', 'transform', 'transform-scope', 'transform-subjects', 'session'] as const

/** What becomes of a key. */
export const keyChanges = ['announced', 'withdrawn', 'begun', 'turned', 'lost'] as const

const keyStates = ['current', 'former', 'announced', 'unreadable'] as const

/** A key as it is listed, or several of one kind. Never the key itself. */
export const listedKey = {
  kind: choice([...installationKeyKinds, ...tenantKeyKinds]),
  id: maybe(text),
  name: maybe(text),
  state: about(
    choice(keyStates),
    '`former`: it only opens or verifies; `announced`: it seals once the next step begins; `unreadable`: no secrets key of this process opens it',
  ),
  createdAt: about(time, 'of several, when the oldest was made'),
  turnedAt: maybe(about(time, 'since when the present one is used; absent where it never turned')),
  ageSeconds: about(whole, 'since it turned, or was made'),
  until: maybe(about(time, 'until when a former one is used')),
  version: maybe(whole),
  count: maybe(about(whole, 'how many there are, where they are listed together')),
}
export type ListedKey = Static<typeof listedKey>
