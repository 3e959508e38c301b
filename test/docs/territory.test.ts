/** The commands of docs/territory.md are commands of the program, with flags that it takes. */

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { prepareCall } from '../../src/admin/command.ts'
import { commands } from '../../src/admin/commands.ts'

const text = readFileSync(new URL('../../docs/territory.md', import.meta.url), 'utf8')
const shown = [...text.matchAll(/covenant admin (territory [^`\n]+)/g)].map(([, words = '']) => words)

test('it shows a command for each thing that administration does', () => {
  const words = commands.map((command) => command.words).filter((name) => name.startsWith('territory '))
  const unseen = words.filter((name) => !shown.some((line) => line.startsWith(name)))
  expect(unseen).toEqual([])
})

test.each(shown)('%s', async (line) => {
  const filled = line
    .replace('--tenant ID', `--tenant ${crypto.randomUUID()}`)
    .replace(/UUID$/, crypto.randomUUID())
  const call = await prepareCall(filled.split(' '), commands, async () => '')
  expect(call.operation).toContain('territory')
})
