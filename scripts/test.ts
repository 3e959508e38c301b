/**
 * The command `npm test`: the files `test/**\/*.test.ts`. Arguments go to `bun test`; `--update-timings` writes how
 * long each file took into test/timings.json, by which the slowest are begun first.
 */

import { runTests } from './run-tests.ts'

const usage = `Usage: npm test -- [file …] [--update-timings] [flags of bun test]

Runs test/**/*.test.ts, or only the files whose paths hold a given word.

  --update-timings   writes how long each file took into test/timings.json
  --help             this text`

const words = process.argv.slice(2)
if (words.includes('--help')) console.log(usage)
else await runTests(['--timings=test/timings.json', ...words])
