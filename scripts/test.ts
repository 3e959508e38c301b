/**
 * The command `npm test`: the files `test/**\/*.test.ts`. Arguments go to `bun test`; `--update-timings` writes how
 * long each file took into test/timings.json, by which the slowest are begun first; continuous integration always does.
 * `--changed` runs what a change reaches.
 */

import { fileURLToPath } from 'node:url'
import { readProject } from '../test/tidy/source-files.ts'
import { changedFiles } from './reach/changed-files.ts'
import { changedTests } from './reach/changed-tests.ts'
import { runTests } from './run-tests.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = `Usage: npm test -- [file …] [--changed] [--update-timings] [flags of bun test]

Runs test/**/*.test.ts, or only the files whose paths hold a given word.

  --changed          only the files that the difference from the main branch reaches, by imports and by name
  --update-timings   writes how long each file took into test/timings.json, as a whole run with CI=true does
  --help             this text`

/** @returns words for `bun test`; undefined where no test is reached */
function reachedTests(): readonly string[] | undefined {
  const changed = changedFiles(root)
  if (changed === undefined) {
    console.log('There is no branch main to compare with: every test runs.')
    return []
  }
  const tests = changedTests(readProject(root), changed)
  const reached = tests === 'all' ? 'every test' : `${tests.length} test files`
  console.log(`${changed.length} files differ from the main branch and reach ${reached}.`)
  if (tests === 'all') return []
  return tests.length === 0 ? undefined : tests.map((path) => `./${path}`)
}

async function main(words: readonly string[]): Promise<void> {
  if (words.includes('--help')) {
    console.log(usage)
    return
  }
  const isOfChange = words.includes('--changed')
  const reached = isOfChange ? reachedTests() : []
  if (reached === undefined) return
  const others = words.filter((word) => word !== '--changed')
  // Continuous integration runs every file on a quiet machine, so its times are the ones to keep.
  const written = process.env.CI === 'true' && others.length === 0 && !isOfChange ? ['--update-timings'] : []
  await runTests(['--timings=test/timings.json', ...written, ...others, ...reached])
}

await main(process.argv.slice(2))
