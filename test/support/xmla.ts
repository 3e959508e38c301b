/**
 * A client of XMLA on raw sockets, and the reader that takes its answers as MSOLAP does: by position, against the inline
 * schema. It throws where such a client would crash: at a child that is not declared, one that is missing or in another
 * place, or a value that its type does not hold.
 */

import { gunzipSync } from 'node:zlib'
import { readXml, type XmlElement } from '../../src/wire/soap/xml.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface XmlaClientOptions {
  readonly port: number
  readonly catalog: string
  readonly user: string
  readonly secret: string
  readonly headers?: Readonly<Record<string, string>>
  readonly tls?: { readonly ca: string }
}

const testBounds = { depthMax: 100, elementsMax: 1_000_000 }

/** A connection that is kept for several requests. */
export class XmlaConnection implements Disposable {
  readonly #chunks: Buffer[] = []
  #socket: { write(bytes: Uint8Array): number; end(): void; terminate(): void } | undefined
  #arrived: (() => void) | undefined
  isClosed = false

  static async open(port: number, tls?: { readonly ca: string }): Promise<XmlaConnection> {
    const connection = new XmlaConnection()
    const secured = Promise.withResolvers<void>()
    connection.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      ...(tls && { tls: { ca: tls.ca, rejectUnauthorized: true, serverName: 'localhost' } }),
      socket: {
        data: (_, chunk) => {
          connection.#chunks.push(Buffer.from(chunk))
          connection.#arrived?.()
        },
        close: () => {
          connection.isClosed = true
          connection.#arrived?.()
        },
        handshake: (_, isAuthorized, error) => {
          if (isAuthorized) secured.resolve()
          else secured.reject(error ?? new Error('the certificate is refused'))
        },
        error: () => {},
      },
    })
    if (tls !== undefined) await secured.promise
    return connection
  }

  write(bytes: string | Uint8Array): void {
    this.#socket?.write(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
  }

  terminate(): void {
    this.#socket?.terminate()
  }

  [Symbol.dispose](): void {
    this.#socket?.end()
  }

  /** The text that has arrived, once `isWhole` says that it is enough, or the connection is closed. */
  async read(isWhole: (bytes: Buffer) => number | undefined): Promise<Buffer> {
    for (;;) {
      const bytes = Buffer.concat(this.#chunks)
      const end = isWhole(bytes)
      if (end !== undefined) {
        this.#chunks.splice(0, this.#chunks.length, bytes.subarray(end))
        return bytes.subarray(0, end)
      }
      if (this.isClosed) {
        this.#chunks.length = 0
        return bytes
      }
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
  }

  /** One answer; the interim one of 100 Continue counts. */
  async answer(): Promise<HttpAnswer> {
    const head = await this.read((bytes) => {
      const end = bytes.indexOf('\r\n\r\n')
      return end < 0 ? undefined : end + 4
    })
    const [line = '', ...fields] = head.toString('latin1').trimEnd().split('\r\n')
    const headers = new Map(
      fields.map((field) => {
        const colon = field.indexOf(':')
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const
      }),
    )
    const status = Number(line.split(' ')[1])
    const body = status === 100 ? Buffer.alloc(0) : await this.#body(headers)
    const plain = headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body
    return { status, headers, body: plain.toString() }
  }

  async #body(headers: ReadonlyMap<string, string>): Promise<Buffer> {
    const length = headers.get('content-length')
    if (length !== undefined)
      return await this.read((bytes) => (bytes.length >= Number(length) ? Number(length) : undefined))
    if (headers.get('transfer-encoding') !== 'chunked') return await this.read(() => undefined)
    const parts: Buffer[] = []
    for (;;) {
      const line = await this.read((bytes) => {
        const end = bytes.indexOf('\r\n')
        return end < 0 ? undefined : end + 2
      })
      if (line.length === 0) throw new Error('the answer broke off')
      const size = Number.parseInt(line.toString(), 16)
      const part = await this.read((bytes) => (bytes.length >= size + 2 ? size + 2 : undefined))
      if (size === 0) return Buffer.concat(parts)
      parts.push(part.subarray(0, size))
    }
  }
}

/** The head and body of a POST. */
export function postText(options: Omit<XmlaClientOptions, 'port'>, body: string | Uint8Array): Uint8Array {
  const { catalog, user, secret, headers } = options
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const all = {
    Host: 'localhost',
    Authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`,
    'Content-Type': 'text/xml',
    'Content-Length': String(bytes.length),
    ...headers,
  }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST /xmla/${catalog} HTTP/1.1\r\n${head.join('')}\r\n`), bytes])
}

/** A SOAP envelope. */
export function envelope(body: string, header = ''): string {
  return `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Header>${header}</Header><Body>${body}</Body></Envelope>`
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const elements = (values: Readonly<Record<string, string | readonly string[]>>) =>
  Object.entries(values)
    .map(([name, value]) => {
      const inner = Array.isArray(value)
        ? value.map((each) => `<Value>${escaped(each)}</Value>`).join('')
        : escaped(String(value))
      return `<${name}>${inner}</${name}>`
    })
    .join('')

/** A Discover. */
export function discoverBody(
  type: string,
  restrictions: Readonly<Record<string, string | readonly string[]>> = {},
  properties: Readonly<Record<string, string>> = {},
): string {
  return `<Discover xmlns="urn:schemas-microsoft-com:xml-analysis"><RequestType>${type}</RequestType><Restrictions><RestrictionList>${elements(restrictions)}</RestrictionList></Restrictions><Properties><PropertyList>${elements(properties)}</PropertyList></Properties></Discover>`
}

/** An Execute of a statement. */
export function executeBody(
  statement: string,
  parameters: Readonly<Record<string, string>> = {},
  properties: Readonly<Record<string, string>> = {},
): string {
  const given = Object.entries(parameters).map(
    ([name, value]) => `<Parameter><Name>${name}</Name><Value>${escaped(value)}</Value></Parameter>`,
  )
  return `<Execute xmlns="urn:schemas-microsoft-com:xml-analysis"><Command><Statement>${escaped(statement)}</Statement></Command><Properties><PropertyList>${elements(properties)}</PropertyList></Properties><Parameters>${given.join('')}</Parameters></Execute>`
}

/** A request on a connection of its own. */
export async function ask(options: XmlaClientOptions, body: string, header = ''): Promise<XmlaAnswer> {
  using connection = await XmlaConnection.open(options.port, options.tls)
  connection.write(postText(options, envelope(body, header)))
  return readAnswer(await connection.answer())
}

export type CellValue = string | readonly Readonly<Record<string, string>>[]

export type XmlaAnswer =
  | { readonly kind: 'fault'; readonly message: string; readonly sessionId: string | undefined }
  | { readonly kind: 'empty'; readonly sessionId: string | undefined }
  | {
      readonly kind: 'rowset'
      readonly sessionId: string | undefined
      readonly columns: readonly string[]
      readonly rows: readonly Readonly<Record<string, CellValue>>[]
    }
  | { readonly kind: 'dataset'; readonly sessionId: string | undefined; readonly dataset: ReadDataset }

/** The rows of a rowset. */
export async function rowsOf(
  asked: Promise<XmlaAnswer>,
): Promise<readonly Readonly<Record<string, CellValue>>[]> {
  const answer = await asked
  if (answer.kind !== 'rowset')
    throw new Error(`it is ${answer.kind === 'fault' ? answer.message : answer.kind}`)
  return answer.rows
}

function only({ children, name }: XmlElement, wanted: string): XmlElement {
  const found = children.filter((child) => child.name === wanted)
  const [first] = found
  if (first === undefined || found.length > 1) throw new Error(`${name} has ${found.length} ${wanted}`)
  return first
}

/** Reads an answer as MSOLAP does. @throws where MSOLAP would stop or crash */
export function readAnswer({ status, headers, body }: HttpAnswer): XmlaAnswer {
  if (status !== 200) throw new Error(`status ${status}`)
  for (const name of ['x-transport-caps-negotiation-flags', 'x-ms-xmlacaps-negotiation-flags'])
    if (headers.get(name) !== '0,0,0,0,0') throw new Error(`${name} is ${headers.get(name)}`)
  if (!/^text\/xml/.test(headers.get('content-type') ?? '')) throw new Error('it is no text')
  const root = readXml(body, testBounds)
  const header = root.children.find(({ name }) => name === 'Header')
  const sessionId = header && only(header, 'Session').attributes.get('SessionId')
  const [content, ...more] = only(root, 'Body').children
  if (content === undefined || more.length > 0) throw new Error('the body has not one element')
  if (content.name === 'Fault') {
    const error = only(only(content, 'detail'), 'Error')
    if (!/^\d+$/.test(error.attributes.get('ErrorCode') ?? '')) throw new Error('the error has no number')
    return { kind: 'fault', message: only(content, 'faultstring').text, sessionId }
  }
  const result = only(only(content, 'return'), 'root')
  // The parser drops namespaces.
  const namespace = /<root xmlns="([^"]*)"/.exec(body)?.[1] ?? ''
  if (namespace.endsWith(':empty')) return { kind: 'empty', sessionId }
  if (namespace.endsWith(':mddataset')) return { kind: 'dataset', sessionId, dataset: readDataset(result) }
  return { kind: 'rowset', sessionId, ...readRowset(result) }
}

interface DeclaredColumn {
  readonly name: string
  readonly field: string
  readonly type: string
  readonly optional: boolean
  readonly nested: readonly DeclaredColumn[] | undefined
}

function readRowset(root: XmlElement) {
  const [schema, ...rows] = root.children
  if (schema?.name !== 'schema') throw new Error('the schema does not come first')
  const row = schema.children.find(
    ({ name, attributes }) => name === 'complexType' && attributes.get('name') === 'row',
  )
  if (row === undefined) throw new Error('the schema declares no row')
  const columns = only(row, 'sequence').children.map(declared)
  if (new Set(columns.map(({ name }) => name)).size < columns.length)
    throw new Error('a column is declared twice')
  return {
    columns: columns.map(({ field }) => field),
    rows: rows.map((each) => {
      if (each.name !== 'row') throw new Error(`there is ${each.name} among the rows`)
      return readValues(columns, each)
    }),
  }
}

function declared({ attributes, children, name: element }: XmlElement): DeclaredColumn {
  const name = attributes.get('name')
  const field = attributes.get('field')
  if (element !== 'element' || name === undefined || field === undefined)
    throw new Error('a column is not declared')
  const [complex] = children
  const nested = complex && only(complex, 'sequence').children.map(declared)
  const type = attributes.get('type') ?? ''
  if (nested === undefined && type === '') throw new Error(`${field} has no type`)
  return { name, field, type, optional: attributes.get('minOccurs') === '0', nested }
}

function readValues(
  columns: readonly DeclaredColumn[],
  row: XmlElement,
): Readonly<Record<string, CellValue>> {
  const values: Record<string, CellValue> = {}
  let at = 0
  for (const column of columns) {
    const found: XmlElement[] = []
    while (row.children[at]?.name === column.name && (column.nested !== undefined || found.length === 0))
      found.push(row.children[at++] as XmlElement)
    if (found.length === 0) {
      if (!column.optional) throw new Error(`${column.field} is missing`)
      continue
    }
    if (column.nested !== undefined) {
      values[column.field] = found.map((each) => readValues(column.nested ?? [], each)) as CellValue
      continue
    }
    const [value] = found
    if (value !== undefined && column.type === 'xmlDocument') {
      const [document, ...others] = value.children
      if (document === undefined || others.length > 0) throw new Error(`${column.field} has not one document`)
      values[column.field] = markup(document)
      continue
    }
    if (value === undefined || value.children.length > 0 || value.attributes.has('nil'))
      throw new Error(`${column.field} has no plain value`)
    assertType(column, value.text)
    values[column.field] = value.text
  }
  if (at < row.children.length)
    throw new Error(`${row.children[at]?.name} is not declared, or in another place`)
  return values
}

/** An element as text, without namespaces. */
const markup = ({ name, text, children }: XmlElement): string =>
  `<${name}>${children.length > 0 ? children.map(markup).join('') : escaped(text)}</${name}>`

const forms: Readonly<Record<string, RegExp>> = {
  'xsd:string': /^/,
  'xsd:boolean': /^(true|false)$/,
  'xsd:short': /^-?\d{1,5}$/,
  'xsd:int': /^-?\d{1,10}$/,
  'xsd:unsignedShort': /^\d{1,5}$/,
  'xsd:unsignedInt': /^\d{1,10}$/,
  'xsd:unsignedLong': /^\d{1,20}$/,
  'xsd:long': /^-?\d{1,19}$/,
  'xsd:double': /^(-?\d+(\.\d+)?([eE][+-]?\d+)?|NaN|-?INF)$/,
  'xsd:decimal': /^-?\d+(\.\d+)?$/,
  'xsd:dateTime': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
}

function assertType({ field, type }: DeclaredColumn, text: string): void {
  if (!(forms[type]?.test(text) ?? false)) throw new Error(`${field}: ${text} is no ${type}`)
}

export interface ReadDataset {
  /** Unique names by axis, tuple and place; the slicer last. */
  readonly axes: readonly (readonly (readonly string[])[])[]
  /** Formatted values by ordinal; without one, the value. */
  readonly cells: ReadonlyMap<number, string>
}

const standardElements = ['UName', 'Caption', 'LName', 'LNum', 'DisplayInfo']

/** Reads a dataset. @throws where a member or cell is not what was declared */
function readDataset(root: XmlElement): ReadDataset {
  const names = root.children.map(({ name }) => name)
  if (names.join(' ') !== 'schema OlapInfo Axes CellData') throw new Error(`the parts are ${names.join(' ')}`)
  const info = only(root, 'OlapInfo')
  only(only(info, 'CubeInfo'), 'Cube')
  const infos = only(info, 'AxesInfo').children
  const axes = only(root, 'Axes').children
  const wanted = axes.map((_, index) => (index === axes.length - 1 ? 'SlicerAxis' : `Axis${index}`))
  for (const found of [infos, axes])
    if (found.map(({ attributes }) => attributes.get('name')).join() !== wanted.join())
      throw new Error('the axes are not those that are declared, with the slicer last')
  const read = axes.map((axis, index) => readAxis(infos[index] as XmlElement, axis))
  const onAxes = infos.flatMap(({ children }) => children.map(({ attributes }) => attributes.get('name')))
  if (new Set(onAxes).size < onAxes.length) throw new Error('a hierarchy is on two axes')
  if (read.at(-1)?.length !== 1) throw new Error('the slicer has not one tuple')
  const slicer = infos.at(-1)?.children ?? []
  if (slicer.some(({ children }) => children.length !== standardElements.length))
    throw new Error('the slicer has further properties')
  const count = read.slice(0, -1).reduce((product, tuples) => product * tuples.length, 1)
  return { axes: read, cells: readCells(only(info, 'CellInfo'), only(root, 'CellData'), count) }
}

function readAxis(info: XmlElement, axis: XmlElement): readonly (readonly string[])[] {
  const hierarchies = info.children.map(({ attributes, children }) => {
    const name = attributes.get('name') ?? ''
    const properties = children.map((child) => child.attributes.get('name') ?? '')
    if (new Set(properties).size < properties.length) throw new Error(`${name} declares a property twice`)
    if (!properties.every((each) => each.startsWith(`${name}.[`)))
      throw new Error(`${name} declares another's property`)
    const elements = children.map((child) => child.name)
    if (elements.slice(0, 5).join() !== standardElements.join() || new Set(elements).size < elements.length)
      throw new Error(`${name} declares ${elements.join()}`)
    return { name, elements: elements.join() }
  })
  return only(axis, 'Tuples').children.map(({ children: members }) => {
    if (members.length !== hierarchies.length) throw new Error('a tuple has another form than declared')
    return members.map((member, index) => {
      const hierarchy = hierarchies[index]
      if (member.attributes.get('Hierarchy') !== hierarchy?.name)
        throw new Error('a member is of another hierarchy than declared')
      if (member.children.map(({ name }) => name).join() !== hierarchy?.elements)
        throw new Error('a member has other properties than declared')
      if (member.children.some(({ attributes }) => attributes.has('nil')))
        throw new Error('a property is nil')
      return only(member, 'UName').text
    })
  })
}

function readCells(info: XmlElement, data: XmlElement, count: number): ReadonlyMap<number, string> {
  const declaredNames = info.children.map(({ name }) => name).filter((name) => name !== 'CellOrdinal')
  const cells = new Map<number, string>()
  let last = -1
  for (const { attributes, children } of data.children) {
    const ordinal = Number(attributes.get('CellOrdinal'))
    if (!(ordinal > last && ordinal < count)) throw new Error(`the ordinal ${ordinal} is not in order`)
    last = ordinal
    let at = 0
    for (const child of children) {
      while (at < declaredNames.length && declaredNames[at] !== child.name) at++
      if (at === declaredNames.length) throw new Error(`${child.name} is not declared, or in another place`)
      if (child.attributes.has('nil')) throw new Error('a value is nil')
      const type = child.attributes.get('type')
      if (
        child.name === 'Value' &&
        !['xsd:double', 'xsd:int', 'xsd:string', 'xsd:long', 'xsd:boolean'].includes(type ?? '')
      )
        throw new Error(`a value has the type ${type}`)
    }
    const shown = children.find(({ name }) => name === 'FmtValue') ?? children[0]
    cells.set(ordinal, shown?.text ?? '')
  }
  return cells
}
