/** Declares a plan, which is a statement ready to run, and a portal, which is one run of it in any number of steps. */

import { unlessAborted } from '../../base/unless-aborted.ts'
import type { Format } from '../../wire/postgres/protocol.ts'
import type { Outbox } from './outbox.ts'
import type { RowSource } from './row-source.ts'

/** The values and formats of a Bind. Values are unchanged. */
export interface PortalBinding {
  readonly parameterFormats: readonly Format[]
  readonly parameters: readonly (Uint8Array | null)[]
  readonly resultFormats: readonly Format[]
}

export const emptyBinding: PortalBinding = { parameterFormats: [], parameters: [], resultFormats: [] }

/** Bytes of the parameters that a portal holds. */
export function parameterBytes({ parameters }: PortalBinding): number {
  return parameters.reduce((bytes, value) => bytes + (value?.length ?? 0), 0)
}

/** `suspended`: there may be more rows, for which the client sends another Execute. */
export type PortalOutcome = { readonly tag: string } | 'suspended' | 'empty'

export interface Portal {
  readonly hasRows: boolean
  /** RowDescription or NoData. */
  describe(outbox: Outbox): void
  /** @param rowsMax 0: all rows */
  execute(rowsMax: number, signal: AbortSignal): Promise<PortalOutcome>
  /** The rows that a cursor can read. */
  readonly rows?: RowSource
  /** Bytes held until the portal is closed, by its parameters and a complete result; 0 where absent. */
  readonly heldBytes?: number
  close(): void
}

export interface Plan {
  readonly parameterOids: readonly number[]
  /** Types of its columns; undefined without a result. */
  readonly resultOids?: readonly number[] | undefined
  /** Bytes held while the statement is prepared; absent: its tree is held. */
  readonly heldBytes?: number
  /** Whether it runs a prepared statement that it names. */
  readonly isExecute?: true
  /** RowDescription or NoData, in the formats of a Describe of the statement. */
  describe(outbox: Outbox): void
  open(binding: PortalBinding): Promise<Portal>
}

/** Waits for the portal. One that opens after the signal is closed at once. @throws the signal's reason */
export async function openUnlessAborted(opening: Promise<Portal>, signal: AbortSignal): Promise<Portal> {
  opening.then((portal) => signal.aborted && portal.close()).catch(() => {})
  return await unlessAborted(opening, signal)
}
