/** The bound of connections that calls of one kind hold together. */

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import type { Fault } from '../../../src/base/fault.ts'
import { functionsOfAudit, Lane } from '../../../src/store/database/lane.ts'

describe('a lane', () => {
  test('lets in as many as it has places, and the others by turns of their tenants', async () => {
    const lane = new Lane(2, 60_000)
    const entered: string[] = []
    const enter = (owner: string) => lane.enter(owner).then(() => void entered.push(owner))
    const all = ['a', 'a', 'a', 'a', 'b'].map(enter)
    await Promise.all(all.slice(0, 2))
    expect(entered).toEqual(['a', 'a'])
    lane.leave()
    lane.leave()
    await Promise.all([all[2], all[4]])
    expect(entered.slice(2).sort()).toEqual(['a', 'b'])
    lane.leave()
    await Promise.all(all)
    for (const _ of ['a', 'b']) lane.leave()
    await enter('c')
    expect(entered).toHaveLength(6)
  })

  test('refuses who waits too long or leaves, and gives the place to the next', async () => {
    const lane = new Lane(1, 1)
    await lane.enter('a')
    const late = await lane.enter('a').catch((fault: Fault) => fault.kind)
    expect(late).toBe('unavailable')
    const patient = new Lane(1, 60_000)
    await patient.enter('a')
    const gone = new AbortController()
    const leaving = patient.enter('a', gone.signal).catch((reason: unknown) => reason)
    const next = patient.enter('a')
    gone.abort('gone')
    expect(await leaving).toBe('gone')
    patient.leave()
    await next
  })
})

test('every function that requests call and that reaches the audit log is known as one', () => {
  const folder = new URL('../../../migrations/functions/', import.meta.url)
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n')
  const bodies = new Map<string, string>()
  for (const [, name = '', body = ''] of texts.matchAll(
    /create or replace function svc\.(\w+)\(([\s\S]*?)(?=\ncreate or replace function|$(?![\s\S]))/g,
  ))
    bodies.set(name, body)
  expect(bodies.size).toBeGreaterThan(100)
  const reaches = (name: string, seen = new Set<string>()): boolean => {
    if (seen.has(name)) return false
    seen.add(name)
    const body = bodies.get(name) ?? ''
    if (/\baudit_log\b/.test(body)) return true
    return [...body.matchAll(/svc\.(\w+)\(/g)].some(([, called = '']) => reaches(called, seen))
  }
  const store = readFileSync(new URL('../../../src/store/store.ts', import.meta.url), 'utf8')
  const unions = [
    ...store.matchAll(/export type (?:Tenant|Admin|Session)Function =([\s\S]*?)\n(?:\/\*\*|\n)/g),
  ].join('\n')
  const called = [...new Set([...unions.matchAll(/'(\w+)'/g)].map(([, name = '']) => name))].sort()
  expect(called.length).toBeGreaterThan(8)
  expect(called.filter((name) => reaches(name))).toEqual([...functionsOfAudit].sort())
})
