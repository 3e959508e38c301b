/**
 * Collects bodies of requests and answers as examples of the OpenAPI document, without what differs from run to run and
 * without secrets, and writes them to src/server/rest/examples.json where RECORD=1.
 */

import { writeFileSync } from 'node:fs'
import declared from '../../src/server/rest/examples.json'

interface Example {
  readonly input?: object | undefined
  readonly output?: object | undefined
}

const file = new URL('../../src/server/rest/examples.json', import.meta.url)
const textMax = 300
/** An answer that is larger explains no more. */
const sizeMax = 2_500

const samples: readonly (readonly [RegExp, string])[] = [
  [
    /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g,
    '019b2f4e-7a10-7c3d-9e52-4b6f8a1c2d3e',
  ],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '2026-01-05T09:30:00.000Z'],
  [/\b[0-9a-f]{64}\b/g, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  [/\b127\.0\.0\.1:\d+/g, 'covenant.example'],
  [/\/(tmp|dev\/shm)\/[^"\s]*/g, '/lake/sales/orders'],
]

/** Members that hold what only their reader may know. */
const isSecret = /^(secret|token|access_token|refresh_token|password|signing_secret|client_secret|key)$/

function sampled(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => sampled(item))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sampled(member, key)]))
  if (typeof value !== 'string') return value
  if (isSecret.test(name)) return 'EXAMPLE-SECRET'
  const text = samples.reduce((all, [pattern, sample]) => all.replace(pattern, sample), value)
  return text.length > textMax ? `${text.slice(0, textMax)}…` : text
}

/** Keeps the largest bodies of each operation. */
export function exampleRecorder() {
  const examples = new Map<string, Example>()
  const larger = (before: object | undefined, body: unknown) => {
    if (typeof body !== 'object' || body === null) return before
    const next = sampled(body) as object
    const size = JSON.stringify(next).length
    return size <= sizeMax && size > (before === undefined ? 0 : JSON.stringify(before).length)
      ? next
      : before
  }
  return {
    add(operation: string, request: unknown, answer: unknown) {
      const { input, output } = examples.get(operation) ?? {}
      examples.set(operation, { input: larger(input, request), output: larger(output, answer) })
    },
    /**
     * Adds to the file what it lacks where RECORD=1, sorted by operation. What is there stays, because some of it is
     * written by hand: remove an example that is no longer true, and record again.
     */
    write() {
      if (process.env.RECORD !== '1') return
      const all = { ...Object.fromEntries(examples), ...(declared as Readonly<Record<string, Example>>) }
      for (const [operation, example] of examples) all[operation] = { ...example, ...all[operation] }
      const sorted = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))
      writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
    },
  }
}
