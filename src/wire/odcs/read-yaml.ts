/**
 * Reads one YAML document as JSON values, strictly: YAML 1.2 core schema, exact integers, and nothing by which the text
 * could mean more than it shows. Refused with line and column: several documents, directives, tags, merge keys,
 * duplicate keys, keys that are not scalars, too many aliases, too great a depth.
 */

import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
} from 'yaml'
import type { JsonValue } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import { DocumentRefusal } from './problem.ts'

export interface YamlText {
  readonly document: Document
  readonly value: JsonValue
  /** Line and column of an offset, from 1. */
  readonly place: (offset: number) => { readonly line: number; readonly column: number }
}

/** Values that aliases may add to the written ones: without a bound, a hundred aliases could repeat a large list. */
const aliasedValuesMax = 100_000

/** Reads a text. @throws DocumentRefusal */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter()
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const refuse = (offset: number, message: string): never => {
    throw new DocumentRefusal([{ ...place(offset), message }])
  }
  countKeys(text)
  scan(text, lines, refuse)
  const document = compose(text, refuse, {
    version: '1.2',
    schema: 'core',
    merge: false,
    intAsBigInt: true,
    // The library compares each key with all before it; the reader below looks in a Map.
    uniqueKeys: false,
    strict: true,
    prettyErrors: false,
    logLevel: 'error',
    keepSourceTokens: true,
  })
  const [error] = document.errors
  if (error !== undefined) refuse(error.pos[0], sentence(error.message))
  const [warning] = document.warnings
  if (warning !== undefined) refuse(warning.pos[0], sentence(warning.message))
  return { document, value: new Reader(document, refuse).read(), place }
}

/** The one document of a text that was scanned. */
function compose(
  text: string,
  refuse: (offset: number, message: string) => never,
  options: ConstructorParameters<typeof Composer>[0],
): Document {
  const tokens = tokensOf(new Parser(), lexerOfQuotes(), text)
  const [document, another] = [...new Composer(options).compose(tokens, true, text.length)]
  if (another !== undefined) refuse(another.range[0], 'The text must hold one document only')
  // With `true` the composer ends with a document, if an empty one.
  return document as Document
}

function* tokensOf(parser: Parser, lexer: Lexer, text: string): ReturnType<Parser['parse']> {
  for (const lexeme of lexer.lex(text)) yield* parser.next(lexeme)
  yield* parser.end()
}

/**
 * A lexer that reads quoted text whose lines begin at the column of its key, as PyYAML writes it and every common
 * parser reads it. YAML asks for one column more, and so does the library, which has no setting for it.
 */
function lexerOfQuotes(): Lexer {
  const lexer = new Lexer()
  const inner = lexer as unknown as {
    indentNext: number
    parseQuotedScalar: () => Generator<string, unknown>
  }
  const parse = inner.parseQuotedScalar.bind(lexer)
  inner.parseQuotedScalar = function* () {
    inner.indentNext -= 1
    const next = yield* parse()
    inner.indentNext += 1
    return next
  }
  return lexer
}

const sentence = (message: string) => message.split('\n')[0]?.replace(/\.$/, '') ?? message

/** A colon that may end a key. One in prose counts too, so that nothing has to be read to count them. */
const keyEnd = /:(?=[\s[{"'&*!]|$)|(?<=["']):/g

/** @throws DocumentRefusal where there are more keys than are read: each costs its time, whatever it says */
function countKeys(text: string): void {
  let keys = 0
  for (const { index } of text.matchAll(keyEnd)) {
    if (++keys <= limits.documentKeysMax) continue
    const before = text.slice(0, index)
    const [line, column] = [before.split('\n').length, index - before.lastIndexOf('\n')]
    const message = `The document has more than ${limits.documentKeysMax} keys`
    throw new DocumentRefusal([{ line, column, message }])
  }
}

/** Goes over the tokens, before anything recursive sees the text. */
function scan(text: string, lines: LineCounter, refuse: (offset: number, message: string) => never): void {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let documents = 0
  for (const lexeme of lexerOfQuotes().lex(text)) {
    const at = parser.offset
    for (const token of parser.next(lexeme)) if (token.type === 'document') documents += 1
    if (parser.stack.length > limits.contractDocumentDepthMax + 2)
      refuse(at, `The document is deeper than ${limits.contractDocumentDepthMax} levels`)
    if (lexeme.startsWith('%') && parser.stack.length <= 1) refuse(at, 'Directives are not supported')
    if (lexeme.startsWith('!')) refuseTag(parser, lexeme, at, refuse)
    if (documents > 0 && lexeme === '---') refuse(at, 'The text must hold one document only')
  }
}

/** A lexeme that begins with `!` is a tag unless it is the text of a scalar. */
function refuseTag(
  parser: Parser,
  lexeme: string,
  at: number,
  refuse: (offset: number, message: string) => never,
): void {
  const { type, source } = parser as unknown as { readonly type: string; readonly source: string }
  if (type === 'tag' && source === lexeme) refuse(at, 'Tags are not supported')
}

class Reader {
  #expansions = 0
  #aliased = 0

  constructor(
    private readonly document: Document,
    private readonly refuse: (offset: number, message: string) => never,
  ) {}

  read(): JsonValue {
    return this.#value(this.document.contents as Node | null, 0, undefined)
  }

  /** @param alias where the alias is by which the node was reached */
  #value(node: Node | null | undefined, depth: number, alias: number | undefined): JsonValue {
    const at = alias ?? node?.range?.[0] ?? 0
    if (depth > limits.contractDocumentDepthMax)
      this.refuse(at, `The document is deeper than ${limits.contractDocumentDepthMax} levels`)
    if (alias !== undefined && ++this.#aliased > aliasedValuesMax)
      this.refuse(at, 'Aliases repeat more than can be read')
    if (node === null || node === undefined) return null
    if (isAlias(node)) {
      if (++this.#expansions > limits.contractDocumentAliasesMax)
        this.refuse(at, `Aliases are expanded more than ${limits.contractDocumentAliasesMax} times`)
      return this.#value(node.resolve(this.document), depth, at)
    }
    if (isScalar(node)) return this.#scalar(node.value, at)
    if (isSeq(node)) return node.items.map((item) => this.#value(item as Node | null, depth + 1, alias))
    if (isMap(node)) return this.#map(node, depth, alias)
    return this.refuse(at, 'This is neither a mapping, a list nor a scalar')
  }

  #map(
    node: { readonly items: readonly { readonly key: unknown; readonly value: unknown }[] },
    depth: number,
    alias: number | undefined,
  ): JsonValue {
    const members = new Map<string, JsonValue>()
    for (const { key, value } of node.items) {
      const at = alias ?? (key as Node | null)?.range?.[0] ?? 0
      if (!isScalar(key)) return this.refuse(at, 'A key must be a scalar')
      const name = String(key.value)
      if (name === '<<' && key.type === 'PLAIN') this.refuse(at, 'Merge keys are not supported')
      if (members.has(name)) this.refuse(at, `The key ${name} is there twice`)
      members.set(name, this.#value(value as Node | null, depth + 1, alias))
    }
    return members
  }

  #scalar(value: unknown, at: number): JsonValue {
    if (typeof value === 'number' && !Number.isFinite(value))
      return this.refuse(at, 'A number must be finite')
    if (value === null || value === undefined) return null
    if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return value as JsonValue
    return this.refuse(at, 'A value of this kind is not supported')
  }
}
