/** `covenant validate`: what is wrong with a folder of contracts, by file, line and column, without a service. */

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runContractVerb } from '../../../src/admin/contracts/contract-verbs.ts'
import { limits } from '../../../src/limits.ts'
import { contractText } from './world.ts'

const root = mkdtempSync(join(tmpdir(), 'covenant-validate-'))
afterAll(() => rmSync(root, { recursive: true }))

let count = 0
const validate = (files: Files, ...flags: string[]) => run('validate', files, flags)

type Files = Readonly<Record<string, string | Uint8Array>>

async function run(verb: 'validate' | 'test', files: Files, flags: readonly string[] = []) {
  const folder = join(root, String(++count))
  mkdirSync(join(folder, 'a/b'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = {
    ...{ env: {}, stdin: async () => '' },
    print: (text: string) => void out.push(text),
    complain: (text: string) => void err.push(text),
  }
  const status = await runContractVerb(verb, [folder, ...flags], terminal)
  return { status, err, out: out.join('\n').replaceAll(`${folder}/`, '') }
}

const sound = contractText('orders', '1.0.0', { mode: 'enforce' })

test('sound documents, YAML and JSON, at any depth, end with 0', async () => {
  const json = JSON.stringify({ apiVersion: 'v3.2.0', kind: 'DataContract', id: 'paper', version: '1.0.0' })
  const { status, out } = await validate({
    'orders.odcs.yaml': sound,
    'a/b/people.odcs.yml': contractText('people', '1.0.0', { mode: 'shadow' }),
    'a/paper.odcs.json': json,
    'a/readme.yaml': 'no contract: at all',
  })
  expect({ status, out }).toEqual({ status: 0, out: '3 contract(s), 0 error(s), 0 warning(s).' })
})

describe('an error is told with its place and ends with 1', () => {
  const bomb = `${sound}tags: [&a [x, x], ${Array.from({ length: 101 }, () => '*a').join(', ')}]\n`
  test.each<[string, string | Uint8Array, RegExp]>([
    ['a duplicate key', `${sound}id: again\n`, /^x\.odcs\.yaml:17:1: error: The key id is there twice\.$/m],
    [
      'a field that the standard has not',
      `${sound}owner: me\n`,
      /error: The standard has no field owner here/,
    ],
    [
      'a version without quotes',
      sound.replace('1.0.0', '1.0'),
      /^x\.odcs\.yaml:5:10: error: The value must be string\.$/m,
    ],
    [
      'a version that is no number',
      sound.replace('1.0.0', 'latest'),
      /^x\.odcs\.yaml:5:10: error: The version latest is no version number/m,
    ],
    [
      'an id that cannot be a path',
      sound.replace('id: orders', 'id: a/b'),
      /^x\.odcs\.yaml:4:5: error: The id must have/m,
    ],
    ['aliases without end', bomb, /:17:\d+: error: Aliases are expanded more than 100 times\.$/m],
    [
      'a great depth',
      `${sound}tags: ${'['.repeat(5000)}\n`,
      /error: The document is deeper than 64 levels\.$/m,
    ],
    ['a tag', `${sound}name: !!binary aGk=\n`, /:17:7: error: Tags are not supported\.$/m],
    [
      'bytes that are no text',
      new Uint8Array([0x61, 0xff]),
      /^x\.odcs\.yaml: error: The document must be UTF-8\.$/m,
    ],
    [
      'more than 1 MiB',
      `# ${'x'.repeat(limits.contractDocumentBytesMax)}`,
      /error: The document is larger than 1048576 bytes\.$/m,
    ],
  ])('%s', async (_, text, expected) => {
    const { status, out } = await validate({ 'x.odcs.yaml': text })
    expect(status).toBe(1)
    expect(out).toMatch(expected)
  })
})

test('one contract in two files is an error of the second', async () => {
  const { status, out } = await validate({ 'a.odcs.yaml': sound, 'a/b/b.odcs.yaml': sound })
  expect(status).toBe(1)
  expect(out).toMatch(
    /^a\.odcs\.yaml: error: The contract orders is also in .*a\/b\/b\.odcs\.yaml\.$|^a\/b\/b\.odcs\.yaml: error: The contract orders is also in .*a\.odcs\.yaml\.$/m,
  )
})

test('what would not be enforced is a warning, which fails only on request', async () => {
  const text = contractText('orders', '1.0.0', { consumers: false }).replace(
    /\n {2}customProperties:\n.*table: .*\n/,
    '\n',
  )
  const plain = text.replaceAll(/\n {4}customProperties:\n.*masks.*\n/g, '\n')
  const { status, out } = await validate({ 'x.odcs.yaml': plain })
  expect({ status, out }).toEqual({
    status: 0,
    out: 'x.odcs.yaml:7:3: warning: The object orders names no table, so it governs nothing.\n1 contract(s), 0 error(s), 1 warning(s).',
  })
  expect((await validate({ 'x.odcs.yaml': plain }, '--fail-on', 'warning')).status).toBe(1)
  const nameless = await validate({ 'x.odcs.yaml': contractText('orders', '1.0.0', { consumers: false }) })
  expect(nameless.out).toContain('warning: The document names no consumers')
})

test('a document without a mode is warned of the day from which it is enforced', async () => {
  const { status, out } = await validate({ 'x.odcs.yaml': contractText('orders') })
  expect({ status, out }).toEqual({
    status: 0,
    out: 'x.odcs.yaml:2:1: warning: Commits that break the document are recorded for 7 days after it begins to govern a table, and refused from then on. Its custom property covenant.mode says otherwise.\n1 contract(s), 0 error(s), 1 warning(s).',
  })
})

test('the answer can be had as JSON', async () => {
  const { status, out } = await validate({ 'x.odcs.yaml': `${sound}id: again\n` }, '--json')
  expect(status).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    contracts: [],
    problems: [
      { file: 'x.odcs.yaml', line: 17, column: 1, severity: 'error', message: 'The key id is there twice' },
    ],
  })
})

test('policy tests are run without a service, one line each; a failed one ends with 1', async () => {
  const tests = (...of: string[]) =>
    contractText('orders').replace('name: orders}}}', `name: orders}, tests: [${of.join(', ')}]}}`)
  const kept =
    '{name: the id is kept, given: {commit: [{dropColumn: id}]}, expect: {decision: deny, policy: columns}}'
  const free =
    '{name: nothing is asked of writers, given: {commit: [{dropColumn: id}]}, expect: {decision: allow}}'
  expect(await run('test', { 'x.odcs.yaml': tests(kept) })).toMatchObject({
    status: 0,
    out: 'pass x.odcs.yaml: orders, the id is kept\n1 passed, 0 failed.',
  })
  const failed = await run('test', { 'x.odcs.yaml': tests(kept, free) })
  expect(failed.status).toBe(1)
  expect(failed.out).toContain(
    'FAIL x.odcs.yaml: orders, nothing is asked of writers: it must be allowed, and columns denied it: a column',
  )
  expect(failed.out).toEndWith('1 passed, 1 failed.')
  const validated = await validate({ 'x.odcs.yaml': tests(free) })
  expect(validated.status).toBe(1)
  expect(validated.out).toContain(
    'error: The policy test fails: orders, nothing is asked of writers: it must be allowed',
  )
  const broken = await run('test', { 'x.odcs.yaml': `${tests(kept)}id: y\n` })
  expect(broken).toMatchObject({ status: 1, out: '0 passed, 0 failed.' })
  expect(broken.err[0]).toMatch(/x\.odcs\.yaml:17:1: error: The key id is there twice\.$/)
})

test('links are not followed out of the folder', async () => {
  writeFileSync(join(root, 'outside.odcs.yaml'), 'secret: [')
  const folder = join(root, 'linked')
  mkdirSync(folder)
  symlinkSync(root, join(folder, 'up'))
  const out: string[] = []
  const terminal = {
    env: {},
    stdin: async () => '',
    print: (text: string) => void out.push(text),
    complain: () => {},
  }
  expect(await runContractVerb('validate', [folder], terminal)).toBe(1)
  expect(out).toEqual([])
})

test('a folder without a document ends with 1 and says which names are looked for', async () => {
  const { status, err } = await validate({ 'orders.yaml': sound })
  expect(status).toBe(1)
  expect(err.join()).toContain('their files are named *.odcs.yaml, .yml or .json')
})
