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
  /**
   * Asks on the terminal, and gives the line that is typed; undefined where input ends. What is hidden is not shown.
   * Absent where nobody sits at a terminal.
   */
  readonly ask?: (question: string, how?: { readonly isHidden: true }) => Promise<string | undefined>
  /** One text on standard error. */
  readonly complain: (text: string) => void
}
