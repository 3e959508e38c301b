/** Runs the operations of administration commands: in this process on the store, or over HTTP on a service. */

/** The members of an operation's input, as JSON has them; times may be Dates. */
export type Input = Readonly<Record<string, unknown>>

export interface Client {
  /**
   * Runs an operation.
   * @param body one that no schema describes; only over HTTP
   * @returns its output; undefined where it has none
   * @throws Fault as the operation does; `unavailable` where store or service cannot be reached
   */
  run(name: string, input: Input, body?: string): Promise<unknown>
  close(): Promise<void>
}
