import { expect, test } from 'bun:test'
import { FairWait } from '../../src/base/fair-wait.ts'
import { Fault } from '../../src/base/fault.ts'

const late = () => new Fault('unavailable', 'late')
const waitOf = (waitMs = 60_000) => new FairWait<string>({ waitMs, late })

test('gives to owners in turn, within an owner to who came first', async () => {
  const wait = waitOf()
  const given: string[] = []
  const all = ['a1', 'a2', 'a3', 'b1'].map((name) =>
    wait.wait(name[0] as string, undefined).then((thing) => given.push(`${name} ${thing}`)),
  )
  expect(wait.peek()?.owner).toBe('a')
  for (const thing of ['1', '2', '3', '4']) expect(wait.next(thing)).toBe(true)
  await Promise.all(all)
  expect(given).toEqual(['a1 1', 'b1 2', 'a2 3', 'a3 4'])
  expect(wait.next('5')).toBe(false)
})

test('refuses who waits for too long, counts it, and gives it nothing', async () => {
  const wait = waitOf(1)
  const refused = await wait.wait('a', undefined).catch((fault: Fault) => fault.kind)
  expect([refused, wait.late, wait.count]).toEqual(['unavailable', 1, 0])
  expect(wait.next('1')).toBe(false)
})

test('ends the wait of who leaves', async () => {
  const wait = waitOf()
  const gone = new AbortController()
  const leaving = wait.wait('a', undefined, gone.signal).catch((reason: unknown) => reason)
  const next = wait.wait('a', undefined)
  gone.abort('gone')
  expect(await leaving).toBe('gone')
  wait.next('1')
  expect(await next).toBe('1')
})
