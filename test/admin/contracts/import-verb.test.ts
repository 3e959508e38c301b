/** `covenant import dcs`: files of the Data Contract Specification become files of the standard; a second run changes nothing. */

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readContractFolder } from '../../../src/admin/contracts/contract-files.ts'
import { importContracts } from '../../../src/admin/contracts/import-verb.ts'

const root = mkdtempSync(join(tmpdir(), 'covenant-import-'))
afterAll(() => rmSync(root, { recursive: true }))

let count = 0
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = join(root, String(++count))
  mkdirSync(join(folder, 'deep'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

async function run(...words: string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await importContracts(words, {
    ...{ env: {}, stdin: async () => '' },
    print: (text: string) => void out.push(text),
    complain: (text: string) => void err.push(text),
  })
  const plain = (lines: readonly string[]) => lines.join('\n').replaceAll(`${root}/`, '')
  return { status, out: plain(out), err: plain(err) }
}

const document = (id: string, more = '') =>
  `dataContractSpecification: 1.1.0\nid: ${id}\ninfo: { title: A, version: 1.0.0 }\nmodels: { orders: { fields: { id: { type: int } } } }\n${more}`

test('each document of a folder is a file of the standard, and others are left', async () => {
  const from = folderOf({
    'datacontract.yaml': document('orders'),
    'deep/people.yml': document('urn:people'),
    'deep/paper.json': JSON.stringify({
      dataContractSpecification: '0.9.3',
      id: 'a b',
      info: { version: '1' },
    }),
    'compose.yaml': 'services: {}\n',
    'broken.yaml': 'a: [\n',
  })
  const to = join(root, 'written')
  const first = await run('dcs', from, '--to', to)
  expect({ status: first.status, err: first.err }).toEqual({ status: 0, err: '' })
  expect(readdirSync(to).sort()).toEqual(['orders.odcs.yaml', 'paper.odcs.yaml', 'urn:people.odcs.yaml'])
  expect((await readContractFolder(to)).files.map(({ id }) => id).sort()).toEqual([
    'a b',
    'orders',
    'urn:people',
  ])

  const again = await run('dcs', from, '--to', to)
  expect(again.status).toBe(0)
  expect(again.out.match(/^kept /gm)).toHaveLength(3)
})

test('a file that says something else is left, and written with --overwrite', async () => {
  const from = folderOf({ 'a.yaml': document('orders') })
  const to = folderOf({ 'orders.odcs.yaml': 'mine: true\n' })
  const left = await run('dcs', join(from, 'a.yaml'), '--to', to)
  expect(left).toMatchObject({ status: 1, err: expect.stringContaining('--overwrite writes them') })
  expect(readFileSync(join(to, 'orders.odcs.yaml'), 'utf8')).toBe('mine: true\n')
  expect((await run('dcs', join(from, 'a.yaml'), '--to', to, '--overwrite')).status).toBe(0)
  expect(readFileSync(join(to, 'orders.odcs.yaml'), 'utf8')).toStartWith('apiVersion: v3.2.0\n')
})

test('a document that cannot be converted is named with its line, and the others are written', async () => {
  const from = folderOf({ 'a.yaml': document('orders', 'servers: [ x ]\n'), 'b.yaml': document('people') })
  const to = join(root, 'some')
  const { status, err } = await run('dcs', from, '--to', to)
  expect({ status, files: readdirSync(to) }).toEqual({ status: 1, files: ['people.odcs.yaml'] })
  expect(err).toMatch(/\/a\.yaml:5:\d+: error: The value must be an object\.$/)
})

test('two documents of one id are one file and one refusal', async () => {
  const from = folderOf({ 'a.yaml': document('orders'), 'b.yaml': document('orders') })
  const { status, err } = await run('dcs', from, '--to', join(root, 'twice'), '--json')
  expect({ status, err }).toEqual({
    status: 1,
    err: expect.stringMatching(/Another document of this run is also named orders\.$/),
  })
})

test('a file of another kind is refused where it is named itself', async () => {
  const from = folderOf({ 'a.yaml': 'services: {}\n' })
  const { status, err } = await run('dcs', join(from, 'a.yaml'))
  expect(status).toBe(1)
  expect(err).toEndWith('a.yaml: error: It has no dataContractSpecification.')
})

test.each([
  ['no kind', [], 'Name what is imported: dcs'],
  ['another kind', ['odcs', 'x'], 'Name what is imported: dcs'],
  ['no file', ['dcs'], 'Name the files or folders to import'],
  ['a file that is not there', ['dcs', '/nowhere'], 'A file or folder that is named is not there'],
  ['a flag that is none', ['dcs', 'x', '--nonsense'], 'A flag is not one of --to, --overwrite and --json'],
  ['a folder without any', ['dcs', folderOf({})], 'No document of the Data Contract Specification is there'],
])('%s is wrong usage', async (_, words, message) => {
  const { status, err } = await run(...words)
  expect({ status, err }).toEqual({ status: 64, err: `${message}\nSee: covenant import --help` })
})
