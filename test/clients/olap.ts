/** Runs scripts/olap/Olap.java, a client of olap4j: over XMLA, or with Mondrian inside it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { XmlaClientOptions } from '../support/xmla.ts'
import { packageFolder } from './packages.ts'
import { openClient, runClient } from './processes.ts'

export interface OlapMember {
  readonly name: string
  readonly caption: string
  readonly level: string
  readonly depth: number
}

/** What olap4j read of a cellset; values in the order of ordinals, null for none. */
export interface OlapCellset {
  readonly axes: readonly (readonly (readonly OlapMember[])[])[]
  readonly values: readonly (number | string | null)[]
  readonly formatted: readonly string[]
}

export interface OlapRowset {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
}

/** The client refused, or was refused; its causes, the outermost first. */
export class OlapError extends Error {
  constructor(readonly causes: readonly string[]) {
    super(causes.join('\n'))
  }
}

export interface OlapClient extends AsyncDisposable {
  /** Opens a connection in place of the last, with a user's name and password. */
  connect(url: string, user?: string, password?: string): Promise<void>
  /** Runs a command of the script. @throws OlapError */
  ask(command: string, ...given: readonly string[]): Promise<unknown>
  /** Runs a statement in MDX. @throws OlapError */
  mdx(text: string): Promise<OlapCellset>
  /** @param given the cube, and a hierarchy */
  rowset(name: string, ...given: readonly string[]): Promise<OlapRowset>
}

export interface OlapOptions {
  /** Beside those of olap4j and Mondrian. */
  readonly jars?: readonly string[]
  /** Of the Java machine; Mondrian's are among them. */
  readonly properties?: Readonly<Record<string, string>>
}

export async function startOlap(
  name: string,
  { jars = [], properties = {} }: OlapOptions = {},
): Promise<OlapClient> {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'covenant-olap-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const libraries = [join(packageFolder('debian:olap'), 'usr/share/java/*'), ...jars].join(':')
  const sources = ['FactoryJdbc4Plus', 'Olap'].map((file) =>
    join(import.meta.dir, `scripts/olap/${file}.java`),
  )
  // The machine's own Java, because the pinned one cannot compile.
  const compiled = await runClient(`${name}-compile`, ['javac', '-cp', libraries, '-d', folder, ...sources], {
    seconds: 120,
  })
  if (compiled.exitCode !== 0) throw new Error(compiled.output.slice(-2_000))
  const client = stack.use(
    openClient(
      name,
      [
        ...['java', '-Xmx2g', '-XX:+UseSerialGC', '-cp', `${folder}:${libraries}`],
        ...Object.entries(properties).map(([property, value]) => `-D${property}=${value}`),
        'Olap',
      ],
      { seconds: 1_200 },
    ),
  )
  const ask = async (command: string, ...given: readonly string[]): Promise<unknown> => {
    client.write(`${[command, ...given.map((text) => Buffer.from(text).toString('base64'))].join(' ')}\n`)
    const line = await client.nextLine()
    if (line === undefined) throw new Error(`the client ended:\n${client.tail()}`)
    const answer = JSON.parse(line) as unknown
    const error = typeof answer === 'object' && answer !== null && Reflect.get(answer, 'error')
    if (Array.isArray(error)) throw new OlapError(error as string[])
    return answer
  }
  return {
    ask,
    connect: async (url, user = '', password = '') => {
      await ask('connect', url, user, password)
    },
    mdx: async (text) => (await ask('mdx', text)) as OlapCellset,
    rowset: async (rowset, ...given) => (await ask('rowset', rowset, ...given)) as OlapRowset,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** The address by which olap4j connects over XMLA. */
export const xmlaUrl = ({ port, catalog }: XmlaClientOptions): string =>
  `jdbc:xmla:Server=http://127.0.0.1:${port}/xmla/${catalog};Catalog=${catalog}`
