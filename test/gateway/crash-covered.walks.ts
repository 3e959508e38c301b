/** A commit that puts an approved version of a contract in force, killed at every point of it. */

import { setDefaultTimeout, test } from 'bun:test'
import type { CrashPoint } from '../../src/gateway/base/crash-points.ts'
import { someInShortForm } from '../support/long-form.ts'
import { killCoveredAt } from './kills.ts'

setDefaultTimeout(300_000)

/** Each with what the catalog does to its answer, and whether the commit was made. */
const kills: readonly (readonly [CrashPoint, 'drop-after' | 'drop-before' | 'answered', boolean])[] = [
  ['intent-not-opened', 'answered', false],
  ['intent-opened', 'answered', false],
  ['commit-not-forwarded', 'answered', false],
  ['answer-lost', 'drop-before', false],
  ['answer-lost', 'drop-after', true],
  ['commit-forwarded', 'answered', true],
  ['commit-journaled', 'answered', true],
  ['approval-recorded', 'answered', true],
]

test.each(someInShortForm(kills, 2))(
  'one version is in force, by one audited commit if the upstream accepted it, when the process is killed at %s, %s',
  (crashAt, effect, isAccepted) => killCoveredAt(crashAt, isAccepted, effect),
)
