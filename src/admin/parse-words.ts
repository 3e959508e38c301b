/** Reads the words after a verb by its flags. It knows no verb. */

import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { UsageError } from './exit-status.ts'

function parsed(words: readonly string[], options: ParseArgsOptionsConfig) {
  return parseArgs({ args: [...words], options, allowPositionals: true, strict: true, tokens: true })
}

/** Flags by name, and the other words in their order. @throws UsageError for a flag that is unknown or lacks its value */
export function parseWords(
  words: readonly string[],
  options: ParseArgsOptionsConfig,
): ReturnType<typeof parsed> {
  try {
    return parsed(words, options)
  } catch (error) {
    // Only the first sentence: the rest is Node's advice on positional arguments.
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(message.split(/\.? To specify a positional|\n/)[0] ?? message)
  }
}
