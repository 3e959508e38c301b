/** Reads a folder of contract documents, and says what is wrong with each, by file, line and column. It asks no service. */

import { join } from 'node:path'
import { Glob } from 'bun'
import { parseVersion } from '../../contract/classify/judge-change.ts'
import { performContractTask } from '../../contract/policy-tests/perform-task.ts'
import { limits } from '../../limits.ts'
import type { ReadDocument } from '../../wire/odcs/document-task.ts'
import { type ContractModel, shadowDays } from '../../wire/odcs/model.ts'
import type { DocumentProblem } from '../../wire/odcs/problem.ts'
import {
  type ContractDocument,
  type DocumentFormat,
  placeOf,
  readDocument,
} from '../../wire/odcs/read-document.ts'
import { UsageError } from '../exit-status.ts'

export interface ContractFile {
  /** As the user names it: the folder, and the path below it. */
  readonly file: string
  readonly id: string
  readonly version: string
  readonly format: DocumentFormat
  readonly bytes: Uint8Array
  /** Hex. */
  readonly sha256: string
  readonly document: ContractDocument
  readonly model: ContractModel
}

interface FileProblem extends DocumentProblem {
  readonly file: string
  /** A warning keeps nothing from being applied. */
  readonly severity: 'error' | 'warning'
}

export interface ContractFolder {
  readonly files: readonly ContractFile[]
  readonly problems: readonly FileProblem[]
}

/** Files of one folder. */
const filesMax = 5_000
const pattern = '**/*.odcs.{yaml,yml,json}'

/**
 * Reads the contract documents in a folder and below it. Links are not followed.
 * @throws UsageError where there is no such folder, or it holds too many; Error where it holds none and may not
 */
export async function readContractFolder(
  folder: string,
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): Promise<ContractFolder> {
  const paths = await pathsIn(folder, mayBeEmpty)
  const files: ContractFile[] = []
  const problems: FileProblem[] = []
  for (const path of paths) {
    const found = await readContractFile(path)
    if (found.contract !== undefined) files.push(found.contract)
    problems.push(...found.problems)
  }
  for (const { id, file } of files) {
    const first = files.find((one) => one.id === id)
    if (first !== undefined && first.file !== file)
      problems.push({ file, severity: 'error', message: `The contract ${id} is also in ${first.file}` })
  }
  return { files, problems }
}

async function pathsIn(folder: string, mayBeEmpty: boolean): Promise<readonly string[]> {
  const found: string[] = []
  try {
    for await (const path of new Glob(pattern).scan({ cwd: folder, followSymlinks: false })) {
      found.push(path)
      if (found.length > filesMax) break
    }
  } catch {
    throw new UsageError('There is no such folder of contracts; name one that can be read')
  }
  if (found.length > filesMax)
    throw new UsageError(`A folder may hold ${filesMax} contracts; name a smaller one`)
  if (found.length === 0 && !mayBeEmpty)
    throw new Error(
      `No contract document is in the folder ${folder}: their files are named *.odcs.yaml, .yml or .json.`,
    )
  return found.toSorted().map((path) => join(folder, path))
}

async function readContractFile(
  file: string,
): Promise<{ readonly contract?: ContractFile; readonly problems: readonly FileProblem[] }> {
  const error = (message: string) => ({ problems: [{ file, severity: 'error' as const, message }] })
  const stored = Bun.file(file)
  if (stored.size > limits.contractDocumentBytesMax)
    return error(`The document is larger than ${limits.contractDocumentBytesMax} bytes`)
  const bytes = await stored.bytes().catch(() => undefined)
  if (bytes === undefined) return error('The file cannot be read')
  const format = file.endsWith('.json') ? 'json' : 'yaml'
  const outcome = performContractTask({ kind: 'read', bytes, format })
  if (outcome.kind === 'refused')
    return { problems: outcome.problems.map((problem) => ({ ...problem, file, severity: 'error' })) }
  if (outcome.kind !== 'read') return error('The document cannot be read')
  const document = readDocument(bytes, format)
  const { id, version } = outcome.read.model
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  return {
    contract: { file, id, version, format, bytes, sha256, document, model: outcome.read.model },
    problems: adviceOn(file, document, outcome.read),
  }
}

/** What the id of a contract may be, which also names its file. */
export const contractIdPattern = /^[A-Za-z0-9_.:-]{1,255}$/

/** What the standard allows, and the service would refuse or not enforce. */
function adviceOn(
  file: string,
  document: ContractDocument,
  { model, fields }: ReadDocument,
): readonly FileProblem[] {
  const at = (steps: readonly string[], severity: FileProblem['severity'], message: string): FileProblem => {
    return { file, ...placeOf(document, steps), severity, message }
  }
  const found = (model.failedTests ?? []).map((test) => at([], 'error', `The policy test fails: ${test}`))
  if (!contractIdPattern.test(model.id))
    found.push(at(['id'], 'error', 'The id must have 1 to 255 characters: letters, digits and _ . : -'))
  if (parseVersion(model.version) === undefined)
    found.push(
      at(['version'], 'error', `The version ${model.version} is no version number of one to three parts`),
    )
  if (model.apiVersion.startsWith('v2'))
    found.push(at(['apiVersion'], 'warning', 'Nothing of a document of 2.2 is read; move it to 3.2'))
  for (const [index, { name, table }] of model.schemas.entries())
    if (table === undefined)
      found.push(
        at(['schema', String(index)], 'warning', `The object ${name} names no table, so it governs nothing`),
      )
  if (model.consumers === undefined && model.schemas.some(({ table }) => table !== undefined))
    found.push(
      at([], 'warning', 'The document names no consumers, so a plan cannot say whom a change breaks'),
    )
  if (fields.some(({ afterDays }) => afterDays !== undefined))
    found.push(
      at(
        [],
        'warning',
        `Commits that break the document are recorded for ${shadowDays} days after it begins to govern a table, and refused from then on. Its custom property covenant.mode says otherwise`,
      ),
    )
  for (const { path, outcome } of fields)
    if (outcome === 'ignored' && path.includes('customProperties.covenant.'))
      found.push(at([], 'warning', `${path} is kept, and nothing is done by it`))
  return found
}

/** The problem in one line, as compilers write them. */
export function describeFileProblem({ file, line, column, path, severity, message }: FileProblem): string {
  const place = line === undefined ? '' : `:${line}:${column}`
  const at = line !== undefined || path === undefined || path === '' ? '' : `${path}: `
  return `${file}${place}: ${severity}: ${at}${message}.`
}
