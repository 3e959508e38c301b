/** Reads texts and addresses of a catalog credential's `config_json`, and notes each problem. None quotes a value. */

import { Fault } from '../base/fault.ts'
import { parseEndpoint } from './address.ts'

interface SettingsReader {
  /** Found so far, one sentence each. Readers of single settings add theirs. */
  readonly problems: string[]
  /** The text of a setting; undefined where it is absent, empty, or no text without control characters. */
  text(name: string): string | undefined
  /** The address that a text holds, named `what` in a problem; undefined where there is none. */
  address(text: string | undefined, what: string): URL | undefined
}

/** A reader without problems yet. */
export function settingsReader(config: Readonly<Record<string, unknown>>): SettingsReader {
  const problems: string[] = []
  return {
    problems,
    text(name) {
      const value = config[name]
      if (value === undefined || value === null || value === '') return undefined
      if (typeof value === 'string' && !hasControlCharacter(value)) return value
      problems.push(`The ${name} must be a string without control characters.`)
      return undefined
    },
    address(text, what) {
      if (text === undefined) return undefined
      try {
        return parseEndpoint(text, what)
      } catch (thrown) {
        if (!(thrown instanceof Fault)) throw thrown
        problems.push(thrown.publicMessage)
        return undefined
      }
    },
  }
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 || unit === 0x7f) return true
  }
  return false
}
