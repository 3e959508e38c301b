/** MDX threads: a statement that hangs, crashes or is too much ends alone, and the process serves others meanwhile. */

import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Fault, toFault } from '../../../src/base/fault.ts'
import { newTenantId } from '../../../src/core/tenant.ts'
import type { Cube } from '../../../src/semantics/cube/model.ts'
import { type MdxBounds, mdxRunBounds } from '../../../src/semantics/mdx/bounds.ts'
import { type EvaluationTask, GivenUp, RunningEvaluation } from '../../../src/semantics/mdx/evaluation.ts'
import { type EvaluatorOptions, MdxEvaluator } from '../../../src/semantics/mdx/evaluator.ts'
import { faultText } from '../../../src/server/xmla/faults.ts'
import { parseMdx } from '../../../src/wire/mdx/parse.ts'
import { aborted } from '../../support/aborted.ts'

setDefaultTimeout(120_000)

const url = new URL('./scripted-thread.ts', import.meta.url)
const evaluators: MdxEvaluator[] = []
afterEach(() => {
  for (const evaluator of evaluators.splice(0)) evaluator.close()
})

function open(options: EvaluatorOptions = {}) {
  let restarts = 0
  const evaluator = new MdxEvaluator({ url, hangMs: 3_000, onRestart: () => restarts++, ...options })
  evaluators.push(evaluator)
  return { evaluator, restarts: () => restarts }
}

const level = {
  name: '(All)',
  uniqueName: '[t].[k].[(All)]',
  caption: '(All)',
  number: 0,
  kind: 'all',
} as const
const dimension = { name: 't', uniqueName: '[t]' }
const cube: Cube = {
  ...{ catalog: 'lake', name: 'c', caption: 'c', description: '', version: '0000000', rowKeys: [] },
  table: { namespace: ['s'], name: 't' },
  relation: { schema: 's', name: 't__metrics' },
  dimensions: [
    {
      ...dimension,
      ...{ caption: 't', ordinal: 1, table: { namespace: ['s'], name: 't' } },
      hierarchies: [
        {
          ...{
            name: 'k',
            uniqueName: '[t].[k]',
            dimension,
            caption: 'k',
            description: '',
            folder: '',
            ordinal: 1,
          },
          kind: 'attribute',
          allMember: { uniqueName: '[t].[k].[All]', caption: 'All' },
          levels: [
            level,
            {
              ...{ name: 'k', uniqueName: '[t].[k].[k]', caption: 'k', number: 1, kind: 'key' },
              key: { column: 'k', type: 'int8' },
            },
          ],
        },
      ],
    },
  ],
  ...{ kpis: [], sets: [], formulas: [] },
  measures: [
    {
      ...{ name: 'm', uniqueName: '[Measures].[m]', caption: 'm', description: '', folder: '', type: 'int8' },
      ...{ format: '', unit: '', isSum: true },
    },
  ],
}

function taskOf(text: string, bounds = {}): EvaluationTask {
  const statement = parseMdx(text)
  if (statement.kind !== 'select') throw new Error(statement.kind)
  return {
    ...{ cube, statement, format: 'multidimensional', formulas: [], nowMs: 0, mentioned: [], grouped: ['m'] },
    bounds: { ...mdxRunBounds, ...bounds },
  }
}

const scripted = (word: string, bounds = {}) => taskOf(`SELECT FROM [c] CELL PROPERTIES ${word}`, bounds)
const never = new AbortController().signal
const tenant = newTenantId()
const read = async () => {}
const run = (evaluator: MdxEvaluator, word: string, signal = never, bounds = {}, of = tenant) =>
  evaluator.evaluate(scripted(word, bounds), { tenant: of, signal, read }).then(
    ({ kind }) => kind,
    (thrown: unknown) => (thrown instanceof Fault ? thrown.publicMessage : String(thrown)),
  )

describe('a thread', () => {
  test('that hangs is replaced, its statement is a fault, and others are answered meanwhile', async () => {
    const { evaluator, restarts } = open()
    const hung = run(evaluator, 'HANG')
    // The next goes to the other thread.
    expect(await run(evaluator, 'VALUE')).toBe('tabular')
    expect(await hung).toContain('takes too long')
    expect(restarts()).toBe(1)
    expect(await Promise.all(['VALUE', 'VALUE'].map((word) => run(evaluator, word)))).toEqual([
      'tabular',
      'tabular',
    ])
  })

  test.each(['CRASH', 'EXIT'])('that dies by %s is replaced, and its statement is a fault', async (word) => {
    const { evaluator, restarts } = open({ hangMs: 60_000 })
    expect(await run(evaluator, word)).toContain('ended with the thread')
    expect(restarts()).toBe(1)
    expect(await Promise.all(['VALUE', 'VALUE'].map((each) => run(evaluator, each)))).toEqual([
      'tabular',
      'tabular',
    ])
  })

  test('that hangs is replaced also where its statement was given up', async () => {
    const { evaluator, restarts } = open({ hangMs: 1_000 })
    const controller = new AbortController()
    const hung = run(evaluator, 'HANG', controller.signal)
    controller.abort(new Error('left'))
    expect(await hung).toContain('left')
    // The other thread is less busy until it hangs, too.
    expect(await run(evaluator, 'HANG')).toContain('takes too long')
    while (restarts() < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(await run(evaluator, 'VALUE')).toBe('tabular')
  })

  test('that waits for rows is not taken for hung', async () => {
    const { evaluator, restarts } = open({ hangMs: 1_000 })
    const asked = Promise.withResolvers<void>()
    const controller = new AbortController()
    const waiting = evaluator.evaluate(scripted('NEED'), {
      tenant,
      signal: controller.signal,
      read: async (_needs, _sink, signal) => {
        asked.resolve()
        await aborted(signal)
      },
    })
    waiting.catch(() => {})
    await asked.promise
    // A thread that hangs beside it takes as long as that.
    expect(await run(evaluator, 'HANG')).toContain('takes too long')
    expect(restarts()).toBe(1)
    controller.abort(new Error('left'))
    await expect(waiting).rejects.toThrow('left')
  })
})

describe('a statement', () => {
  test('ends with its signal, also in a thread that hangs', async () => {
    const { evaluator } = open({ hangMs: 60_000 })
    const controller = new AbortController()
    const hung = run(evaluator, 'HANG', controller.signal)
    expect(await run(evaluator, 'VALUE')).toBe('tabular')
    controller.abort(new Error('left'))
    expect(await hung).toContain('left')
    expect(await run(evaluator, 'VALUE', AbortSignal.abort(new Error('gone')))).toContain('gone')
  })

  test('ends with its time, also in a thread that serves others', async () => {
    const { evaluator } = open({ hangMs: 60_000 })
    expect(await run(evaluator, 'HANG', never, { timeMs: 50 })).toContain('takes too long')
  })

  test('is refused where too many are at work, and once the service stops', async () => {
    const { evaluator } = open({ jobsMax: 1, hangMs: 60_000 })
    const hung = run(evaluator, 'HANG')
    expect(await run(evaluator, 'VALUE')).toContain('Too many')
    evaluator.close()
    expect(await hung).toContain('stopping')
    expect(await run(evaluator, 'VALUE')).toContain('stopping')
  })

  test('of a tenant is evaluated where another tenant has taken all places', async () => {
    const { evaluator } = open({ jobsMax: 1, hangMs: 60_000 })
    const hung = run(evaluator, 'HANG')
    expect(await run(evaluator, 'VALUE', never, {}, newTenantId())).toBe('tabular')
    expect(await run(evaluator, 'VALUE')).toContain('Too many')
    evaluator.close()
    expect(await hung).toContain('stopping')
  })

  test('that meets an error of ours says nothing of it', async () => {
    const { evaluator } = open({ hangMs: 60_000 })
    const asked = evaluator.evaluate(scripted('ERROR'), { tenant, signal: never, read })
    const thrown = await asked.catch((cause: unknown) => cause)
    expect(faultText(toFault(thrown))).toMatchObject({ message: 'Internal error.' })
  })
})

describe('an evaluation', () => {
  const keys = Array.from({ length: 1_000 }, (_, key) => String(key))

  // This thread holds what other tests left, so its memory counts only where a test says so.
  async function evaluated(text: string, bounds: Partial<MdxBounds> = {}, isGivenUp = () => false) {
    const evaluation = new RunningEvaluation(taskOf(text, { heapBytesMax: Infinity, ...bounds }), isGivenUp)
    for (;;) {
      const round = await evaluation.advance()
      if (round.kind !== 'needs') return round
      for (const need of round.needs)
        if (need.kind === 'members') evaluation.putMembers(need, keys)
        else evaluation.putCells(need, [])
    }
  }

  const sum =
    'WITH MEMBER [Measures].[x] AS Sum([t].[k].[k].Members, Sum([t].[k].[k].Members, 1)) SELECT {[Measures].[x]} ON 0 FROM [c]'

  test('of 10^6 tuples is refused within its bounds', async () => {
    const crossed =
      'WITH SET [s] AS Generate([t].[k].[k].Members, [t].[k].[k].Members, ALL) SELECT [s] ON 0 FROM [c]'
    await expect(evaluated(crossed)).rejects.toThrow('a set has at most 100000 tuples. Ask for less.')
    await expect(evaluated(sum)).rejects.toThrow('more than 1000000 steps')
  })

  test('is refused beyond the memory of its thread', async () => {
    await expect(evaluated(sum, { heapBytesMax: 1 })).rejects.toThrow('more memory')
  })

  test('ends amid its computation once it is given up', async () => {
    let looks = 0
    const end = evaluated(sum, {}, () => ++looks > 3).catch((thrown: unknown) => thrown)
    expect(await end).toBeInstanceOf(GivenUp)
    expect(looks).toBe(4)
  })

  test('in a thread of the service is what it is in this one', async () => {
    const evaluator = new MdxEvaluator()
    evaluators.push(evaluator)
    const text = 'SELECT [t].[k].Members ON 0 FROM [c]'
    const found = await evaluator.evaluate(taskOf(text), {
      tenant,
      signal: never,
      async read(needs, sink) {
        for (const need of needs)
          if (need.kind === 'members') await sink.putMembers(need, keys)
          else
            await sink.putCells(
              need,
              keys.map((key) => ({
                keys: need.levels.map(() => key),
                values: new Map([['m', Number(key)]]),
              })),
            )
      },
    })
    if (found.kind !== 'cellset') throw new Error(found.kind)
    expect(found.cellset.axes[0]?.tuples).toHaveLength(1_001)
    expect(found.cellset.cells.map(({ value }) => value).slice(1)).toEqual(keys.map(Number))
  })
})
