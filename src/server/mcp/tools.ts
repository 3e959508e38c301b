/** The tools in their order, which never changes: clients cache the list. */

import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { Tool } from './tool.ts'
import { listMyAccess, requestAccessTool } from './tools/access.ts'
import { checkQuery } from './tools/check-query.ts'
import { describeColumns } from './tools/describe-columns.ts'
import { explainContract } from './tools/explain-contract.ts'
import { findDatasets } from './tools/find-datasets.ts'
import { graphQuery } from './tools/graph-query.ts'
import { lineage, lineagePath } from './tools/lineage.ts'
import { listMetrics, queryMetric } from './tools/metrics.ts'
import { proposeContractChange } from './tools/propose-contract-change.ts'
import { query } from './tools/query.ts'
import { whoMaySee } from './tools/who-may-see.ts'
import { whyDenied } from './tools/why-denied.ts'

export const tools: readonly Tool[] = [
  findDatasets,
  explainContract,
  describeColumns,
  listMetrics,
  queryMetric,
  query,
  checkQuery,
  lineage,
  lineagePath,
  graphQuery,
  whyDenied,
  proposeContractChange,
  whoMaySee,
  requestAccessTool,
  listMyAccess,
]

const byName = new Map(tools.map((tool) => [tool.name, tool]))

/** The tool of a name; undefined where there is none. */
export function toolNamed(name: unknown): Tool | undefined {
  return typeof name === 'string' ? byName.get(name) : undefined
}

/** Levels of members that the schema of an answer names: a second costs a thousand tokens. */
const namedLevels = 1

/** Bounds that few arguments come near to; a call is checked against the declaration. */
const unlisted: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'minItems', 'maxItems'])

/** The list as clients receive it. */
export const listedTools: readonly ListedTool[] = tools.map(
  ({ name, description, input, output, writes = false }) => ({
    name,
    description,
    inputSchema: inputSchema(input),
    outputSchema: outputSchema(output),
    annotations: {
      readOnlyHint: !writes,
      ...(writes ? { destructiveHint: false } : { idempotentHint: true }),
      openWorldHint: false,
    },
  }),
)

type ObjectSchema = ListedTool['inputSchema']

/** A schema as JSON, without what the type library keeps beside it. */
function plainSchema(schema: object): ObjectSchema {
  return JSON.parse(JSON.stringify(schema)) as ObjectSchema
}

/** The schema of arguments, without what costs each client its tokens and tells a model little. */
function inputSchema(schema: object): ObjectSchema {
  const listed = (key: string, value: unknown) =>
    unlisted.has(key) && typeof value === 'number' ? undefined : value
  return JSON.parse(JSON.stringify(schema, listed)) as ObjectSchema
}

/**
 * The schema of an answer, which names members and types only, and those of the first levels, because the list of tools
 * costs each client its tokens. What a member must be is left to the declaration.
 */
function outputSchema(schema: object): ObjectSchema {
  return namesOf(plainSchema(schema) as Schema, namedLevels) as ObjectSchema
}

interface Schema {
  readonly type?: unknown
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

function namesOf({ type, const: only, properties, items }: Schema, levels: number): object {
  if (only !== undefined) return { const: only }
  if (type === 'object' && properties !== undefined && levels > 0) {
    const members = Object.entries(properties).map(([name, member]) => [name, namesOf(member, levels - 1)])
    return { type, properties: Object.fromEntries(members) as object }
  }
  return type === 'array' && items !== undefined && levels > 0
    ? { type, items: namesOf(items, levels) }
    : { ...(type !== undefined && { type }) }
}
