/**
 * A second opinion on contract documents: the examples of the standard's own package, `datacontract lint` on what is
 * exported, and `datacontract breaking` on pairs of contracts.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob, type Subprocess } from 'bun'
import fc from 'fast-check'
import { classify } from '../../src/contract/classify/classify.ts'
import { makeDocument } from '../../src/contract/document/make-document.ts'
import { performDocumentTask } from '../../src/wire/odcs/document-task.ts'
import { toYamlText } from '../../src/wire/odcs/edit-document.ts'
import type { ContractModel } from '../../src/wire/odcs/model.ts'
import { madeTables } from '../contract/document/made-tables.ts'
import { encode, orders } from '../wire/odcs/fixtures.ts'
import { kinds, pairs } from './odcs/pairs.ts'
import { packageFolder } from './packages.ts'

const standard = 'open-data-contract-standard==3.2.0'
let directory: string
let judge: Subprocess<'pipe', 'pipe', 'inherit'>
let answers: AsyncIterator<Uint8Array>
let examples: readonly string[]

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'covenant-odcs-'))
  const python = join(packageFolder('python:odcs'), 'bin/python')
  const options = ['--quiet', '--no-deps', '--no-binary', ':all:', '--dest', directory]
  const fetched = Bun.spawnSync([python, '-m', 'pip', 'download', ...options, standard])
  if (!fetched.success) throw new Error(String(fetched.stderr))
  const [archive = ''] = new Glob('*.tar.gz').scanSync(directory)
  mkdirSync(join(directory, 'standard'))
  Bun.spawnSync(['tar', 'xzf', archive, '-C', 'standard', '--strip-components=1'], { cwd: directory })
  examples = [...new Glob('standard/**/*.odcs.yaml').scanSync(directory)]
  judge = Bun.spawn([python, new URL('odcs/judge.py', import.meta.url).pathname], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  answers = judge.stdout.values()
}, 240_000)
afterAll(() => {
  judge.kill()
  rmSync(directory, { recursive: true })
})

let pending = ''
async function ask(command: object): Promise<Record<string, unknown>> {
  judge.stdin.write(`${JSON.stringify(command)}\n`)
  await judge.stdin.flush()
  while (!pending.includes('\n')) {
    const { done, value } = await answers.next()
    if (done) throw new Error('the judge ended')
    pending += new TextDecoder().decode(value)
  }
  const [line = '', ...rest] = pending.split('\n')
  pending = rest.join('\n')
  return JSON.parse(line)
}

function read(
  text: string | Uint8Array,
  format: 'yaml' | 'json',
): { bytes: Uint8Array; model: ContractModel } {
  const bytes = typeof text === 'string' ? encode(text) : text
  const outcome = performDocumentTask({ kind: 'read', bytes, format })
  if (outcome.kind !== 'read') throw new Error(JSON.stringify(outcome))
  return outcome.read
}

async function lint(name: string, bytes: Uint8Array): Promise<unknown> {
  const file = join(directory, name)
  await Bun.write(file, bytes)
  return await ask({ lint: file })
}

describe('the examples of the standard', () => {
  test('odcs: examples of the standard go in and come out byte for byte', () => {
    expect(examples.length).toBeGreaterThan(1)
    for (const example of examples) {
      const bytes = readFileSync(join(directory, example))
      expect([example, Buffer.from(read(bytes, 'yaml').bytes).equals(bytes)]).toEqual([example, true])
    }
  })

  test('odcs: documents are accepted by datacontract lint as they are exported, edited and as JSON', async () => {
    const texts = [...examples.map((example) => readFileSync(join(directory, example))), encode(orders)]
    for (const [index, bytes] of texts.entries()) {
      const edits = [{ op: 'replace', path: '/version', value: '9.0.0' }] as const
      const edited = performDocumentTask({ kind: 'edit', bytes, format: 'yaml', edits })
      const conversion = { format: 'json', status: 'active' } as const
      const converted = performDocumentTask({ kind: 'convert', bytes, format: 'yaml', conversion })
      if (edited.kind !== 'read' || converted.kind !== 'converted') throw new Error('not exported')
      const forms = [
        ['as-is.yaml', bytes],
        ['edited.yaml', edited.read.bytes],
        ['converted.json', converted.bytes],
      ] as const
      for (const [form, exported] of forms)
        expect([form, await lint(`${index}-${form}`, exported)]).toMatchObject([form, { result: 'passed' }])
    }
  })
})

test('odcs: documents that are made of contracts without one are accepted by datacontract lint', async () => {
  const seed = 20_261_123
  console.log(`seed ${seed}`)
  for (const [index, tables] of fc.sample(madeTables, { seed, numRuns: 25 }).entries()) {
    const bytes = encode(toYamlText(makeDocument('made', index + 1, tables)))
    read(bytes, 'yaml')
    expect(await lint(`made-${index}.yaml`, bytes)).toMatchObject({ result: 'passed' })
  }
})

describe('datacontract breaking', () => {
  test('odcs: datacontract breaking is asked about a hundred pairs', () => {
    expect(pairs.length).toBeGreaterThanOrEqual(100)
  })

  test.each(kinds.map((kind) => [kind.name, kind] as const))(
    'agrees, or differs as documented: %s',
    async (_, kind) => {
      const verdicts: boolean[] = []
      for (const [index, pair] of pairs.entries()) {
        if (pair.kind !== kind) continue
        const [before, after] = ['before', 'after'].map((side) => join(directory, `${index}-${side}.yaml`))
        await Promise.all([Bun.write(before ?? '', pair.before), Bun.write(after ?? '', pair.after)])
        const findings = classify(read(pair.before, 'json').model, read(pair.after, 'json').model)
        const ours = {
          consumer: findings.some(({ consumer }) => consumer === 'breaking'),
          producer: findings.some(({ producer }) => producer === 'breaking'),
        }
        verdicts.push(Bun.deepEquals(ours, await ask({ before, after })))
      }
      expect(verdicts.every(Boolean)).toBe(kind.differs !== true)
    },
  )
})
