/** Runs one tool call: its input checked, its time and the calls of a principal bounded, its failures made results. */

import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import { Fault, toFault } from '../../base/fault.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import type { Caller } from '../../core/operation.ts'
import { ownNames } from '../../http/own-names.ts'
import { type ReadableSchema, readValue } from '../../http/read-value.ts'
import { foldsAllNames } from '../../store/catalog-credential/name-case.ts'
import { mcpBounds } from './bounds.ts'
import type { McpCaller } from './caller.ts'
import { faultResult, successOf } from './result.ts'
import type { Tool, ToolParts } from './tool.ts'

/** The calls that each principal has under way. */
export class CallSlots {
  readonly #calls = new Map<string, number>()

  /** Runs work in a slot of the caller. @throws Fault `overloaded` where the caller has none left */
  async run<T>(
    { tenant, principal }: Pick<Caller, 'tenant' | 'principal'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const key = `${tenant} ${principal.sub}`
    const calls = this.#calls.get(key) ?? 0
    if (calls >= mcpBounds.callsMax)
      throw new Fault('overloaded', `${mcpBounds.callsMax} calls of yours are under way.`)
    this.#calls.set(key, calls + 1)
    try {
      return await work()
    } finally {
      const left = (this.#calls.get(key) ?? 1) - 1
      if (left === 0) this.#calls.delete(key)
      else this.#calls.set(key, left)
    }
  }
}

export interface CallParts {
  readonly parts: ToolParts
  readonly slots: CallSlots
  readonly log: Logger
}

/** Who calls a tool. */
export interface ToolCaller extends McpCaller {
  /** What the client calls itself. */
  readonly client?: string
}

/** Runs a tool for a caller who has its scope. Never throws: a failure is a result. */
export async function callTool(
  { parts, slots, log }: CallParts,
  tool: Tool,
  { caller, reader, client }: ToolCaller,
  given: Readonly<Record<string, unknown>>,
  cancelled: AbortSignal,
): Promise<CallToolResult> {
  const late = AbortSignal.timeout(mcpBounds.callMs)
  const signal = AbortSignal.any([cancelled, late])
  const agent = { tool: tool.name, ...(client !== undefined && { client }) }
  try {
    const sent = readArguments(tool, given)
    const input = await ownNames(tool.input, sent, () => foldsAllNames(parts.store, caller.tenant))
    return await slots.run(caller, async () =>
      successOf(await tool.run({ parts, caller, reader, agent, signal }, input)),
    )
  } catch (thrown) {
    const fault = late.aborted
      ? new Fault('unavailable', `The call took longer than ${mcpBounds.callMs / 1_000} s.`)
      : toFault(thrown)
    const { kind, id: faultId, detail, cause: err } = fault
    log[kind === 'internal' ? 'error' : 'info'](
      { tool: tool.name, kind, faultId, detail, err },
      'a tool failed',
    )
    return faultResult(fault, tool.hints)
  }
}

/** @throws Fault `bad_request` that names the member and repeats no value */
function readArguments(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const value = parseJson(JSON.stringify(given))
  if (!isJsonObject(value)) throw new Fault('bad_request', 'The arguments must be an object.')
  return readValue(tool.input as ReadableSchema, value, 'arguments') as Readonly<Record<string, unknown>>
}
