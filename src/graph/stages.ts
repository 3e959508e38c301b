/**
 * Builds the statement of a graph query: one common table expression a step, each of which holds the rows so far. Every
 * step ends at a number of rows; a query that would need more is refused.
 */

import type { Binding } from './scope.ts'

/** Bounds of one query (docs/reference/graph.md 2.4). */
export const rowBounds = {
  /** Rows of one step. */
  rowsMax: 10_000,
  /** Rows before a MATCH that shares no node with what is before it. */
  crossRowsMax: 100,
  /** Values of one `collect`. */
  collectedMax: 100,
  /** Nodes of the patterns. */
  nodesMax: 6,
  /** Bytes of the rows of an answer. */
  bytesMax: 256 * 1_024,
  /** Milliseconds of the statement. */
  statementMs: 2_000,
} as const

/** The rows so far, and what their columns mean. */
export interface Rows {
  /** The step that holds them; undefined before the first: one row without columns. */
  readonly from: string | undefined
  readonly names: ReadonlyMap<string, Binding>
}

/** The steps of a statement. */
export class Stages {
  readonly #steps: string[] = []
  readonly #exceeded: string[] = []
  #count = 0

  /** The steps as common table expressions, in order. */
  get steps(): readonly string[] {
    return this.#steps
  }

  /** Conditions in SQL that are true where a bound was exceeded. */
  get exceeded(): readonly string[] {
    return this.#exceeded
  }

  /** A name that no other step or column has. */
  fresh(prefix: string): string {
    this.#count++
    return `${prefix}${this.#count}`
  }

  /** Adds a step. @returns its name */
  add(select: string, rowsMax: number = rowBounds.rowsMax): string {
    const name = this.fresh('s')
    this.#steps.push(`${name} as materialized (${select} limit ${rowsMax + 1})`)
    this.exceeds(`(select count(*) from ${name}) > ${rowsMax}`)
    return name
  }

  /** Adds a condition under which the query is refused. */
  exceeds(condition: string): void {
    this.#exceeded.push(condition)
  }
}
