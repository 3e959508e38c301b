/**
 * The command `npm run test:mutants`: makes small faults in the places that decide, in a copy of the tree, and prints
 * those that no test notices. It says nothing of faults that it does not make, and is not part of continuous
 * integration.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readProject } from '../test/tidy/source-files.ts'
import { choosePlaces, type Place } from './mutants/choose-places.ts'
import { faultsOf } from './mutants/faults.ts'
import { type FaultyFile, Judge, nearAndFar, type Verdict } from './mutants/judge-place.ts'
import { type Matching, matchingTests } from './mutants/matching-tests.ts'
import { parseFiles } from './mutants/parse-files.ts'
import { type Area, findAreas } from './mutants/places.ts'
import { openResults } from './mutants/results.ts'
import { copyTree } from './mutants/tree-copy.ts'
import { importersOf, stepsTo } from './reach/import-graph.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const usage = `Usage: npm run test:mutants -- [--seed N] [--places N] [--only WORD]… [--seconds N] [--list] [--fresh]

Makes small faults in the places that decide, one at a time in a copy of the tree, and runs the nearest tests. It prints
each fault that no test notices. A run that was ended goes on where it stopped.

  --seed N       which places are chosen (default 1)
  --places N     how many (default 200)
  --only WORD    only areas, or files, whose names hold the word; may be repeated
  --seconds N    of tests for one fault, as long as they take without it (default 60)
  --list         prints the places and their tests, and runs nothing
  --fresh        forgets what earlier runs found
  --help         this text
Exit status: 0 no fault survived, 1 at least one did, 64 wrong usage.`

/** Tests whose own files import one of these open a database, start an engine or a process. */
const large = /^(?:test\/support\/store\.ts|src\/(?:main|app|engine\/duckdb\/.*)\.ts)$/

interface Arguments {
  readonly seed: number
  readonly places: number
  readonly seconds: number
  readonly only: readonly string[]
  readonly list: boolean
  readonly fresh: boolean
  readonly help: boolean
}

/** @returns undefined for invalid arguments */
function readArguments(words: readonly string[]): Arguments | undefined {
  const options = {
    seed: { type: 'string', default: '1' },
    places: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    only: { type: 'string', multiple: true, default: [] as string[] },
    list: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const
  try {
    const { values } = parseArgs({ args: [...words], options })
    const [seed = -1, places = -1, seconds = -1] = [values.seed, values.places, values.seconds].map(Number)
    if (![seed, places, seconds].every((value) => Number.isInteger(value) && value >= 0)) return undefined
    return { ...values, seed, places, seconds }
  } catch {
    return undefined
  }
}

/** The areas with every fault that could be made there. */
async function findPlaces(areas: readonly Area[], only: readonly string[]) {
  const isWanted = (name: string, file: string) =>
    only.length === 0 || only.some((word) => name.includes(word) || file.includes(word))
  const wanted = areas.map(({ name, files }) => ({
    name,
    files: files.filter((file) => isWanted(name, file)),
  }))
  const trees = await parseFiles(wanted.flatMap(({ files }) => files.map((file) => join(root, file))))
  return wanted.map(({ name, files }) => ({
    name,
    places: files.flatMap((file): Place[] => {
      const tree = trees.get(join(root, file))
      return tree === undefined ? [] : faultsOf(tree).map((fault) => ({ ...fault, area: name, file }))
    }),
  }))
}

/** A fault as a person reads it: where, what kind, and the line before and after. */
function told({ file, start, end, text, kind, area }: Place, source: string): string {
  const line = source.slice(0, start).split('\n').length
  const short = (words: string) => words.replace(/\s+/g, ' ').slice(0, 160)
  return `${file}:${line} (${area}): ${kind}\n    - ${short(source.slice(start, end))}\n    + ${short(text) || '(nothing)'}`
}

function readTimings(): ReadonlyMap<string, number> {
  const { files } = JSON.parse(readFileSync(join(root, 'test/timings.json'), 'utf8')) as {
    files: Record<string, number>
  }
  return new Map(Object.entries(files))
}

async function main({ seed, places: count, seconds, only, list, fresh }: Arguments): Promise<number> {
  const project = readProject(root)
  const areas = await findPlaces(findAreas(project.map(({ path }) => path)), only)
  const places = choosePlaces(areas, seed, count)
  const all = areas.reduce((sum, area) => sum + area.places.length, 0)
  console.log(`${places.length} of ${all} places, seed ${seed}`)
  if (places.length === 0) return 64
  const importers = importersOf(project)
  // Through files of tests only: what the service imports does not say what a test of one part of it starts.
  const ofTests = importersOf(project.filter(({ path }) => path.startsWith('test/')))
  const starting = stepsTo(
    ofTests,
    [...ofTests.keys()].filter((path) => large.test(path)),
  )
  const timings = readTimings()
  const sourceOf = new Map(project.map(({ path, text }) => [path, text]))
  const testsOf = ({ file, area }: Place) =>
    matchingTests(file, area.split(/\W/), importers, timings, seconds)
  if (list) {
    for (const place of places)
      console.log(
        told(place, sourceOf.get(place.file) ?? ''),
        testsOf(place)
          .map(({ path }) => path)
          .join(' '),
      )
    return 0
  }
  const results = openResults(join(root, `.cache/mutants/seed-${seed}.jsonl`), fresh)
  using copy = copyTree(root)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      copy[Symbol.dispose]()
      process.exit(130)
    })
  const judge = new Judge(copy)
  const counts: Record<Verdict, number> = { killed: 0, refused: 0, survived: 0 }
  const survivors: string[] = []
  let done = 0
  const conclude = (place: Place, source: string, verdict: Verdict) => {
    counts[verdict] += 1
    done += 1
    if (verdict === 'survived') survivors.push(told(place, source))
    console.log(
      `${done}/${places.length} ${verdict} ${verdict === 'survived' ? survivors.at(-1) : place.file}`,
    )
  }
  // First the tests that take little time, for all places: they notice most faults.
  const unnoticed: { place: Place; source: string; fault: FaultyFile; far: readonly Matching[] }[] = []
  for (const place of places) {
    const source = sourceOf.get(place.file) ?? ''
    const known = results.of(place, source)
    if (known !== undefined) {
      conclude(place, source, known)
      continue
    }
    const text = source.slice(0, place.start) + place.text + source.slice(place.end)
    const fault = { path: place.file, text, original: source }
    const { near, far } = nearAndFar(testsOf(place), (path) => starting.has(path))
    if (await judge.isNoticed(fault, near)) {
      results.add(place, source, 'killed')
      conclude(place, source, 'killed')
    } else {
      console.log(`not noticed by near tests: ${told(place, source)}`)
      unnoticed.push({ place, source, fault, far })
    }
  }
  for (const { place, source, fault, far } of unnoticed) {
    const verdict = (await judge.isNoticed(fault, far)) ? 'killed' : await judge.judgeUnnoticed(fault)
    results.add(place, source, verdict)
    conclude(place, source, verdict)
  }
  for (const path of judge.red) console.log(`Not asked, because it fails without a fault: ${path}`)
  console.log(
    `${places.length} faults, seed ${seed}: ${counts.killed} killed by a test, ${counts.refused} refused by the compiler, ${counts.survived} survived`,
  )
  if (survivors.length > 0) console.log(`Survived:\n${survivors.join('\n')}`)
  return survivors.length === 0 ? 0 : 1
}

const read = readArguments(process.argv.slice(2))
if (read === undefined || read.help) {
  console[read === undefined ? 'error' : 'log'](usage)
  process.exit(read === undefined ? 64 : 0)
}
process.exitCode = await main(read)
