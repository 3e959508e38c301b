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
  expect(wait.heads()[0]?.owner).toBe('a')
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

test('refuses at once who had left before it came', async () => {
  const wait = waitOf()
  const left = wait.wait('a', undefined, AbortSignal.abort(new Error('gone')))
  await expect(left).rejects.toThrow('gone')
  expect(wait.count).toBe(0)
})

test('gives an owner whose wait was refused the last turn', async () => {
  const wait = waitOf()
  const refused = wait.wait('a', undefined).catch((fault: Fault) => fault.kind)
  const others = ['a', 'b'].map((owner) => wait.wait(owner, undefined))
  let asked = 0
  wait.refuse(() => asked++ === 0)
  expect(await refused).toBe('unavailable')
  expect(wait.owners).toEqual(['b', 'a'])
  while (wait.next('given'));
  await Promise.all(others)
})
