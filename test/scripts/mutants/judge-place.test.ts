/** scripts/mutants/judge-place.ts on a tree that only pretends to run tests. */

import { expect, test } from 'bun:test'
import { Judge, nearAndFar } from '../../../scripts/mutants/judge-place.ts'
import type { TreeCopy } from '../../../scripts/mutants/tree-copy.ts'

/** A tree whose tests fail on these texts of the file; `red` fails on any. */
function pretendTree(failing: Readonly<Record<string, readonly string[]>>, takes: readonly string[] = []) {
  let text = 'right'
  const ran: string[] = []
  const copy: TreeCopy = {
    root: '',
    write: (_, written) => {
      text = written
    },
    test: async (paths) => {
      ran.push(`${text}: ${paths.join(' ')}`)
      const isFailing = paths.some((path) => path === 'red' || failing[path]?.includes(text))
      return text === 'endless' ? 'late' : isFailing ? 'failed' : 'passed'
    },
    compiles: async () => takes.includes(text),
    [Symbol.dispose]: () => {},
  }
  return { copy, ran, textNow: () => text }
}

const near = { path: 'near', ms: 1_000 }
const far = { path: 'far', ms: 60_000 }
const fault = (text: string) => ({ path: 'src/a.ts', text, original: 'right' })

test('a fault with which a test fails is noticed, and taken out again', async () => {
  const { copy, ran, textNow } = pretendTree({ near: ['wrong'] })
  expect(await new Judge(copy).isNoticed(fault('wrong'), [near])).toBe(true)
  expect(ran).toEqual(['wrong: near', 'right: near'])
  expect(textNow()).toBe('right')
})

test('a fault with which tests do not end is noticed', async () => {
  const { copy } = pretendTree({})
  expect(await new Judge(copy).isNoticed(fault('endless'), [near])).toBe(true)
})

test('a fault that no test notices survived if the compiler takes it', async () => {
  const { copy, textNow } = pretendTree({}, ['wrong'])
  const judge = new Judge(copy)
  expect(await judge.isNoticed(fault('wrong'), [near, far])).toBe(false)
  expect(await judge.judgeUnnoticed(fault('wrong'))).toBe('survived')
  expect(await judge.judgeUnnoticed(fault('ill-typed'))).toBe('refused')
  expect(textNow()).toBe('right')
})

test('a test that fails without a fault does not judge, and is told', async () => {
  const { copy } = pretendTree({ near: ['noticed'] })
  const judge = new Judge(copy)
  const tests = [{ path: 'red', ms: 1 }, near]
  expect(await judge.isNoticed(fault('wrong'), tests)).toBe(false)
  expect(await judge.isNoticed(fault('noticed'), tests)).toBe(true)
  expect(judge.red).toEqual(['red'])
})

test('a test that is known to pass is not run again without a fault', async () => {
  const { copy, ran } = pretendTree({ near: ['wrong', 'worse'] })
  const judge = new Judge(copy)
  await judge.isNoticed(fault('wrong'), [near])
  expect(await judge.isNoticed(fault('worse'), [near])).toBe(true)
  expect(ran).toEqual(['wrong: near', 'right: near', 'worse: near'])
})

test('tests that fit into a few seconds and start nothing large are asked first', () => {
  const [short, store] = [
    { path: 'short', ms: 500 },
    { path: 'store', ms: 500 },
  ]
  const startsMuch = (path: string) => path === 'store'
  expect(nearAndFar([store, near, far, short], startsMuch)).toEqual({
    near: [near, short],
    far: [store, far],
  })
})
