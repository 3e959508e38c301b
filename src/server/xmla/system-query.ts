/**
 * Reads queries of the form `SELECT columns FROM $system.ROWSET WHERE …`, with which Power BI asks for rowsets by
 * Execute. Only equality joined by AND is served, because that is what a restriction can say.
 */

import { Fault } from '../../base/fault.ts'

interface SystemQuery {
  readonly rowset: string
  /** Names of columns; undefined for all. */
  readonly columns: readonly string[] | undefined
  readonly where: readonly { readonly column: string; readonly value: SystemValue }[]
}

export type SystemValue =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string }

/** Whether a statement is such a query, well formed or not. */
export function isSystemQuery(text: string): boolean {
  return /^\s*select\b[^;]*?\bfrom\s+\[?\$system\]?\s*\./is.test(text)
}

interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'parameter' | 'sign'
  readonly text: string
}

const tokenPattern =
  /\s*(?:(\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*")|('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)|@([A-Za-z_]\w*)|([A-Za-z_$][\w$]*)|([=,.*()]))/y

const tokensMax = 500

/** @throws Fault `bad_request` for any other statement */
export function readSystemQuery(text: string): SystemQuery {
  const tokens = tokensOf(text)
  let at = 0
  const isWord = (word: string) => {
    const token = tokens[at]
    return token?.kind === 'word' && token.text.toLowerCase() === word
  }
  const take = (isMeant: boolean): void => {
    if (!isMeant) throw unreadable()
    at++
  }
  const takeSign = (sign: string) => take(tokens[at]?.kind === 'sign' && tokens[at]?.text === sign)
  const name = (): string => {
    const token = tokens[at]
    take(token?.kind === 'word' || token?.kind === 'name')
    return token?.text ?? ''
  }
  take(isWord('select'))
  if (isWord('distinct')) at++
  let columns: string[] | undefined
  if (tokens[at]?.text === '*') at++
  else {
    columns = [name()]
    while (tokens[at]?.text === ',') {
      at++
      columns.push(name())
    }
  }
  take(isWord('from'))
  if (name().toLowerCase() !== '$system') throw unreadable()
  takeSign('.')
  const rowset = name()
  const where: SystemQuery['where'][number][] = []
  const condition = () => {
    // Clients put brackets around one condition, and around all of them.
    const isOpen = tokens[at]?.kind === 'sign' && tokens[at]?.text === '('
    if (isOpen) at++
    if (isOpen) conditions()
    else {
      const column = name()
      takeSign('=')
      where.push({ column, value: value() })
    }
    if (isOpen) takeSign(')')
  }
  const conditions = () => {
    condition()
    while (isWord('and')) {
      at++
      condition()
    }
  }
  const value = (): SystemValue => {
    const token = tokens[at]
    if (token?.kind === 'word') take(['true', 'false'].includes(token.text.toLowerCase()))
    else take(token !== undefined && ['text', 'number', 'parameter'].includes(token.kind))
    return token?.kind === 'parameter'
      ? { kind: 'parameter', name: token.text }
      : { kind: 'literal', text: token?.kind === 'word' ? token.text.toLowerCase() : (token?.text ?? '') }
  }
  if (isWord('where')) {
    at++
    conditions()
  }
  if (at < tokens.length) throw unreadable()
  return { rowset, columns, where }
}

function unreadable(): Fault {
  return new Fault(
    'bad_request',
    'Of queries on $system, this form is served: SELECT columns FROM $system.NAME WHERE column = value AND …',
  )
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  const end = text.trimEnd().replace(/;$/, '').length
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < end) {
    const found = tokenPattern.exec(text)
    if (found === null || tokens.length === tokensMax) throw unreadable()
    const [, name, quoted, number, parameter, word, sign] = found
    if (name !== undefined) tokens.push({ kind: 'name', text: unquoted(name) })
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: unquoted(quoted) })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else if (parameter !== undefined) tokens.push({ kind: 'parameter', text: parameter })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else tokens.push({ kind: 'sign', text: sign ?? '' })
  }
  return tokens
}

function unquoted(text: string): string {
  const last = text.at(-1) ?? ''
  return text.slice(1, -1).replaceAll(last + last, last)
}
