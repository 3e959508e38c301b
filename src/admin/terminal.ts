/** What a verb has of the process that runs it: the environment, standard input, and where text goes. */

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: () => Promise<string>
  /** One text on standard output. */
  readonly print: (text: string) => void
  /**
   * Aborts when the user presses Ctrl-C. From the call on, the key no longer ends the process, until it is pressed
   * again. Absent where nobody can press it.
   */
  readonly interrupted?: () => AbortSignal
  /** One text on standard error. */
  readonly complain: (text: string) => void
}
