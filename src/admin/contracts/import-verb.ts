/**
 * `covenant import dcs`: converts documents of the Data Contract Specification to ODCS, a file each. It asks no service
 * and changes none of the files that it reads.
 */

import { mkdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import { limits } from '../../limits.ts'
import { fromDcs, isDcs } from '../../wire/odcs/from-dcs.ts'
import { DocumentRefusal } from '../../wire/odcs/problem.ts'
import { readDocument } from '../../wire/odcs/read-document.ts'
import { exitStatus, reportFailure, UsageError } from '../exit-status.ts'
import type { Terminal } from '../terminal.ts'
import { contractIdPattern, describeFileProblem } from './contract-files.ts'
import { writeWhole } from './plan-file.ts'

const help = `Usage: covenant import dcs FILE|FOLDER … [--to FOLDER] [--overwrite] [--json]

Converts documents of the Data Contract Specification 0.9 and 1.x to the Open Data Contract Standard 3.2, one file each,
named after its id. It asks no service. Of a folder, the YAML and JSON files in it and below it are read that say they
are of that specification. What the standard has no place for is a custom property of the same name. A document without
a status is a draft, and none names a table yet: add it under customProperties, then \`covenant validate\`.

  --to FOLDER   where the files go; default \`contracts\`
  --overwrite   writes over files that say something else

Exit status: 0 done, 1 a document was refused or its file left, 64 wrong usage.`

interface Imported {
  readonly from: string
  readonly file?: string
  /** `differs`: the file says something else, and was left. */
  readonly outcome: 'written' | 'kept' | 'differs' | 'refused'
  readonly problems: readonly string[]
}

/** Files of one run. */
const filesMax = 5_000

/**
 * Runs `covenant import`. It never throws.
 * @returns the exit status
 */
export async function importContracts(words: readonly string[], terminal: Terminal): Promise<number> {
  if (words.includes('--help')) {
    terminal.print(help)
    return exitStatus.done
  }
  try {
    const { places, to, overwrite, json } = readWords(words)
    const done: Imported[] = []
    for (const source of await filesOf(places)) {
      const one = await importFile(source, to, overwrite, done)
      if (one === undefined) continue
      done.push(one)
      for (const problem of one.problems) terminal.complain(problem)
      if (!json && one.file !== undefined)
        terminal.print(`${one.outcome.padEnd(8)}${one.file}  (${one.from})`)
    }
    if (done.length === 0) throw new UsageError('No document of the Data Contract Specification is there')
    if (json) terminal.print(JSON.stringify({ documents: done }, undefined, 2))
    const left = done.filter(({ outcome }) => outcome === 'differs').length
    if (left > 0) terminal.complain('Some files say something else and were left; --overwrite writes them.')
    const isWhole = done.every(({ outcome }) => outcome === 'written' || outcome === 'kept')
    return isWhole ? exitStatus.done : exitStatus.failed
  } catch (error) {
    return reportFailure(error, 'covenant import', terminal)
  }
}

function readWords(words: readonly string[]) {
  const options = {
    to: { type: 'string' },
    overwrite: { type: 'boolean' },
    json: { type: 'boolean' },
  } as const
  let read: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>
  try {
    read = parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch {
    throw new UsageError('A flag is not one of --to, --overwrite and --json')
  }
  const [format, ...places] = read.positionals
  if (format !== 'dcs') throw new UsageError('Name what is imported: dcs')
  if (places.length === 0) throw new UsageError('Name the files or folders to import')
  if (read.values.to === '') throw new UsageError('--to is empty')
  const { to = 'contracts', overwrite = false, json = false } = read.values
  return { places, to, overwrite, json }
}

interface Source {
  readonly path: string
  /** Whether it was named itself; files of a folder may be of another kind. */
  readonly isNamed: boolean
}

async function filesOf(places: readonly string[]): Promise<readonly Source[]> {
  const found: Source[] = []
  for (const place of places) {
    const there = await stat(place).catch(() => undefined)
    if (there === undefined) throw new UsageError('A file or folder that is named is not there')
    if (!there.isDirectory()) found.push({ path: place, isNamed: true })
    else
      for await (const path of new Glob('**/*.{yaml,yml,json}').scan({ cwd: place, followSymlinks: false }))
        found.push({ path: join(place, path), isNamed: false })
    if (found.length > filesMax) throw new UsageError(`At most ${filesMax} files are read in one run`)
  }
  return found
}

async function importFile(
  { path: from, isNamed }: Source,
  to: string,
  overwrite: boolean,
  done: readonly Imported[],
): Promise<Imported | undefined> {
  const refused = (...problems: string[]): Imported => ({ from, outcome: 'refused', problems })
  const stored = Bun.file(from)
  if (stored.size > limits.contractDocumentBytesMax)
    return refused(`${from}: error: The document is larger than ${limits.contractDocumentBytesMax} bytes.`)
  const sent = await stored.bytes()
  let bytes: Uint8Array
  let id: string
  try {
    const document = readDocument(sent, from.endsWith('.json') ? 'json' : 'yaml')
    if (!isDcs(document))
      return isNamed ? refused(`${from}: error: It has no dataContractSpecification.`) : undefined
    bytes = fromDcs(document)
    id = String(document.value.get('id'))
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal)) throw thrown
    if (!isNamed && !new TextDecoder().decode(sent).includes('dataContractSpecification')) return undefined
    return refused(
      ...thrown.problems.map((problem) => describeFileProblem({ ...problem, file: from, severity: 'error' })),
    )
  }
  const name = contractIdPattern.test(id) ? id : basename(from).replace(/(\.odcs)?\.\w+$/, '')
  const file = join(to, `${name}.odcs.yaml`)
  if (done.some((one) => one.file === file))
    return refused(`${from}: error: Another document of this run is also named ${name}.`)
  const present = await Bun.file(file)
    .bytes()
    .catch(() => undefined)
  if (present !== undefined && Buffer.compare(present, bytes) === 0)
    return { from, file, outcome: 'kept', problems: [] }
  if (present !== undefined && !overwrite) return { from, file, outcome: 'differs', problems: [] }
  await mkdir(to, { recursive: true })
  await writeWhole(file, bytes)
  return { from, file, outcome: 'written', problems: [] }
}
