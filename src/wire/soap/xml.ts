/**
 * Reads XML from clients into a small tree, and writes text and names safely. Document types are refused before the
 * parser sees a byte; depth, elements and well-formedness are checked by a scan of our own.
 */

import { XMLParser } from 'fast-xml-parser'

export interface XmlElement {
  /** Without its prefix. */
  readonly name: string
  /** Names without prefixes. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
  /** The text directly inside, in order, entities replaced. */
  readonly text: string
}

export interface XmlBounds {
  readonly depthMax: number
  readonly elementsMax: number
}

/** Text that is no XML document, or one that is refused. */
export class XmlViolation extends Error {}

/** The document's root. @throws XmlViolation */
export function readXml(text: string, bounds: XmlBounds): XmlElement {
  scan(text, bounds)
  let nodes: unknown
  try {
    nodes = parser.parse(text)
  } catch (cause) {
    throw new XmlViolation('The XML cannot be read.', { cause })
  }
  const [root, ...others] = elementsIn(nodes)
  if (root === undefined || others.length > 0) throw new XmlViolation('The XML needs one root element.')
  return root
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  htmlEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: '#cdata',
})

/**
 * Refuses document types and anything that is not balanced, and counts elements.
 * @throws XmlViolation
 */
function scan(text: string, { depthMax, elementsMax }: XmlBounds): void {
  const open: string[] = []
  let elements = 0
  let roots = 0
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0
  for (;;) {
    const begin = text.indexOf('<', at)
    if (open.length === 0 && text.slice(at, begin < 0 ? undefined : begin).trim() !== '')
      throw new XmlViolation('There is text outside of the root element.')
    if (begin < 0) break
    if (text.startsWith('<!--', begin)) at = after(text, '-->', begin + 4)
    else if (text.startsWith('<![CDATA[', begin)) {
      if (open.length === 0) throw new XmlViolation('There is text outside of the root element.')
      at = after(text, ']]>', begin + 9)
    } else if (text.startsWith('<!', begin)) throw new XmlViolation('Document types are refused.')
    else if (text.startsWith('<?', begin)) at = after(text, '?>', begin + 2)
    else {
      const tag = tagAt(text, begin)
      at = tag.end
      if (tag.kind === 'close') {
        if (open.pop() !== tag.name) throw new XmlViolation('An element is not closed where it must be.')
        continue
      }
      elements++
      if (open.length === 0) roots++
      if (elements > elementsMax) throw new XmlViolation('The XML has too many elements.')
      if (open.length >= depthMax) throw new XmlViolation('The XML is nested too deeply.')
      if (tag.kind === 'open') open.push(tag.name)
    }
  }
  if (open.length > 0) throw new XmlViolation('An element is not closed.')
  if (roots !== 1) throw new XmlViolation('The XML needs one root element.')
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  if (found < 0) throw new XmlViolation('A part of the XML has no end.')
  return found + mark.length
}

const tagName = /[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?/y
const attribute =
  /[\t\r\n ]+([A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)[\t\r\n ]*=[\t\r\n ]*(?:"[^"<]*"|'[^'<]*')/y
const tagEnd = /[\t\r\n ]*(\/?)>/y

interface Tag {
  readonly kind: 'open' | 'empty' | 'close'
  readonly name: string
  /** Where it ends. */
  readonly end: number
}

function tagAt(text: string, begin: number): Tag {
  const isClose = text[begin + 1] === '/'
  tagName.lastIndex = begin + (isClose ? 2 : 1)
  const name = tagName.exec(text)?.[0]
  if (name === undefined) throw new XmlViolation('A tag cannot be read.')
  let end = tagName.lastIndex
  const names = new Set<string>()
  for (;;) {
    attribute.lastIndex = end
    const found = attribute.exec(text)?.[1]
    if (found === undefined) break
    // Prefixes are removed later, so two attributes must differ without them.
    const local = found.startsWith('xmlns') ? found : (found.split(':').at(-1) ?? found)
    if (isClose || names.has(local)) throw new XmlViolation('A tag cannot be read.')
    names.add(local)
    end = attribute.lastIndex
  }
  tagEnd.lastIndex = end
  const slash = tagEnd.exec(text)?.[1]
  if (slash === undefined || (isClose && slash !== '')) throw new XmlViolation('A tag cannot be read.')
  return { kind: isClose ? 'close' : slash === '/' ? 'empty' : 'open', name, end: tagEnd.lastIndex }
}

function elementsIn(nodes: unknown): readonly XmlElement[] {
  if (!Array.isArray(nodes)) return []
  return nodes.flatMap((node: Readonly<Record<string, unknown>>): XmlElement[] => {
    const name = Object.keys(node).find((key) => key !== ':@')
    if (name === undefined || name.startsWith('#')) return []
    const children: unknown = node[name]
    const attributes = Object.entries((node[':@'] ?? {}) as Readonly<Record<string, unknown>>)
    return [
      {
        name,
        attributes: new Map(attributes.map(([key, value]) => [key, replaceEntities(String(value))])),
        children: elementsIn(children),
        text: textIn(children),
      },
    ]
  })
}

function textIn(nodes: unknown): string {
  if (!Array.isArray(nodes)) return ''
  return nodes
    .map((node: Readonly<Record<string, unknown>>) => {
      if ('#text' in node) return replaceEntities(String(node['#text']))
      const cdata = node['#cdata']
      return Array.isArray(cdata) ? String(cdata[0]?.['#text'] ?? '') : ''
    })
    .join('')
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** The five entities of XML and numbers of characters; there are no others without a document type. */
function replaceEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&([^;&]{0,12})(;?)/g, (_, name: string, end: string) => {
    const known = entities[name]
    if (end === ';' && known !== undefined) return known
    const digits = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name)
    const code = digits?.[1] ? Number.parseInt(digits[1], 16) : Number(digits?.[2] ?? Number.NaN)
    if (end !== ';' || !isCharacter(code)) throw new XmlViolation('An entity is unknown.')
    return String.fromCodePoint(code)
  })
}

/** Whether XML 1.0 allows the character of a code point. */
function isCharacter(code: number): boolean {
  return (
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff)
  )
}

// What XML 1.0 cannot hold at all, lone halves of pairs included.
const impossible = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const special = /[&<>"\r]/g
const replacements: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
}

/** Text for an element or an attribute in double quotes. What XML cannot hold becomes U+FFFD. */
export function escapeXml(text: string): string {
  return text.replace(impossible, '\ufffd').replace(special, (found) => replacements[found] ?? '')
}

/** A name for an element from any text: what a name cannot hold becomes `_x0020_`, as in SQL Server. */
export function encodeXmlName(text: string): string {
  const unit = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return text
    .replace(impossible, '\ufffd')
    .replace(/_(?=x[0-9A-Fa-f]{4}_)|[^\w.-]|^[\d.-]/g, (character) => `_x${unit(character)}_`)
}
