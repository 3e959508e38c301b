/**
 * Declares tools: name, scope, schemas and the verb that they call. A tool adds no rights and no data of its own: REST
 * calls the same verbs.
 */

import type { Static, TObject } from '@sinclair/typebox'
import type { Clock } from '../../base/clock.ts'
import type { FaultKind } from '../../base/fault.ts'
import type { TableStates } from '../../catalog/table-states.ts'
import type { CheckPolicies, CheckStatement } from '../../contract/change.ts'
import type { DocumentCodec } from '../../contract/document/document-codec.ts'
import type { GivesOfTables } from '../../core/gives.ts'
import type { McpScope } from '../../core/mcp-scope.ts'
import type { Caller } from '../../core/operation.ts'
import type { Licensed } from '../../license/licensed.ts'
import type { SqlState } from '../../query/compile/base/sql-error.ts'
import type { QueryContext, QueryService } from '../../query/query-service.ts'
import type { Store } from '../../store/store.ts'
import type { ReadSession } from '../read-session.ts'

export interface ToolParts {
  readonly store: Store
  readonly clock: Clock
  readonly states: TableStates
  readonly queries: QueryService
  readonly checkPolicies: CheckPolicies
  readonly checkStatement?: CheckStatement
  readonly codec: DocumentCodec
  readonly licensed: Pick<Licensed, 'require'>
}

export interface ToolContext {
  readonly parts: ToolParts
  readonly caller: Caller
  /** The caller's session, which runs of statements check again. */
  readonly reader: ReadSession
  /** What usage records name: the tool, and what the client calls itself. */
  readonly agent: NonNullable<QueryContext['agent']>
  /** Aborts when the client disconnects or cancels, and when the time of a call is up. */
  readonly signal: AbortSignal
}

/** A tool as the server serves it. */
export interface Tool {
  /** snake_case, unique. */
  readonly name: string
  /** What it is for, in words for a model. It never holds text of a tenant. */
  readonly description: string
  readonly scope: McpScope
  /** What its answers tell of tables. */
  readonly gives: GivesOfTables
  readonly input: TObject
  readonly output: TObject
  /** What to do about a failure of this tool, by kind or SQLSTATE, where that is not what other tools say. */
  readonly hints?: Partial<Record<FaultKind | SqlState, string>>
  /** Whether it only reads; default: true. */
  readonly writes?: true
  run(context: ToolContext, input: Readonly<Record<string, unknown>>): Promise<object>
}

/** Declares a tool, and gives `run` the types of its schemas. */
export function tool<I extends TObject, O extends TObject>(
  declared: Omit<Tool, 'input' | 'output' | 'run'> & {
    readonly input: I
    readonly output: O
    run(context: ToolContext, input: Static<I>): Promise<Static<O>>
  },
): Tool {
  return declared as unknown as Tool
}
