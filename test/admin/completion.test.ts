/** `covenant completion`: what a shell is offered after which words, and a real bash, zsh and fish that ask for it. */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commands } from '../../src/admin/commands.ts'
import { runCovenant } from '../../src/admin/verbs.ts'

setDefaultTimeout(60_000)

const folder = mkdtempSync(join(tmpdir(), 'covenant-completion-'))
symlinkSync(join(import.meta.dir, '../../bin/covenant'), join(folder, 'covenant'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(...words: string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await runCovenant(words, {
    ...{ env: {}, stdin: async () => '' },
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
  })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

/** What may stand in the place of the last word. */
const offered = async (...words: string[]) =>
  (await run('completion', 'words', '--', ...words)).out.split('\n').filter((word) => word !== '')

describe('words that are offered', () => {
  test.each<[string[], string[]]>([
    [['exp'], ['explain', 'export']],
    [['help', 'val'], ['validate']],
    [
      ['completion', ''],
      ['--help', 'bash', 'fish', 'zsh'],
    ],
    [
      ['validate', '--'],
      ['--fail-on', '--help', '--json'],
    ],
    [['validate', '--json', '--j'], []],
    [
      ['validate', '--fail-on', ''],
      ['error', 'warning'],
    ],
    [['plan', '--out', ''], []],
    [['admin', 'tenant', 'cr'], ['create']],
    [['admin', 'nonsense', ''], ['--help']],
    [
      ['contract', 'mask', 's'],
      ['set', 'set-tag'],
    ],
    [['findings', '--status', 're'], ['rejected']],
    [['transform', 'pre'], []],
    [['transform', 'sta'], ['status']],
    [['nonsense', ''], []],
  ])('after %j are %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected)
  })

  test('are all verbs where none is written', async () => {
    const { out } = await run('--help')
    const verbs = [...out.matchAll(/^ {2}([a-z][a-z-]+) /gm)].map(([, name]) => name)
    expect(await offered('')).toEqual([...verbs, 'help', '--help', '--version'].sort() as string[])
  })

  test('lead to every command of admin, and there to each of its flags', async () => {
    for (const { words, usage, fields = [] } of commands) {
      const each = ['admin', ...words.split(' ')]
      for (let count = 1; count < each.length; count++)
        expect(await offered(...each.slice(0, count), '')).toContain(each[count] ?? '')
      const flags = await offered(...each, '--')
      for (const [flag] of usage.matchAll(/--[a-z][a-z0-9-]*/g)) expect(flags).toContain(flag)
      if (fields.length > 0) expect(await offered(...each, '--field', '')).toEqual([...fields].sort())
    }
  })
})

test.each([
  ['another shell', ['completion', 'tcsh']],
  ['no shell', ['completion']],
])('%s is wrong usage', async (_, words) => {
  expect(await run(...words)).toEqual({
    ...{ status: 64, out: '' },
    err: 'Name the shell: bash, zsh or fish\nSee: covenant completion --help',
  })
})

const inShell = (shell: readonly string[], script: string) =>
  Bun.spawnSync([...shell, script], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder, TERM: 'dumb' },
  })

test('bash completes a verb, a command, a flag and its values', () => {
  const ask = (line: string, ...words: string[]) =>
    `COMP_WORDS=(covenant ${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length}; _covenant; echo "${line}: \${COMPREPLY[*]}"`
  const { stdout, stderr } = inShell(
    ['bash', '-c'],
    [
      'source <(covenant completion bash)',
      ask('verb', 'val'),
      ask('command', 'admin', 'tenant', 'cre'),
      ask('flag', 'validate', '--fail'),
      ask('value', 'validate', '--fail-on', ''),
    ].join('\n'),
  )
  expect({ out: stdout.toString(), err: stderr.toString() }).toEqual({
    out: 'verb: validate\ncommand: create\nflag: --fail-on\nvalue: error warning\n',
    err: '',
  })
})

// Skipped where the shell is not installed; bash above always is.
test.skipIf(Bun.which('fish') === null)('fish completes a verb and a flag', () => {
  const { stdout } = inShell(
    ['fish', '-c'],
    'covenant completion fish | source; complete -C "covenant valid"; complete -C "covenant validate --fail"',
  )
  expect(stdout.toString()).toMatch(/^validate\b.*\n--fail-on\b/)
})

// Skipped where the shell is not installed; bash above always is.
test.skipIf(Bun.which('zsh') === null)('zsh reads the script', () => {
  const { exitCode, stderr } = inShell(
    ['zsh', '-f', '-c'],
    'source <(covenant completion zsh); whence -w _covenant',
  )
  expect({ exitCode, err: stderr.toString() }).toEqual({ exitCode: 0, err: '' })
})
