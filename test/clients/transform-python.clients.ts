/**
 * The Python library of the writer-side transform: its own tests, the vector file among them, and PyIceberg through the
 * gateway, under a policy that demands the plan.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchCommand } from '../../bench/command.ts'
import { readAs } from '../support/lake.ts'
import { seed } from '../transform/random-inputs.ts'
import { randomVectors } from '../transform/random-vectors.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'
import { runSession, type Step } from './sessions.ts'
import { demand, pythonLibrary, startTransformLake, type TransformLake } from './transform-lake.ts'

setDefaultTimeout(300_000)

const python = join(packageFolder('python:transform'), 'bin/python3')
const canary = 'CANARY7c1d'

let lake: TransformLake
beforeAll(async () => {
  lake = await startTransformLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

async function session(...args: readonly string[]): Promise<readonly Step[]> {
  return await runSession({
    python,
    script: 'transform_session.py',
    log: 'transform-pyiceberg',
    args,
    env: { ...lake.env, CATALOG_URI: lake.catalogUri, CANARY: canary },
    seconds: 120,
  })
}

test('transform-python: gives what the vectors say, refuses what it must and tells no value', async () => {
  const { exitCode, output } = await runClient(
    'transform-python-tests',
    [python, ...['-B', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.']],
    { seconds: 120, cwd: pythonLibrary },
  )
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
  expect(output).toMatch(/Ran [1-9]\d+ tests/)
})

test(`transform-python: gives what the TypeScript library gives for random values (seed ${seed})`, async () => {
  const vectors = randomVectors(1_000) as { columns: { refused?: string }[] }
  expect(vectors.columns.length).toBeGreaterThan(70)
  expect(vectors.columns.filter(({ refused }) => refused !== undefined)).toEqual([])
  const folder = mkdtempSync(join(tmpdir(), 'covenant-vectors-'))
  try {
    const file = join(folder, 'vectors.json')
    writeFileSync(file, JSON.stringify(vectors))
    const { exitCode, output } = await runClient(
      'transform-python-random',
      [python, '-B', '-m', 'unittest', 'tests.test_vectors.Vectors'],
      { seconds: 120, cwd: pythonLibrary, env: { TRANSFORM_VECTORS: file } },
    )
    expect({ exitCode, output: exitCode === 0 ? '' : output.slice(-3_000) }).toEqual({
      exitCode: 0,
      output: '',
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('transform-python: PyIceberg writes protected rows where a policy demands the plan, and no others', async () => {
  const [created] = await session('create')
  expect(created).toEqual({ step: 'create', value: null })
  for (const table of ['orders', 'customers']) {
    await lake.declare(table, 'email', { action: 'tokenize', method: 'hmac', scope: 'email' })
    await lake.declare(table, 'note', { action: 'encrypt', method: 'siv', scope: 'note' })
    await lake.demandPlan(table)
  }
  const [clear, withoutService, ofAnotherType, protectedRows, read, joined] = await session(
    ...[
      'append_clear',
      'append_without_service',
      'append_of_another_type',
      'append_protected',
      'read',
      'join',
    ],
  )
  expect(clear).toMatchObject({ error: 'ForbiddenError' })
  expect(clear?.message).toContain(demand)
  expect(withoutService).toMatchObject({ error: 'TransformRefused' })
  expect(ofAnotherType).toMatchObject({ error: 'TransformRefused' })
  expect(ofAnotherType?.message).not.toContain(canary)
  expect(protectedRows).toEqual({ step: 'append_protected', value: null })
  expect(read?.value).toMatchObject([1, 2, 2].map((id) => ({ id, email: expect.stringMatching(/^tok_/) })))
  expect(read?.value).toMatchObject([1, 2, 2].map(() => ({ note: expect.stringMatching(/^cse1\./) })))
  // Two orders of one customer, by tokens alone.
  expect(joined?.value).toBe(2)
})

test('transform-python: manifests of PyIceberg that keep bounds of protected columns are refused', async () => {
  const before = await session('read')
  const [bounds, proof, after] = await session('append_with_bounds', 'append_clear_with_proof', 'read')
  for (const step of [bounds, proof]) {
    expect(step).toMatchObject({ error: 'ForbiddenError' })
    expect(step?.message).toContain(demand)
    expect(step?.message).not.toContain(canary)
  }
  expect(after?.value).toEqual(before[0]?.value)
})

test('transform-python: the benchmark of an append gives its figures', async () => {
  const lines: string[] = []
  const output = { out: (line: string) => void lines.push(line), err: () => {} }
  expect(await benchCommand(['transform', '--append', '--smoke', '--json'], output)).toBe(0)
  const [result] = lines.map((line) => JSON.parse(line))
  expect(lines).toHaveLength(1)
  for (const name of ['p50_plain_ms', 'p50_protected_ms', 'p50_protect_ms'])
    expect(result[name]).toBeGreaterThan(0)
  expect(result.overhead_percent).toBeNumber()
})

test('transform-python: the benchmark of the library gives a figure for every method', async () => {
  const lines: string[] = []
  const output = { out: (line: string) => void lines.push(line), err: () => {} }
  expect(await benchCommand(['transform', '--python', '--smoke', '--json'], output)).toBe(0)
  const results = lines.map((line) => JSON.parse(line))
  expect(results.map((result) => result.case.method)).toEqual(['hmac', 'gcm', 'siv', 'ff1'])
  for (const result of results) expect(result.values_per_s).toBeGreaterThan(0)
})

test('transform-python: PyIceberg encrypts under keys of subjects, and an erased one is neither read nor written', async () => {
  const of = { action: 'encrypt', subject_key_of: 'id', subject_kind: 'customer' }
  await lake.declare('visits', 'email', { ...of, method: 'siv', scope: 'email' })
  await lake.declare('visits', 'note', { ...of, method: 'gcm', scope: 'note' })
  await lake.demandPlan('visits')
  const [appended, stored] = await session('append_visits', 'read_visits')
  expect(appended).toEqual({ step: 'append_visits', value: null })
  expect(stored?.value).toMatchObject(
    [71, 71, 72].map((id) => ({
      ...{ id, email: expect.stringMatching(/^css1\./), note: expect.stringMatching(/^cgs1\./) },
    })),
  )
  for (const column of ['email', 'note'])
    expect(
      await lake.call('PUT', `/transform/reveals/columns/sales/visits/${column}`, { roles: ['officer'] }),
    ).toEqual({ status: 204, text: '' })
  const settings = await lake.call('PUT', '/contracts/settings', { uncontracted: 'readable' })
  expect(settings.status).toBe(204)
  const read = async () =>
    (await readAs(lake.lake.env, 'SELECT id, email, note FROM sales.visits ORDER BY id')).slice(0, -1)
  const clear = [71, 71, 72].map((id) => `D ${id}|${canary}${id}@example.org|${canary} ${id}`)
  expect(await read()).toEqual(clear)
  const erased = await lake.call('POST', '/transform/subjects/customer/shreddings', { subject: '71' })
  expect(erased.status).toBe(200)
  expect(await read()).toEqual(['D 71|NULL|NULL', 'D 71|NULL|NULL', clear[2] as string])
  const [refused, after] = await session('append_erased', 'read_visits')
  expect(refused).toMatchObject({
    error: 'TransformRefused',
    message: 'column email: a row is of a subject that was erased',
  })
  expect(after?.value).toEqual(stored?.value)
})

test('transform-python: of what was written by the plan, no file in storage holds a value', async () => {
  // What was refused left its files: a policy cannot take bytes back.
  const held = lake.filesWith(canary)
  expect(held.every((path) => path.endsWith('.parquet') || path.endsWith('.avro'))).toBe(true)
  const refused = new Set(held.map((path) => path.split('/data/')[0]?.split('/metadata/')[0]))
  expect([...refused].map((path) => path?.endsWith('/orders'))).toEqual([true])
  const [again] = await session('append_protected')
  expect(again?.error).toBeUndefined()
  expect(lake.filesWith(canary)).toEqual(held)
})
