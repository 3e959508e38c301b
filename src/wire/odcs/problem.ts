/** What is wrong with a contract document, and where. */

/** Lines and columns count from 1; absent where the place is known by its path only. */
export interface DocumentProblem {
  readonly line?: number
  readonly column?: number
  /** JSON Pointer (RFC 6901) into the document. */
  readonly path?: string
  /** One sentence without a full stop. */
  readonly message: string
}

/** Refuses a document, with everything that is wrong with it. */
export class DocumentRefusal extends Error {
  override readonly name = 'DocumentRefusal'

  constructor(readonly problems: readonly DocumentProblem[]) {
    super(problems.map(describeProblem).join(' '))
  }
}

/** The problem as one sentence. */
export function describeProblem({ line, column, path, message }: DocumentProblem): string {
  const place = line === undefined ? '' : `Line ${line}, column ${column}: `
  const at = path === undefined || path === '' ? '' : `${path}: `
  return `${place}${at}${message}.`
}
