/** One kill of each kind of commit. The walks `crash.walks.ts` kill at every point, crash.soak.test.ts at random. */

import { setDefaultTimeout, test } from 'bun:test'
import { bodies, killCommitAt, killCreationAt, killDenialAt, killTransactionAt } from './kills.ts'

setDefaultTimeout(300_000)

test('a commit that adds a snapshot is audited once when the process is killed before its audit', () =>
  killCommitAt('commit-forwarded', bodies['a commit that adds a snapshot']))

test('a commit is not audited when the process is killed before it is forwarded', () =>
  killCommitAt('commit-not-forwarded', bodies['a commit that only sets properties']))

test('a denied commit is audited once, and reaches no upstream, when the process is killed after its record', () =>
  killDenialAt('rejection-recorded'))

test('a transaction killed before its second audit is audited for both tables, each once', () =>
  killTransactionAt('commit-forwarded', 1))

test('a creation killed before its audit is audited once', () =>
  killCreationAt('commit-forwarded', ['create-table']))
