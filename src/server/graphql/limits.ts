/** The bounds of a document: those that graphql-armor finds in its text, and what we count with its variables. */

import { blockFieldSuggestionsPlugin } from '@escape.tech/graphql-armor-block-field-suggestions'
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth'
import { maxTokensPlugin } from '@escape.tech/graphql-armor-max-tokens'
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { graphqlBounds } from './bounds.ts'
import { assertMeasure, measure, refusal } from './measure.ts'

interface Run {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  readonly variableValues?: unknown
}

/** The plugins, in the order in which they look at a document. */
export function boundPlugins(): readonly Plugin[] {
  const { depthMax, aliasesMax, tokensMax } = graphqlBounds
  return [
    maxTokensPlugin({ n: tokensMax, ...refusedAs('TOKENS_LIMIT') }),
    maxDepthPlugin({ n: depthMax, ...refusedAs('DEPTH_LIMIT') }),
    maxAliasesPlugin({ n: aliasesMax, ...refusedAs('ALIASES_LIMIT') }),
    blockFieldSuggestionsPlugin(),
    {
      onExecute: ({ args }) => assertRun(args as Run),
      onSubscribe: ({ args }) => assertRun(args as Run),
    },
  ] as readonly Plugin[]
}

/** What a plugin finds beyond a bound is no error of syntax, as its message says, and has a code. */
function refusedAs(code: string) {
  const refuse = (_: unknown, { message }: Error): never => {
    throw refusal(code, message.replace(/^Syntax Error: /, ''))
  }
  return { onReject: [refuse] }
}

/** @throws GraphQLError beyond a bound */
function assertRun({ schema, document, operationName, variableValues }: Run): void {
  const operation = getOperationAST(document, operationName)
  if (operation == null) return
  const fragments = new Map(
    document.definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
      .map((one) => [one.name.value, one]),
  )
  const given = (variableValues ?? {}) as Record<string, unknown>
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], given)
  // Variables that are not valid are refused by the execution, which begins next.
  if (coerced !== undefined) assertMeasure(measure({ schema, operation, fragments, variables: coerced }))
}
