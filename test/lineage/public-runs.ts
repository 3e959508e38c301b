/**
 * Runs of public producers in the form of fixtures/public-runs.json, as events, and the pairs that they say. Pairs are read
 * from the form alone: none of the service's reading of events is used for them.
 */

import { readFileSync } from 'node:fs'
import { parseLineageEvent } from '../../src/lineage/parse-event.ts'
import type { ReceivedEvent } from '../../src/store/lineage/events.ts'
import { producer } from '../support/lineage.ts'

/** Datasets are `namespace|name`, columns `namespace|name|column`. */
interface PublicEvent {
  readonly type: string
  readonly in?: readonly string[]
  readonly out?: readonly string[]
  /** Symlinks of a dataset. */
  readonly links?: Readonly<Record<string, readonly string[]>>
  /** Of an output, `column < input column`; without the first, the whole output. */
  readonly cols?: Readonly<Record<string, readonly string[]>>
}

export interface PublicRun {
  /** The files that say it. */
  readonly from: string
  readonly runId: string
  readonly job: string
  readonly parent?: string
  readonly root?: string
  readonly events: readonly PublicEvent[]
}

interface PublicFile {
  readonly from: string
  readonly runs: readonly Omit<PublicRun, 'from' | 'runId'>[]
}

/** All runs. Names are those of their file: no two files share one. */
export function publicRuns(): readonly PublicRun[] {
  const text = readFileSync(new URL('fixtures/public-runs.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as readonly PublicFile[]).flatMap(({ from, runs }, file) =>
    runs.map((run) => {
      const own = JSON.stringify(run).replaceAll(/\bw(\d+)\b/g, `f${file}w$1`)
      return { ...(JSON.parse(own) as PublicRun), from, runId: crypto.randomUUID() }
    }),
  )
}

/** The events of a run, a minute apart, in the store's form. */
export function eventsOf(run: PublicRun, hour: number): readonly ReceivedEvent[] {
  return run.events.map((said, minute) => {
    const at = new Date(Date.UTC(2026, 0, 1, hour, minute)).toISOString()
    return {
      event: parseLineageEvent(Buffer.from(JSON.stringify(eventJson(run, said, at))), Date.UTC(2026, 6, 1)),
      identified: { principal: { sub: 'spark', roles: [] }, source: 'session' },
    }
  })
}

/** Each event as several, of which each names a part of the datasets. */
export function splitEvents(run: PublicRun): PublicRun {
  const events = run.events.flatMap((said) => {
    const { in: reads = [], out: writes = [], ...rest } = said
    if (said.type === 'JOB' || said.type === 'DATASET') return [said]
    return [
      ...reads.map((one) => ({ ...rest, in: [one] })),
      ...writes.map((one) => ({ ...rest, out: [one] })),
    ]
  })
  return { ...run, events }
}

const [namespace, kinds] = ['public', { JOB: 'JobEvent', DATASET: 'DatasetEvent' } as Record<string, string>]
const nameOf = (text: string) => {
  const [of = '', name = ''] = text.split('|')
  return { namespace: of, name }
}

function eventJson({ runId, job, parent, root }: PublicRun, said: PublicEvent, eventTime: string): object {
  const { type, in: reads = [], out: writes = [], links = {}, cols = {} } = said
  const dataset = (text: string) => {
    const symlinks = links[text]?.map((one) => ({ ...nameOf(one), type: 'TABLE' }))
    return { ...nameOf(text), facets: { ...(symlinks && { symlinks: { identifiers: symlinks } }) } }
  }
  const output = (text: string) => {
    const given = dataset(text)
    return { ...given, facets: { ...given.facets, ...(cols[text] && columnFacet(cols[text])) } }
  }
  const schemaURL = `https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/${kinds[type] ?? 'RunEvent'}`
  const of = (name: string, id: string) => ({ run: { runId: id }, job: { namespace, name } })
  const facets = parent !== undefined && {
    parent: {
      ...of(parent, idFor(`${runId} parent`)),
      ...(root !== undefined && { root: of(root, idFor(`${runId} root`)) }),
    },
  }
  const common = { producer, schemaURL, eventTime }
  if (type === 'DATASET') return { ...common, dataset: output(writes[0] ?? '') }
  return {
    ...{ ...common, job: { namespace, name: job } },
    ...(type !== 'JOB' && { eventType: type, run: { runId, facets: { ...facets } } }),
    ...{ inputs: reads.map(dataset), outputs: writes.map(output) },
  }
}

const ids = new Map<string, string>()
function idFor(key: string): string {
  const id = ids.get(key) ?? crypto.randomUUID()
  ids.set(key, id)
  return id
}

function columnFacet(cols: readonly string[]) {
  const fields: Record<string, { inputFields: object[] }> = {}
  const whole: object[] = []
  for (const text of cols) {
    const [column = '', input = ''] = text.split(' < ')
    const field = { ...nameOf(input), field: input.split('|')[2] }
    if (column === '') whole.push(field)
    else fields[column] = { inputFields: [...(fields[column]?.inputFields ?? []), field] }
  }
  return { columnLineage: { fields, dataset: whole } }
}

/** What a run says, as `input > output` and `input.column > output.column`, with what is no edge and why. */
export function pairsOf({ events }: PublicRun) {
  const reads = new Set(events.flatMap((one) => one.in ?? []))
  const writes = new Set(events.flatMap((one) => one.out ?? []))
  const names = new Map<string, Set<string>>()
  for (const { links = {} } of events)
    for (const [name, others] of Object.entries(links))
      names.set(name, (names.get(name) ?? new Set()).union(new Set(others)))
  const namesOf = (one: string) => new Set([one, ...(names.get(one) ?? [])])
  const isOne = (a: string, b: string) => !namesOf(a).isDisjointFrom(namesOf(b))
  const [pairs, columns] = [new Set<string>(), new Set<string>()]
  const [inPlace, unread] = [new Set<string>(), new Set<string>()]
  for (const a of reads)
    for (const b of writes)
      if (isOne(a, b)) inPlace.add(`${a} > ${b}`)
      else pairs.add(`${a} > ${b}`)
  for (const { type, cols = {} } of events)
    for (const [output, list] of Object.entries(cols))
      for (const text of list) {
        const [column, from = ''] = text.split(' < ')
        const [of = '', name = '', field] = from.split('|')
        const given = `${of}|${name}`
        const known = reads.has(given) ? given : [...reads].find((one) => namesOf(one).has(given))
        const input = type === 'DATASET' ? given : known
        const pair = `${input ?? given}.${field} > ${output}.${column}`
        // A column of a table that was written in place.
        if (isOne(input ?? given, output)) continue
        if (input === undefined) unread.add(pair)
        else columns.add(pair)
        if (type === 'DATASET') pairs.add(`${given} > ${output}`)
      }
  return { pairs, columns, inPlace, unread }
}
