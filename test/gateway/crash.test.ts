/** One kill of each kind of commit. The files `*crash.walks.ts` kill at every point, crash.soak.test.ts at random. */

import { setDefaultTimeout, test } from 'bun:test'
import { bodies, killCommitAt, killCreationAt, killTransactionAt } from './kills.ts'

setDefaultTimeout(300_000)

test('a commit that adds a snapshot is audited once when the process is killed before its audit', () =>
  killCommitAt('commit-forwarded', bodies['a commit that adds a snapshot']))

test('a transaction killed before its second audit is audited for both tables, each once', () =>
  killTransactionAt('commit-forwarded', 1))

test('a creation killed before its audit is audited once', () =>
  killCreationAt('commit-forwarded', ['create-table']))
