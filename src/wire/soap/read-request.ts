/** Reads an XMLA request from its SOAP envelope: the session, and what is discovered or executed. */

import { readXml, type XmlBounds, type XmlElement, XmlViolation } from './xml.ts'

/** A message that is not an XMLA request, or one that the service must not ignore a part of. */
export class SoapViolation extends Error {
  constructor(
    readonly code: 'Client' | 'MustUnderstand',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** What a message says of its session. */
export type SessionHeader =
  | { readonly kind: 'none' }
  | { readonly kind: 'begin' }
  | { readonly kind: 'use' | 'end'; readonly id: string }

interface DiscoverCall {
  readonly kind: 'discover'
  readonly requestType: string
  /** Values by column; several mean any of them. */
  readonly restrictions: Restrictions
  readonly properties: Properties
}

export type Restrictions = ReadonlyMap<string, readonly string[]>
/** Values by name in upper case, because clients write names in any case. */
export type Properties = ReadonlyMap<string, string>

export type Command =
  | { readonly kind: 'statement'; readonly text: string }
  | { readonly kind: 'cancel'; readonly of: CancelTarget }
  | { readonly kind: 'other'; readonly name: string }

/** Whose requests are to end; all that are given hold. Without any, those of the message's own session. */
export interface CancelTarget {
  readonly sessionId: string | undefined
  readonly spid: number | undefined
  readonly connectionId: number | undefined
}

interface ExecuteCall {
  readonly kind: 'execute'
  readonly command: Command
  readonly properties: Properties
  /** Values by name, without the `@`. */
  readonly parameters: ReadonlyMap<string, string>
}

export interface XmlaRequest {
  readonly session: SessionHeader
  readonly call: DiscoverCall | ExecuteCall
}

/** Headers that have no effect here, also where a client says that they must be understood. */
const ignoredHeaders = new Set(['NamespaceCompatibility', 'Version', 'ProtocolCapabilities', 'Impersonate'])

/** @throws SoapViolation */
export function readXmlaRequest(text: string, bounds: XmlBounds): XmlaRequest {
  const envelope = rootOf(text, bounds)
  if (envelope.name !== 'Envelope') throw malformed('The root element must be a SOAP envelope.')
  const [body, ...bodies] = named(envelope, 'Body')
  if (body === undefined || bodies.length > 0) throw malformed('The envelope needs one body.')
  const [method, ...methods] = body.children
  if (method === undefined || methods.length > 0) throw malformed('The body needs one method.')
  const session = sessionOf(named(envelope, 'Header').flatMap(({ children }) => children))
  const [properties] = named(method, 'Properties').flatMap((each) => named(each, 'PropertyList'))
  switch (method.name) {
    case 'Discover':
      return { session, call: discoverCall(method, propertiesOf(properties)) }
    case 'Execute':
      return { session, call: executeCall(method, propertiesOf(properties)) }
    default:
      throw malformed('Only Discover and Execute are served here.')
  }
}

function rootOf(text: string, bounds: XmlBounds): XmlElement {
  try {
    return readXml(text, bounds)
  } catch (thrown) {
    if (thrown instanceof XmlViolation) throw new SoapViolation('Client', thrown.message, { cause: thrown })
    throw thrown
  }
}

function malformed(message: string): SoapViolation {
  return new SoapViolation('Client', message)
}

function named({ children }: XmlElement, name: string): readonly XmlElement[] {
  return children.filter((child) => child.name === name)
}

function sessionOf(headers: readonly XmlElement[]): SessionHeader {
  const found: SessionHeader[] = []
  for (const { name, attributes } of headers) {
    const id = attributes.get('SessionId') ?? attributes.get('SessionID') ?? ''
    if (name === 'BeginSession') found.push({ kind: 'begin' })
    else if (name === 'Session') found.push({ kind: 'use', id })
    else if (name === 'EndSession') found.push({ kind: 'end', id })
    else if (!ignoredHeaders.has(name) && ['1', 'true'].includes(attributes.get('mustUnderstand') ?? ''))
      throw new SoapViolation('MustUnderstand', 'A header of the message is not understood.')
  }
  if (found.length > 1) throw malformed('A message has one session.')
  return found[0] ?? { kind: 'none' }
}

function propertiesOf(list: XmlElement | undefined): Properties {
  return new Map((list?.children ?? []).map(({ name, text }) => [name.toUpperCase(), text.trim()]))
}

function discoverCall(method: XmlElement, properties: Properties): DiscoverCall {
  const requestType = named(method, 'RequestType')[0]?.text.trim() ?? ''
  const lists = named(method, 'Restrictions').flatMap((each) => named(each, 'RestrictionList'))
  const restrictions = lists
    .flatMap(({ children }) => children)
    .map(({ name, text, children }) => {
      const values = children.length > 0 ? children.map((value) => value.text) : [text]
      return [name.toUpperCase(), values] as const
    })
  return { kind: 'discover', requestType, restrictions: new Map(restrictions), properties }
}

function executeCall(method: XmlElement, properties: Properties): ExecuteCall {
  const [command, ...commands] = named(method, 'Command').flatMap(({ children }) => children)
  if (commands.length > 0) throw malformed('A message has one command.')
  const parameters = named(method, 'Parameters')
    .flatMap((each) => named(each, 'Parameter'))
    .map((each) => {
      const name = named(each, 'Name')[0]?.text.trim() ?? ''
      return [name.replace(/^@/, ''), named(each, 'Value')[0]?.text ?? ''] as const
    })
  return {
    kind: 'execute',
    command: commandOf(command),
    properties,
    parameters: new Map(parameters),
  }
}

function commandOf(command: XmlElement | undefined): Command {
  if (command === undefined) return { kind: 'statement', text: '' }
  switch (command.name) {
    case 'Statement':
      return { kind: 'statement', text: command.text }
    case 'Cancel':
      return { kind: 'cancel', of: cancelTarget(command) }
    default:
      return { kind: 'other', name: command.name }
  }
}

function cancelTarget({ children }: XmlElement): CancelTarget {
  const textOf = (wanted: string) => {
    const text = children.find(({ name }) => name.toLowerCase() === wanted)?.text.trim()
    return text === '' ? undefined : text
  }
  const numberOf = (wanted: string) => {
    const text = textOf(wanted)
    if (text !== undefined && !/^\d{1,15}$/.test(text)) throw malformed('A number is expected in Cancel.')
    return text === undefined ? undefined : Number(text)
  }
  return {
    sessionId: textOf('sessionid'),
    spid: numberOf('spid'),
    connectionId: numberOf('connectionid'),
  }
}
