/** The command `covenant` itself: its verbs, help, version and exit statuses. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../../package.json'
import { exitStatus, reportFailure, UsageError } from '../../src/admin/exit-status.ts'
import { Fault } from '../../src/base/fault.ts'
import { ConfigError } from '../../src/config.ts'
import { start } from '../support/start-program.ts'

setDefaultTimeout(60_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-verbs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = start(env, words)
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, err }
}

test('the executable runs from any folder, also by a link, and stays in the folder of its caller', async () => {
  const link = join(folder, 'covenant')
  symlinkSync(join(import.meta.dir, '../../bin/covenant'), link)
  const child = (words: readonly string[]) =>
    Bun.spawnSync([link, ...words], { cwd: folder, env: { PATH: process.env.PATH ?? '' } })
  expect(child(['--version']).stdout.toString()).toBe(`covenant ${version}\n`)
  await Bun.write(join(folder, 'license'), 'nonsense')
  const inspected = child(['license', 'inspect', 'license'])
  expect(inspected.stderr.toString()).toBe('The license was refused: it is not a signed license.\n')
})

test('without words, and with help, the verbs are listed', async () => {
  for (const words of [[], ['help'], ['--help']]) {
    const { code, out, err } = await run(words)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const verbs = [
      'serve',
      'check',
      'migrate',
      'admin',
      'validate',
      'test',
      'plan',
      'diff',
      'apply',
      'export',
      'adopt',
      'coverage',
      'evidence',
      'import',
      'completion',
      'replay',
      'license',
    ]
    for (const verb of verbs) expect(out).toContain(`  ${verb} `)
  }
})

test('help before a verb is the help of the verb', async () => {
  expect((await run(['help', 'admin', 'tenant'])).out).toBe((await run(['admin', 'tenant', '--help'])).out)
})

test.each(['validate', 'test', 'plan', 'diff', 'apply', 'export'])(
  'the help of %s says its flags and how it ends',
  async (verb) => {
    const { code, out, err } = await run([verb, '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toStartWith(`Usage: covenant ${verb} [FOLDER`)
    expect(out).toContain('Exit status: 0 no change or done, 1 error, 2 changes, 3 breaking changes')
  },
)

test('a verb that is not there ends with 64 and is not repeated', async () => {
  const { code, out, err } = await run(['svc_secret'])
  expect({ code, out }).toEqual({ code: 64, out: '' })
  expect(err).toContain('There is no such verb')
  expect(err).not.toContain('svc_secret')
})

test.each<[string, Error, number]>([
  ['wrong usage', new UsageError('x'), exitStatus.usage],
  ['a request that is malformed', new Fault('bad_request', 'x'), exitStatus.usage],
  ['a wrong setting', new ConfigError([]), exitStatus.config],
  ['a store that cannot be reached', new Fault('unavailable', 'x'), exitStatus.unavailable],
  ['a refusal', new Fault('forbidden', 'x'), exitStatus.failed],
  ['something that is not there', new Fault('not_found', 'x'), exitStatus.failed],
  ['a defect', new Error('x'), exitStatus.failed],
])('%s ends a verb with its status, and without a stack trace', (_, error, status) => {
  const told: string[] = []
  expect(reportFailure(error, 'covenant admin', { complain: (text) => told.push(text) })).toBe(status)
  expect(told.join('\n')).not.toMatch(/^ +at /m)
})
