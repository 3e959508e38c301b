/** One kill of a commit. The files `*crash.walks.ts` kill every kind at every point, crash.soak.test.ts at random. */

import { setDefaultTimeout, test } from 'bun:test'
import { bodies, killCommitAt } from './kills.ts'

setDefaultTimeout(300_000)

test('a commit that adds a snapshot is audited once when the process is killed before its audit', () =>
  killCommitAt('commit-forwarded', bodies['a commit that adds a snapshot']))
