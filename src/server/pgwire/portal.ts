/** A statement that is ready to run, and a portal: one run of it, in as many steps as the client asks for. */

import { unlessAborted } from '../../base/unless-aborted.ts'
import type { Format } from '../../wire/postgres/protocol.ts'
import type { Outbox } from './outbox.ts'
import type { RowSource } from './row-source.ts'

/** What Bind gives. Values are as they arrived. */
export interface Binding {
  readonly parameterFormats: readonly Format[]
  readonly parameters: readonly (Uint8Array | null)[]
  readonly resultFormats: readonly Format[]
}

export const emptyBinding: Binding = { parameterFormats: [], parameters: [], resultFormats: [] }

/** What a portal keeps of its parameters. */
export function parameterBytes({ parameters }: Binding): number {
  return parameters.reduce((bytes, value) => bytes + (value?.length ?? 0), 0)
}

/** `suspended`: there may be more rows, and the client asks again. */
export type Outcome = { readonly tag: string } | 'suspended' | 'empty'

export interface Portal {
  readonly hasRows: boolean
  /** RowDescription or NoData. */
  describe(outbox: Outbox): void
  /** @param rowsMax 0: all rows */
  execute(rowsMax: number, signal: AbortSignal): Promise<Outcome>
  /** The rows, where it has some and a cursor can read them. */
  readonly rows?: RowSource
  /** What it keeps until it is closed, of its parameters and of an answer that is all there; 0 where absent. */
  readonly heldBytes?: number
  close(): void
}

export interface Plan {
  readonly parameterOids: readonly number[]
  /** What it keeps while it is prepared, in bytes; absent: the tree of its statement. */
  readonly heldBytes?: number
  /** Whether it runs a prepared statement that it names. */
  readonly isExecute?: true
  /** RowDescription or NoData, in the formats of a Describe of the statement. */
  describe(outbox: Outbox): void
  open(binding: Binding): Promise<Portal>
}

/** The portal; where the signal comes first, it is closed once it is there. @throws the signal's reason */
export async function openUnlessAborted(opening: Promise<Portal>, signal: AbortSignal): Promise<Portal> {
  opening.then((portal) => signal.aborted && portal.close()).catch(() => {})
  return await unlessAborted(opening, signal)
}
