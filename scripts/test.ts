/**
 * The command `npm test`: the files `test/**\/*.test.ts`. Arguments go to `bun test`; `--update-timings` writes how
 * long each file took into test/timings.json, by which the slowest are begun first.
 */

import { runTests } from './run-tests.ts'

await runTests(['--timings=test/timings.json', ...process.argv.slice(2)])
