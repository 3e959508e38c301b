/**
 * 218 public contract documents, 132 of ODCS 3.0 to 3.1 and 86 of the Data Contract Specification: each is accepted byte
 * for byte, or refused with true sentences. public-documents.jsonl has a line each: where it is published, the document
 * with its names and texts replaced and its long lists cut, and what it is refused for. `RECORD=1` writes the latter.
 */

import { expect, test } from 'bun:test'
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from '../../../src/base/json.ts'
import { performDocumentTask } from '../../../src/wire/odcs/document-task.ts'
import { fromDcs, isDcs } from '../../../src/wire/odcs/from-dcs.ts'
import { type DocumentProblem, DocumentRefusal } from '../../../src/wire/odcs/problem.ts'
import { readDocument } from '../../../src/wire/odcs/read-document.ts'
import { encode } from './fixtures.ts'

const file = new URL('public-documents.jsonl', import.meta.url)

interface Recorded {
  readonly source: string
  readonly refused?: readonly string[]
  readonly document: JsonObject
}

const recorded: readonly Recorded[] = (await Bun.file(file).text())
  .trim()
  .split('\n')
  .map((line) => {
    const read = parseJson(line)
    if (!isJsonObject(read)) throw new Error('a line is no object')
    return Object.fromEntries(read) as unknown as Recorded
  })

const spoken = (problems: readonly DocumentProblem[]) =>
  problems.map(({ path = '', message }) => `${path}: ${message}`)

/** What a document is refused for; undefined where it is accepted, with the bytes that were sent. */
function refusalOf(sent: Uint8Array, format: 'json' | 'yaml'): readonly string[] | undefined {
  const outcome = performDocumentTask({ kind: 'read', bytes: sent, format })
  if (outcome.kind === 'refused') return spoken(outcome.problems)
  if (outcome.kind !== 'read') throw new Error(outcome.kind)
  expect(outcome.read.bytes).toEqual(sent)
  return undefined
}

function outcomeOf({ document }: Recorded): readonly string[] | undefined {
  const bytes = encode(stringifyJson(document))
  const read = readDocument(bytes, 'json')
  if (!isDcs(read)) return refusalOf(bytes, 'json')
  try {
    return refusalOf(fromDcs(read), 'yaml')
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal)) throw thrown
    return spoken(thrown.problems)
  }
}

test('public documents are accepted byte for byte, or refused for what is recorded', async () => {
  const found = recorded.map((one) => ({ source: one.source, refused: outcomeOf(one) }))
  if (process.env.RECORD !== undefined)
    await Bun.write(
      file,
      recorded
        .map(({ source, document }, index) => {
          const refused = found[index]?.refused
          return `${stringifyJson(new Map<string, never>(Object.entries({ source, ...(refused !== undefined && { refused }), document }) as never))}\n`
        })
        .join(''),
    )
  else expect(found).toEqual(recorded.map(({ source, refused }) => ({ source, refused })))
  expect(recorded.length).toBeGreaterThanOrEqual(200)
  expect(found.filter(({ refused }) => refused === undefined).length).toBeGreaterThan(180)
}, 120_000)
