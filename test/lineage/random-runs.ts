/**
 * Random runs of a few jobs, split into events, and the edges that a plain reading of docs/adr/0033 has for them. The
 * runs close no cycle, and no two have the same time. Columns are not in the model: tests compare two graphs for them.
 */

import type { LineageEventType } from '../../src/core/lineage.ts'
import type { Said } from './said-runs.ts'

export interface RandomRun extends Required<Omit<Said, 'reads'>> {
  readonly reads: readonly string[]
}

/** The numbers of a test: equal for an equal seed. */
export interface Dice {
  readonly below: (n: number) => number
  readonly some: <T>(all: readonly T[], share?: number) => readonly T[]
  readonly shuffled: <T>(all: readonly T[]) => readonly T[]
}

export function diceOf(random: () => number): Dice {
  return {
    below: (n) => Math.floor(random() * n),
    some: (all, share = 0.4) => all.filter(() => random() < share),
    shuffled: (all) =>
      all
        .map((one) => ({ one, order: random() }))
        .toSorted((a, b) => a.order - b.order)
        .map(({ one }) => one),
  }
}

const nodes = Array.from({ length: 10 }, (_, at) => `n${at}`)
const ends: readonly LineageEventType[] = ['COMPLETE', 'COMPLETE', 'COMPLETE', 'FAIL', 'ABORT']
const jobs = ['job0', 'job1', 'job2']

/** At most 24, one for each hour of a day, each as the one event that says all of it. */
export function randomRuns({ below, some }: Dice, count: number): readonly RandomRun[] {
  return Array.from({ length: count }, (_, hour): RandomRun => {
    const border = 2 + below(6)
    const reads = some(nodes.slice(0, border))
    const columns = () =>
      Object.fromEntries(some(['x', 'y']).map((column) => [column, some(reads).map((name) => `${name}.id`)]))
    return {
      ...{
        run: crypto.randomUUID(),
        job: jobs[below(jobs.length)] ?? '',
        type: ends[below(ends.length)] ?? 'FAIL',
      },
      ...{ at: `2026-03-01T${String(hour).padStart(2, '0')}:00:00Z`, reads },
      writes: Object.fromEntries(some(nodes.slice(border)).map((name) => [name, columns()])),
    }
  })
}

/** A run as up to four events, of which one or two name each dataset. Some say all columns again, others share them. */
export function splitRun(run: RandomRun, { below }: Dice): readonly Said[] {
  const count = 1 + below(4)
  const places = () => new Set([below(count), below(count)])
  const says = below(2) === 0 ? 'all' : 'part'
  const reads = run.reads.map((name) => ({ name, in: places() }))
  const writes = Object.entries(run.writes).map(([name, columns]) => ({ name, columns, in: places() }))
  return Array.from({ length: count }, (_, at): Said => {
    const written = writes
      .filter((one) => one.in.has(at))
      .map(({ name, columns, in: named }) => {
        const own = Object.entries(columns).filter(
          (_column, place) => says === 'all' || place % named.size === [...named].indexOf(at),
        )
        return [name, Object.fromEntries(own)] as const
      })
    return {
      ...{ run: run.run, job: run.job, at: `${run.at.slice(0, 14)}0${at}:00Z` },
      type: at === count - 1 ? run.type : at === 0 ? 'START' : 'RUNNING',
      reads: reads.filter((one) => one.in.has(at)).map(({ name }) => name),
      writes: Object.fromEntries(written),
    }
  })
}

/** What there is for these runs, and which edges there were and are no more. */
export function expectedOf(runs: readonly RandomRun[]) {
  const edges = new Set<string>()
  const consumers = new Set<string>()
  const drawn = new Set<string>()
  for (const job of jobs) {
    const own = runs.filter((run) => run.job === job)
    const complete = own.filter(({ type }) => type === 'COMPLETE')
    const last = (of: readonly RandomRun[]) =>
      of
        .map(({ at }) => at)
        .toSorted()
        .at(-1) ?? ''
    const bound = (output: string) => last(complete.filter(({ writes }) => output in writes))
    const reads = last(complete.filter((run) => run.reads.length > 0))
    for (const run of own)
      for (const input of run.reads) {
        const said = Object.keys(run.writes).filter((output) => run.at >= bound(output))
        for (const output of Object.keys(run.writes)) drawn.add(`${input} -> ${output}`)
        for (const output of said) edges.add(`${input} -> ${output}`)
        if (said.length > 0 || run.at >= reads) consumers.add(`${input} < ${job}`)
      }
  }
  const ended = [...drawn].filter((edge) => !edges.has(edge)).sort()
  return { edges: [...edges].sort(), consumers: [...consumers].sort(), ended }
}
