/** Asks GraphQL, MCP, the SQL catalogs and XMLA for all that they have, with what each question gives. */

import {
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { Gives, GivesOfTables } from '../../../src/core/gives.ts'
import { fieldGives } from '../../../src/server/graphql/gives.ts'
import { makeSchema } from '../../../src/server/graphql/schema.ts'
import { tools } from '../../../src/server/mcp/tools.ts'
import { catalogRelations } from '../../../src/server/pgwire/catalog/allowed-names.ts'
import { rowsetNames } from '../../../src/server/xmla/discover/rowsets.ts'
import { catalogGives } from '../../support/catalog-gives.ts'
import { graphql } from '../../support/graphql.ts'
import { readAs } from '../../support/lake.ts'
import { connectMcp } from '../../support/mcp.ts'
import { ask as askXmla, discoverBody } from '../../support/xmla.ts'
import type { Caller } from './canaries.ts'
import { type Pool, type Schema, valueFor } from './requests.ts'
import type { World } from './world.ts'

/** One question, what was sent, what came back, and what the answer may give. */
export interface Answered {
  readonly name: string
  readonly sent: string
  readonly text: string
  readonly gives: readonly GivesOfTables[]
  /** Whether it holds numbers of other things, such as object ids, and no rows. */
  readonly isNumbered?: true
}

const schema = makeSchema()
const givesOfField = new Map(fieldGives(schema))

/** Arguments from the pool; undefined where one that is needed is not there. */
function argumentsOf(type: GraphQLObjectType, field: string, pool: Pool): string | undefined {
  const given: string[] = []
  for (const { name, type: wanted } of type.getFields()[field]?.args ?? []) {
    if (!isNonNullType(wanted) && name !== 'namespace' && name !== 'table') continue
    const value = name === 'first' ? 50 : name === 'by' ? 'table' : pool[name]
    if (value === undefined) return undefined
    const isEnum = name === 'by'
    given.push(
      `${name}: ${isEnum ? value : JSON.stringify(isListType(wanted) && !Array.isArray(value) ? [value] : value)}`,
    )
  }
  return given.length === 0 ? '' : `(${given.join(', ')})`
}

interface Selected {
  readonly text: string
  readonly fields: readonly string[]
}

/** All leaves of a type, and of the objects in it as deep as `depth`. */
function select(type: GraphQLObjectType, depth: number, pool: Pool): Selected {
  const parts: string[] = []
  const fields: string[] = []
  for (const [name, field] of Object.entries(type.getFields())) {
    const of = getNamedType(field.type)
    const given = argumentsOf(type, name, pool)
    if (given === undefined) continue
    if (isLeafType(of)) parts.push(name)
    else if (isObjectType(of) && depth > 0) {
      const isStructure = /(?:Connection|Edge)$/.test(of.name) && of.name !== 'LineageEdge'
      const inner = select(of, isStructure ? depth : depth - 1, pool)
      if (inner.text === '') continue
      parts.push(`${name}${given} { ${inner.text} }`)
      fields.push(...inner.fields)
    } else continue
    fields.push(`${type.name}.${name}`)
  }
  return { text: parts.join(' '), fields }
}

/** A document for each field of Query. */
export function documents(pool: Pool): readonly (Selected & { readonly name: string })[] {
  const query = schema.getQueryType()
  if (query == null) return []
  return Object.entries(query.getFields()).flatMap(([name, field]) => {
    const of = getNamedType(field.type)
    const given = argumentsOf(query, name, pool)
    if (given === undefined || !isObjectType(of)) return []
    return [1, 0].map((depth) => {
      const inner = select(of, depth, pool)
      return {
        name,
        text: `{ ${name}${given} { ${inner.text} } }`,
        fields: [`Query.${name}`, ...inner.fields],
      }
    })
  })
}

export async function askGraphql(
  { lake }: World,
  { secret }: Caller,
  pool: Pool,
): Promise<readonly Answered[]> {
  const answers: Answered[] = []
  for (const { name, text: sent, fields } of documents(pool)) {
    const { text } = await graphql(lake, secret, sent)
    const gives = fields.flatMap((field) => givesOfField.get(field) ?? [])
    answers.push({ name: `graphql ${name}`, sent, text, gives })
  }
  return answers
}

export async function askTools(
  { lake }: World,
  { secret }: Caller,
  pool: Pool,
): Promise<readonly Answered[]> {
  await using client = await connectMcp('2026', lake.app.url, secret)
  const answers: Answered[] = []
  for (const { name, input, gives, writes } of tools) {
    if (writes) continue
    for (const isWhole of [false, true]) {
      const args = valueFor('', input as Schema, pool, isWhole) as Record<string, unknown>
      const { text } = await client.call(name, args).catch((thrown: unknown) => ({ text: String(thrown) }))
      answers.push({ name: `mcp ${name}`, sent: JSON.stringify(args), text, gives: [gives] })
    }
  }
  return answers
}

export async function askCatalogs({ lake }: World, caller: Caller): Promise<readonly Answered[]> {
  const env = { ...lake.env, PGUSER: caller.name, PGPASSWORD: caller.secret }
  const schemas = `select table_name from information_schema.tables where table_schema = 'information_schema'`
  const views = await readAs(env, schemas).catch(() => [])
  const names = [
    ...[...catalogRelations].map((name) => ['pg_catalog', name] as const),
    ...views.flatMap((row) => (row.startsWith('D ') ? [['information_schema', row.slice(2)] as const] : [])),
  ]
  const answers: Answered[] = []
  for (const [of, name] of names) {
    const rows = await readAs(env, `select * from ${of}."${name}"`).catch((thrown: unknown) => [
      String(thrown),
    ])
    const gives = catalogGives[of][name] ?? { nothing: 'service' as const }
    answers.push({ name: `${of}.${name}`, sent: '', text: rows.join('\n'), gives: [gives], isNumbered: true })
  }
  return answers
}

const ofCubes: GivesOfTables = {
  visible: ['existence', 'description', 'columns', 'values'] satisfies Gives[] as never,
}

export async function askRowsets({ lake }: World, caller: Caller): Promise<readonly Answered[]> {
  const options = {
    port: lake.app.xmlaPort ?? 0,
    catalog: lake.catalog,
    user: caller.name,
    secret: caller.secret,
  }
  const answers: Answered[] = []
  for (const name of rowsetNames) {
    const answer = await askXmla(options, discoverBody(name)).catch((thrown: unknown) => String(thrown))
    answers.push({ name: `xmla ${name}`, sent: '', text: JSON.stringify(answer), gives: [ofCubes] })
  }
  return answers
}
