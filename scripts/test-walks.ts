/**
 * The command `npm run test:walks [file …]`: what takes minutes and needs nothing but this repository. These are the
 * files `test/**\/*.walks.ts`, and in their long form the tests of which `npm test` runs a short one, which
 * `--without-long-forms` leaves out, as it does the long forms of walks. Other arguments are parts of paths.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Glob } from 'bun'
import { runTests } from './run-tests.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const withoutLongForms = '--without-long-forms'
const usage = `Usage: npm run test:walks -- [${withoutLongForms}] [part of a path …]`

/** Tests with two forms import what tells them apart. */
function hasLongForm(file: string): boolean {
  return /^import .* from '.*\/support\/long-form\.ts'$/m.test(readFileSync(join(root, file), 'utf8'))
}

async function main(words: readonly string[]): Promise<void> {
  if (words.includes('--help')) {
    console.log(usage)
    return
  }
  const parts = words.filter((word) => word !== withoutLongForms)
  const mistaken = parts.find((word) => word.startsWith('-'))
  const walks = [...new Glob('test/**/*.walks.ts').scanSync(root)]
  const twofold = words.includes(withoutLongForms)
    ? []
    : [...new Glob('test/**/*.test.ts').scanSync(root)].filter(hasLongForm)
  const files = [...walks.sort(), ...twofold.sort()].filter(
    (file) => parts.length === 0 || parts.some((word) => file.includes(word)),
  )
  if (mistaken !== undefined || files.length === 0) {
    const why =
      mistaken === undefined ? `No walk has ${parts.join(' or ')} in its path.` : `Unknown: ${mistaken}.`
    console.error(`${why}\n${usage}`)
    process.exitCode = 64
    return
  }
  await runTests(
    files.map((file) => `./${file}`),
    words.includes(withoutLongForms) ? {} : { SVC_TEST_WALKS: '1' },
  )
}

await main(process.argv.slice(2))
