/**
 * Counts what an operation may cost, with its variables, before it runs: objects that it may give, and hops of lineage
 * along a path. The text alone does not tell, because a page's size may be a variable and fragments repeat.
 */

import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { limits } from '../../limits.ts'
import { graphqlBounds } from './bounds.ts'

export interface Measure {
  /** Objects that the answer may hold, at most. */
  readonly cost: number
  /** The most hops of lineage on one path of fields. */
  readonly hops: number
}

interface MeasuredOperation {
  readonly schema: GraphQLSchema
  readonly operation: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: Readonly<Record<string, unknown>>
}

const nothing: Measure = { cost: 0, hops: 0 }

/** Measures an operation that is valid by the schema. */
export function measure({ schema, operation, fragments, variables }: MeasuredOperation): Measure {
  const known = new Map<string, Measure>()

  function selections({ selections: all }: SelectionSetNode, type: GraphQLCompositeType): Measure {
    let total = nothing
    for (const selection of all) {
      if (selection.kind === Kind.FIELD) total = sum(total, field(selection, type))
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        total = sum(
          total,
          selections(selection.selectionSet, typeNamed(selection.typeCondition?.name.value, type)),
        )
      else total = sum(total, fragment(selection.name.value, type))
    }
    return total
  }

  /** A fragment is measured once, however often it is spread. */
  function fragment(name: string, type: GraphQLCompositeType): Measure {
    const found = known.get(name)
    if (found !== undefined) return found
    const definition = fragments.get(name)
    if (definition === undefined) return nothing
    const measured = selections(definition.selectionSet, typeNamed(definition.typeCondition.name.value, type))
    known.set(name, measured)
    return measured
  }

  function field(node: FieldNode, parent: GraphQLCompositeType): Measure {
    const definition =
      isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined
    if (definition === undefined || node.selectionSet === undefined) return nothing
    const type = getNamedType(definition.type)
    if (!isCompositeType(type)) return nothing
    const { first, hops } = getArgumentValues(definition, node, variables) as Record<string, unknown>
    const below = selections(node.selectionSet, type)
    const times = typeof first === 'number' ? Math.max(first, 1) : 1
    return {
      cost: Math.min(1 + times * below.cost, Number.MAX_SAFE_INTEGER),
      hops: below.hops + (typeof hops === 'number' ? hops : 0),
    }
  }

  function typeNamed(name: string | undefined, otherwise: GraphQLCompositeType): GraphQLCompositeType {
    const type = name === undefined ? undefined : schema.getType(name)
    return isCompositeType(type) ? type : otherwise
  }

  const root = schema.getRootType(operation.operation)
  return root ? selections(operation.selectionSet, root) : nothing
}

const sum = (a: Measure, b: Measure): Measure => ({ cost: a.cost + b.cost, hops: Math.max(a.hops, b.hops) })

/** @throws GraphQLError that names the bound and the actual value */
export function assertMeasure({ cost, hops }: Measure): void {
  if (cost > graphqlBounds.costMax)
    throw refusal(
      'COST_LIMIT',
      `The operation may give ${cost} objects; at most ${graphqlBounds.costMax} are allowed. Ask for smaller pages.`,
    )
  if (hops > limits.graphHopsMax)
    throw refusal(
      'HOPS_LIMIT',
      `The lineage of the operation adds up to ${hops} hops on one path; at most ${limits.graphHopsMax} are allowed.`,
    )
}

/** The error of a document beyond a bound. */
export function refusal(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } })
}
