/** Commands refuse arguments that they do not support, and print their help on request. */

import { expect, setDefaultTimeout, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import { someInShortForm } from '../support/long-form.ts'

setDefaultTimeout(300_000)

const root = fileURLToPath(new URL('../..', import.meta.url))
/** test:db and test hand their words to `bun test`, demo/query.ts takes psql's. */
const commands = [
  ['scripts/test-clients.ts'],
  ['scripts/test-soak.ts'],
  ['scripts/test-walks.ts'],
  ['scripts/check.ts'],
  ['scripts/sbom.ts'],
  ['scripts/raise-bases.ts'],
  ['scripts/audit.ts'],
  ['scripts/release.ts'],
  ['bench/main.ts'],
  ['demo/main.ts'],
  ['demo/catalog/main.ts'],
  ['demo/lake/main.ts'],
  ['src/main.ts'],
  ...['serve', 'check', 'migrate', 'admin', 'license', 'license inspect', 'license issue'].map((verb) => [
    'src/main.ts',
    ...verb.split(' '),
  ]),
  ['src/main.ts', 'admin', 'session', 'create'],
].map((words) => [words.join(' '), words] as const)
// Each starts two processes; the short form has every third.
const tried = someInShortForm(commands, 3)

async function run(words: readonly string[]) {
  const child = Bun.spawn([process.execPath, ...words], { cwd: root, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, out, err }
}

test.each(tried)(
  '%s ends a word that it does not know with a sentence, not with a trace',
  async (_, words) => {
    const { code, out, err } = await run([...words, '--bogus'])
    expect(code).toBe(64)
    expect(out).toBe('')
    expect(err).toMatch(/Usage:|--help/)
    expect(err).not.toMatch(/^ +at |\.ts:\d+|ERR_PARSE_ARGS/m)
  },
)

test.each(tried)('%s answers --help', async (_, words) => {
  const { code, out, err } = await run([...words, '--help'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('Usage:')
})

test('npm test answers --help, and does not run the tests', async () => {
  const { code, out, err } = await run(['scripts/test.ts', '--help'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain('Usage: npm test')
})
