/** Runs a verb by name on a running service: finds it, sends its operation, and shows the result as text or JSON. */

import { Fault } from '../../base/fault.ts'
import { openServed } from '../ask-service.ts'
import { exitStatus, reportFailure, UsageError } from '../exit-status.ts'
import { assertRequired, type FileBody, fileBytes, flagOf, memberValue } from '../member-values.ts'
import { findOperation, membersOf, type ServedOperation, servedOperations } from '../served-operations.ts'
import { serviceAddress } from '../service-address.ts'
import type { Terminal } from '../terminal.ts'
import { fieldsText, listText } from '../text-table.ts'
import { groupHelp, verbHelp } from './named-help.ts'
import type { NamedVerb, ReadWords } from './named-verb.ts'
import { findNamed, namedVerbs } from './named-verbs.ts'
import { readNamedWords } from './read-words.ts'

/**
 * Runs the verb. It never throws.
 * @param words all words after `covenant`
 * @returns the exit status
 */
export async function runNamed(words: readonly string[], terminal: Terminal): Promise<number> {
  const [group = ''] = words
  const inGroup = namedVerbs.filter((verb) => `${verb.words} `.startsWith(`${group} `))
  const verb = findNamed(words)
  if (verb === undefined) return helpOfGroup(words, inGroup, terminal)
  const rest = words.slice(verb.words.split(' ').length)
  if (rest.includes('--help')) {
    const isGroup = inGroup.length > 1 && verb.words === group
    terminal.print(isGroup ? `${verbHelp(verb)}\n\n${groupHelp(group, inGroup.slice(1))}` : verbHelp(verb))
    return exitStatus.done
  }
  try {
    await run(verb, rest, terminal)
    return exitStatus.done
  } catch (error) {
    return reportFailure(error, `covenant ${verb.words}`, terminal)
  }
}

/** The help of all verbs below the words that are written so far. */
function helpOfGroup(words: readonly string[], inGroup: readonly NamedVerb[], terminal: Terminal): number {
  const named = words.filter((word) => !word.startsWith('-'))
  const below = inGroup.filter((verb) => `${verb.words} `.startsWith(`${named.join(' ')} `))
  const [group = ''] = words
  if (below.length > 0 && (named.length === words.length || words.includes('--help'))) {
    terminal.print(groupHelp(named.join(' '), below))
    return words.includes('--help') ? exitStatus.done : exitStatus.usage
  }
  const next = [...new Set(inGroup.map((verb) => verb.words.split(' ')[1]))].join(', ')
  return reportFailure(new UsageError(`\`${group}\` is followed by ${next}`), `covenant ${group}`, terminal)
}

async function run(verb: NamedVerb, words: readonly string[], terminal: Terminal): Promise<void> {
  const read = readNamedWords(verb, words)
  if (verb.runs !== undefined) return await verb.runs(read, terminal)
  const service = await serviceAddress(read, terminal.env)
  if (service === undefined) throw new UsageError('Name the service with --url or COVENANT_URL')
  const signal = terminal.interrupted?.()
  const operation = findOperation(await servedOperations(service, signal), verb.operation)
  if (operation === undefined)
    throw new Fault('unprocessable', 'This service has no such operation: it is of another version.')
  const body = await bodyOf(read, operation, terminal)
  const input = await inputOf(verb, read, operation, terminal)
  const inBody = membersOf(operation).some(({ name, place }) => place === 'body' && input.has(name))
  if (body !== undefined && inBody) throw new UsageError('FILE and a flag are both the body')
  assertRequired(operation, input, body !== undefined)
  const send = openServed(service, operation, signal)
  if (verb.lists === 'pages') return await showPages(verb, read, input, send, terminal)
  const { text, value } = await send(input, body)
  if (read.json) {
    if (value !== undefined) terminal.print(JSON.stringify(value, undefined, 2))
    else if (text !== '') terminal.print(text)
  } else if (value === undefined) terminal.print(text === '' ? 'Done.' : text)
  else terminal.print(resultText(verb, value))
}

function resultText({ text, lists, columns }: NamedVerb, value: unknown): string {
  if (text !== undefined) return text(value)
  const { items } = value as { readonly items?: readonly unknown[] }
  if (lists === 'whole' && Array.isArray(items)) return listText(items, columns)
  return fieldsText(value as Readonly<Record<string, unknown>>)
}

interface Page {
  readonly items: readonly unknown[]
  readonly next_page_token?: string
}

/** Items of one page as the service makes it; with --limit or --all those of as many as that takes. */
async function showPages(
  verb: NamedVerb,
  { limit, all, json, pageToken }: ReadWords,
  input: ReadonlyMap<string, unknown>,
  send: ReturnType<typeof openServed>,
  { print, complain }: Terminal,
): Promise<void> {
  const items: unknown[] = []
  let token = pageToken
  let last: Page
  do {
    const left = limit === undefined ? undefined : limit - items.length
    const size = all ? 1000 : left === undefined ? undefined : Math.min(left, 1000)
    const more = [['limit', size] as const, ['page_token', token] as const]
    const asked = new Map([...input, ...more.filter(([, value]) => value !== undefined)])
    last = (await send(asked, undefined)).value as Page
    if (!Array.isArray(last?.items)) throw new UsageError(`${verb.operation} has no pages`)
    items.push(...last.items)
    if (last.next_page_token !== undefined && last.next_page_token === token)
      throw new Fault('internal', 'The service answered one page twice.')
    token = last.next_page_token
  } while (token !== undefined && (all || (limit !== undefined && items.length < limit)))
  if (json) {
    print(JSON.stringify({ ...last, items }, undefined, 2))
    return
  }
  print(listText(items, verb.columns))
  if (token !== undefined) complain(`There are more: add --all, or --page-token ${token}`)
}

async function inputOf(
  verb: NamedVerb,
  { places, flags }: ReadWords,
  operation: ServedOperation,
  { stdin }: Terminal,
): Promise<Map<string, unknown>> {
  const members = membersOf(operation)
  const input = new Map<string, unknown>(Object.entries(verb.fixed ?? {}))
  const set = (name: string, value: string) => {
    const [target = '', part] = (verb.members?.[name] ?? name).split('.')
    const wanted = flagOf(target)
    const member = members.find((one) => flagOf(one.name) === wanted)
    if (member === undefined)
      throw new Fault('unprocessable', `This service does not take ${name}: it is of another version.`)
    if (part === undefined) input.set(member.name, memberValue(member, value))
    else {
      const whole = input.get(member.name) as object | undefined
      const items = value.split(',').filter((item) => item !== '')
      input.set(member.name, { ...whole, [part]: part === 'roles' ? items : value })
    }
  }
  const setTable = (text: string, place: string, hasCatalog: boolean) => {
    const parts = text.split('.')
    const least = hasCatalog ? 3 : 2
    if (parts.length < least || parts.includes(''))
      throw new UsageError(`${place} must be ${hasCatalog ? 'catalog.' : ''}namespace.table`)
    if (hasCatalog) set('catalog', parts.shift() ?? '')
    const name = parts.pop() ?? ''
    const whole = members.find((one) => one.name === 'table')
    if (whole?.place === 'body' && whole.type !== 'string') input.set('table', { namespace: parts, name })
    else {
      set('namespace', parts.join('.'))
      set('table', name)
    }
  }
  for (const [place, value] of places) {
    if (place === 'FILE') continue
    if (place === 'TABLE' || place === 'CATALOG.TABLE') setTable(value, place, place !== 'TABLE')
    else set(place.toLowerCase(), place === 'STATEMENT' && value === '-' ? await stdin() : value)
  }
  for (const [flag, value] of flags) {
    if (flag === 'table') setTable(value, '--table', false)
    else set(flag, value)
  }
  return input
}

/** The body that FILE names. Its type is that of the name; a document without one is JSON where it begins with `{`. */
async function bodyOf(
  { places }: ReadWords,
  { media }: ServedOperation,
  { stdin }: Terminal,
): Promise<FileBody | undefined> {
  const file = places.get('FILE')
  if (file === undefined) return undefined
  const bytes = await fileBytes(file, stdin, 'FILE')
  const isJson = /\.json$/.test(file) || (file === '-' && /^\s*[[{]/.test(Buffer.from(bytes).toString()))
  const [first = 'application/json'] = media
  const wanted = isJson ? media.find((type) => /json/.test(type)) : media.find((type) => /yaml/.test(type))
  return { bytes, type: wanted ?? first }
}
