/**
 * Reads the documents of one import: of several files, or of one file of YAML with several documents. What two files define
 * is refused before anything of them is read further. Pointers lead into the file that they are of.
 */

import { type DocumentProblem, DocumentRefusal } from '../../wire/odcs/problem.ts'
import { plainValue, readDocument } from '../../wire/odcs/read-document.ts'
import { type SemanticDraft, withPointers } from './draft.ts'
import type { Plain } from './members.ts'

export interface SourceFile {
  /** Empty for a document without a name. */
  readonly name: string
  /** YAML or JSON. */
  readonly text: string
}

export interface SourceDocument {
  /** Before pointers into it: empty for a sole document. */
  readonly label: string
  readonly value: Plain
}

/** Every document of the files, those without a value left out. @throws DocumentRefusal that names the file */
export function readDocuments(files: readonly SourceFile[]): readonly SourceDocument[] {
  return files.flatMap(({ name, text }) => {
    const isJson = /^\s*[{[]/.test(text)
    const texts = isJson ? [text] : splitYaml(text)
    return texts.map((each, index) => {
      const label = [name, ...(texts.length > 1 ? [`(${index + 1})`] : [])]
        .filter((one) => one !== '')
        .join(' ')
      return { label, value: readOne(label, each, isJson) }
    })
  })
}

/** A marker at the begin of a line ends a document wherever it stands. Lines keep their numbers. */
function splitYaml(text: string): readonly string[] {
  const lines = text.split('\n')
  const starts = [0, ...lines.flatMap((line, index) => (/^---(?=\s|$)/.test(line) ? [index] : []))]
  const parts = starts.map((start, index) =>
    lines.map((line, at) => (at >= start && at < (starts[index + 1] ?? lines.length) ? line : '')).join('\n'),
  )
  const filled = parts.filter(hasValue)
  return filled.length > 0 ? filled : [text]
}

function hasValue(part: string): boolean {
  return part.split('\n').some((line) => line.replace(/^---/, '').replace(/#.*$/, '').trim() !== '')
}

function readOne(label: string, text: string, isJson: boolean): Plain {
  try {
    return plainValue(readDocument(new TextEncoder().encode(text), isJson ? 'json' : 'yaml').value) as Plain
  } catch (thrown) {
    if (!(thrown instanceof DocumentRefusal) || label === '') throw thrown
    throw new DocumentRefusal(
      thrown.problems.map((problem) => ({ ...problem, message: `${label}: ${problem.message}` })),
    )
  }
}

/** A pointer with the name of the document that it leads into. */
export function pointerIn(label: string, at: string): string {
  return label === '' ? at : `${label}#${at}`
}

/** @throws DocumentRefusal that names what two of the documents define */
export function assertOnce(
  defined: readonly { readonly label: string; readonly names: readonly string[] }[],
): void {
  const first = new Map<string, string>()
  const problems: DocumentProblem[] = []
  for (const { label, names } of defined)
    for (const name of new Set(names)) {
      const before = first.get(name)
      if (before === undefined) first.set(name, label)
      else problems.push({ message: `${name} is defined by ${before} and by ${label}` })
    }
  if (problems.length > 0) throw new DocumentRefusal(problems)
}

/** Several drafts as one. */
export function joined(drafts: readonly (readonly [label: string, draft: SemanticDraft])[]): SemanticDraft {
  const placed = drafts.map(([label, draft]) => withPointers(draft, (at) => pointerIn(label, at)))
  return {
    tables: placed.flatMap(({ tables }) => tables),
    metrics: placed.flatMap(({ metrics }) => metrics),
    notCarried: placed.flatMap(({ notCarried }) => notCarried),
    kept: placed.flatMap(({ kept }) => kept),
  }
}
