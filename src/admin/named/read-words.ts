/** Reads the words and flags of a verb by name, by its usage. A refusal repeats no value, which may be a secret. */

import type { ParseArgsOptionsConfig } from 'node:util'
import { UsageError } from '../exit-status.ts'
import { parseWords } from '../parse-words.ts'
import type { NamedVerb, ReadWords } from './named-verb.ts'

/** Flags of every verb by name, and those of each that lists pages. */
const commonFlags = ['url', 'session-file'] as const
const pageFlags = ['limit', 'page-token'] as const

export const commonUsage = '[--json] [--url URL] [--session-file FILE] [--profile NAME]'
export const pageUsage = '[--limit N] [--all] [--page-token TOKEN]'

/** Items that `--limit` may ask for. */
const itemsMax = 100_000

/** The flags of a usage; whether each takes a value. */
function flagsOf(usage: string): ReadonlyMap<string, boolean> {
  const found = usage.matchAll(/--([a-z][a-z0-9-]*)( [^\s[\]]+)?/g)
  return new Map([...found].map(([, name = '', value]) => [name, value !== undefined]))
}

/** The words of a usage in their order, and whether each must be there. */
export function placesOf(usage: string): readonly { readonly name: string; readonly required: boolean }[] {
  const words = usage.replaceAll(/\[?--[a-z][a-z0-9-]*( [^\s[\]]+)?\]?/g, '').split(' ')
  return words
    .filter((word) => word !== '')
    .map((word) => ({ name: word.replaceAll(/[[\]]/g, ''), required: !word.startsWith('[') }))
}

/** @throws UsageError for a word too many or too few, and a flag that is unknown, empty or there twice */
export function readNamedWords(verb: NamedVerb, words: readonly string[]): ReadWords {
  const own = flagsOf(verb.usage)
  const pages = verb.lists === 'pages'
  const valued = [...own].filter(([, takesValue]) => takesValue).map(([name]) => name)
  const switches = [...own].filter(([, takesValue]) => !takesValue).map(([name]) => name)
  const options: ParseArgsOptionsConfig = Object.fromEntries([
    ...[...valued, ...commonFlags, ...(pages ? pageFlags : [])].map((name) => [name, { type: 'string' }]),
    ...[...switches, 'json', ...(pages ? ['all'] : [])].map((name) => [name, { type: 'boolean' }]),
  ])
  const { values, positionals, tokens } = parseWords(words, options)
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))
  const repeated = given.find((name, index) => given.indexOf(name) < index)
  if (repeated !== undefined) throw new UsageError(`--${repeated} is there twice`)
  const empty = Object.entries(values).find(([, value]) => value === '')
  if (empty !== undefined) throw new UsageError(`--${empty[0]} is empty`)
  const places = placesOf(verb.usage)
  const isOpen = places.at(-1)?.name.endsWith('…') ?? false
  if (positionals.length > places.length && !isOpen)
    throw new UsageError(
      places.length === 0
        ? `\`${verb.words}\` is followed by flags only`
        : `\`${verb.words}\` takes ${places.map(({ name }) => name).join(' ')} and no further word`,
    )
  const missing = places[positionals.length]
  if (missing?.required) throw new UsageError(`${missing.name} is missing`)
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)
  return {
    rest: positionals,
    places: new Map(positionals.map((word, at) => [places[at]?.name ?? '', word])),
    flags: new Map([
      ...valued.flatMap((name) => {
        const value = text(name)
        return value === undefined ? [] : [[name, value] as const]
      }),
      ...switches.flatMap((name) => (values[name] === true ? [[name, 'true'] as const] : [])),
    ]),
    json: values.json === true,
    all: values.all === true,
    limit: limitOf(text('limit'), values.all === true),
    pageToken: text('page-token'),
    ...{ url: text('url'), sessionFile: text('session-file') },
  }
}

function limitOf(given: string | undefined, all: boolean): number | undefined {
  if (given === undefined) return undefined
  if (all) throw new UsageError('--limit and --all do not go together')
  if (!/^[1-9]\d{0,5}$/.test(given) || Number(given) > itemsMax)
    throw new UsageError(`--limit must be a whole number from 1 to ${itemsMax}`)
  return Number(given)
}
