/** One worker that owners share: whose task is next, and how many may wait. */

import { afterEach, expect, test } from 'bun:test'
import { SingleWorker } from '../../src/base/single-worker.ts'

const open: SingleWorker<string, string>[] = []
afterEach(() => {
  for (const worker of open.splice(0)) worker.close()
})

function start(waitingMax: number): SingleWorker<string, string> {
  const worker = new SingleWorker<string, string>({
    url: new URL('./fixtures/echo-worker.ts', import.meta.url),
    taskMs: 60_000,
    waitingMax,
    ...{ busy: 'too many wait', crashed: 'crashed', late: 'late' },
  })
  open.push(worker)
  return worker
}

/** Gives the tasks at once. @returns how they ended, in the order in which they did */
async function perform(worker: SingleWorker<string, string>, tasks: readonly string[]) {
  const ended: string[] = []
  await Promise.all(
    tasks.map((task) =>
      worker.perform(task.charAt(0), task).then(
        (outcome) => ended.push(outcome),
        (thrown: Error) => ended.push(`${task}: ${thrown.message}`),
      ),
    ),
  )
  return ended
}

test('the task of an owner comes before the backlog of another', async () => {
  expect(await perform(start(10), ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'])).toEqual([
    'a1',
    'a2',
    'b1',
    'a3',
    'b2',
    'a4',
  ])
})

test('where too many wait, an owner of whom none waits is served, and others are told', async () => {
  expect(await perform(start(2), ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'])).toEqual([
    'a4: too many wait',
    'b2: too many wait',
    'a1',
    'a2',
    'b1',
    'a3',
  ])
})

test('closing fails the tasks that run and wait', async () => {
  const worker = start(10)
  const ended = perform(worker, ['a1', 'b1'])
  worker.close()
  expect((await ended).toSorted()).toEqual(['a1: The service is stopping.', 'b1: The service is stopping.'])
})
